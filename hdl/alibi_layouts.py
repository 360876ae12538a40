# SPDX-License-Identifier: Apache-2.0
"""Shapes of what flows through an ALiBi unit: segments, scores and their bias."""

from amaranth import *
from amaranth.lib import data

from ropeway.golden.alibi_parameters import SLOPE_BITS, AlibiParameters

__all__ = [
    "distance_shape",
    "mask_layout",
    "score_layout",
    "scored_beat_layout",
    "scored_layout",
    "segment_layout",
    "started_layout",
]


def distance_shape(p: AlibiParameters) -> Shape:
    """The difference of two positions, wherever a segment's counting takes it."""
    return signed(p.position_bits + 2)


def mask_layout(p: AlibiParameters) -> data.StructLayout:
    """Which keys become the most negative score.

    ``causal``: those after the query; with a ``window`` above 0 those that many tokens or more
    before it.
    """
    return data.StructLayout({"causal": 1, "window": p.position_bits})


def segment_layout(p: AlibiParameters) -> data.StructLayout:
    """A run of consecutive keys of one row of scores.

    ``head`` counts over the whole model; ``query`` is its position, ``key`` the first key's;
    ``final`` is the length in keys, less one. ``key_only`` adds slope · key in place of the
    table's form.
    """
    position = signed(p.position_bits)
    return data.StructLayout(
        {
            "head": range(p.max_heads),
            "query": position,
            "key": position,
            "final": p.position_bits,
            "key_only": 1,
            "mask": mask_layout(p),
        }
    )


def started_layout(p: AlibiParameters) -> data.StructLayout:
    """A segment with its slope and its first bias, which what ``continues`` a segment has already.

    ``distance`` is query − key of its first key; ``further`` counts the beats but the first, and
    ``lanes`` the last beat's keys, both less one.
    """
    return data.StructLayout(
        {
            "slope": SLOPE_BITS,
            "start": signed(p.bias_bits),
            "continues": 1,
            "distance": distance_shape(p),
            "further": signed(p.position_bits + 1),
            "lanes": range(p.lanes),
            "key_only": 1,
            "mask": mask_layout(p),
        }
    )


def score_layout(p: AlibiParameters) -> data.StructLayout:
    """A beat of scores, the first key's lowest, and whether it is its segment's last."""
    scores = data.ArrayLayout(signed(p.data_bits), p.lanes)
    return data.StructLayout({"data": scores, "last": 1})


def scored_beat_layout(p: AlibiParameters) -> data.StructLayout:
    """A beat of scores and all that its bias needs.

    ``begins``: the bias is ``start``, else the last beat's and ``lanes`` slopes more; ``distance``
    is query − key of its first key; lanes beyond ``lanes`` hold no key.
    """
    return data.StructLayout(
        {
            "data": data.ArrayLayout(signed(p.data_bits), p.lanes),
            "begins": 1,
            "start": signed(p.bias_bits),
            "slope": SLOPE_BITS,
            "distance": distance_shape(p),
            "folds": 1,  # later keys count as earlier ones
            "mask": mask_layout(p),
            "lanes": range(p.lanes),
        }
    )


def scored_layout(p: AlibiParameters) -> data.StructLayout:
    """A beat of biased scores; ``error`` is on the last one of a malformed packet's segment."""
    scores = data.ArrayLayout(signed(p.data_bits), p.lanes)
    return data.StructLayout({"data": scores, "last": 1, "error": 1})
