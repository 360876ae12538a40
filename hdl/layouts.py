# SPDX-License-Identifier: Apache-2.0
"""The shapes of what flows: beats, positions, tokens and a slot's geometry."""

from amaranth import *
from amaranth.lib import data
from amaranth.utils import bits_for

from ropeway.golden.parameters import RopeParameters

__all__ = [
    "HEAD_BITS",
    "KINDS",
    "REPEAT_BITS",
    "amplitude_layout",
    "beat_layout",
    "coefficient_layout",
    "context_layout",
    "exit_layout",
    "head_layout",
    "job_layout",
    "load_layout",
    "pairs_layout",
    "pass_through_layout",
    "pattern_layout",
    "position_layout",
    "result_layout",
    "shape_layout",
    "special_layout",
    "step_layout",
    "temperature_fields",
    "token_layout",
]

KINDS = 3  # of heads: query, key, value
HEAD_BITS = 9  # a group holds at most 511 heads
REPEAT_BITS = 8


def beat_layout(p: RopeParameters) -> data.StructLayout:
    """A beat of a token's packet: 2·lanes elements in their order, and whether it is the last."""
    elements = data.ArrayLayout(signed(p.data_bits), p.beat_elements)
    return data.StructLayout({"data": elements, "last": 1})


def result_layout(p: RopeParameters) -> data.StructLayout:
    """A beat of the result; ``error`` is on the last one of a malformed packet's token."""
    elements = data.ArrayLayout(signed(p.output_bits), p.beat_elements)
    return data.StructLayout({"data": elements, "last": 1, "error": 1})


def position_layout(p: RopeParameters) -> data.StructLayout:
    """A token's position on every axis, the slot of its geometry, and how to use it.

    ``conjugate`` turns backwards, ``pure`` leaves the amplitude out, ``bypass`` turns nothing;
    ``temperature`` scales its queries.
    """
    return data.StructLayout(
        {
            "position": data.ArrayLayout(signed(p.position_bits), p.axes),
            "slot": range(p.slots),
            "conjugate": 1,
            "pure": 1,
            "bypass": 1,
        }
        | temperature_fields(p)
    )


def temperature_fields(p: RopeParameters) -> dict:
    """The factor on a token's queries, golden/temperature.py, where the engine has it."""
    return {"temperature": amplitude_layout()} if p.temperature else {}


def job_layout(p: RopeParameters) -> data.StructLayout:
    """A row to be made: a position, and how many pairs its slot has.

    A position to turn backwards by stands as its complement, its negative less one.
    """
    return data.StructLayout({"position": position_layout(p), "pairs": pairs_layout(p)})


def pairs_layout(p: RopeParameters) -> data.StructLayout:
    """How many pairs: the number of the last one, and whether it is the first, or the second.

    With temperatures also whether queries turn, whether other heads do, and groups of heads.
    """
    rows = {"queries": 1, "others": 1, "repeat": REPEAT_BITS} if p.temperature else {}
    return data.StructLayout({"final": range(p.max_pairs), "single": 1, "double": 1} | rows)


def load_layout(p: RopeParameters) -> data.StructLayout:
    """A word of a phase table's image on its way to a slot."""
    return data.StructLayout({"word": 32, "slot": range(p.slots), "last": 1})


def token_layout(p: RopeParameters) -> data.StructLayout:
    """An accepted token: its slot, whether any of it turns, and whether it has a row of its own."""
    fields = {"slot": range(p.slots), "rotates": 1, "new_row": 1}
    return data.StructLayout(fields | temperature_fields(p))


def shape_layout(p: RopeParameters) -> data.StructLayout:
    """A head in beats: its last one, and its rotary block from ``start`` to before ``stop``.

    ``middle`` is the beat where the block's second half begins, ``half`` the whole beats before
    that; ``odd`` that the border stands within a beat. ``half_split``: so are its pairs.
    ``first``: which of the beats that are told of is the head's first.
    """
    beat = bits_for(p.max_head_beats)
    names = ("final", "start", "middle", "stop", "half")
    first = data.StructLayout(dict.fromkeys(("start", "middle", "final"), 1))
    flags = {"odd": 1, "half_split": 1, "first": first}
    return data.StructLayout(dict.fromkeys(names, beat) | flags)


def pattern_layout() -> data.StructLayout:
    """A slot's heads: ``repeat`` × [query, key, value heads].

    Of each kind: its heads in a group, whether there are any, just one, and whether they rotate.
    """
    counts = data.ArrayLayout(HEAD_BITS, KINDS)
    kinds = {"counts": counts, "present": KINDS, "single": KINDS, "rotated": KINDS}
    return data.StructLayout(kinds | {"repeat": REPEAT_BITS})


def head_layout(p: RopeParameters) -> data.StructLayout:
    """One head: the slot of its shape, whether it ``turns``, and its place in its token.

    ``fresh`` marks the first head to use a row of its token's own; ``last`` the token's last head.
    ``scaled`` is how its elements are multiplied that do not turn.
    """
    fields = {"slot": range(p.slots), "turns": 1, "fresh": 1, "last": 1}
    return data.StructLayout(fields | _scaled_fields(p))


def step_layout(p: RopeParameters) -> data.StructLayout:
    """What a beat's pair operation has to know of it.

    ``turns`` within the rotary block of a rotated head, ``split`` where its pairs are half-split;
    ``opens``: it is the block's first. ``fresh``: the operation is the first to use its row's
    entry. ``even``: so is its number in the block. ``more``: where the block opens, the beats
    before its middle; in the rest of a split block, whether its operation needs a beat more.
    ``take``, with registers between: less the beats that its operation needs beyond the one
    before it.
    """
    flags = dict.fromkeys(("turns", "split", "opens", "fresh", "even"), 1)
    bits = bits_for(p.max_head_beats // 2)
    needs = {"more": bits} | ({"take": signed(bits + 1)} if p.relayed else {})
    return data.StructLayout(flags | needs | _scaled_fields(p))


def exit_layout(p: RopeParameters) -> data.StructLayout:
    """What it takes to read a beat's result.

    ``exchanged``: its first word is in bank 1. ``needs`` so many operations beyond the beat before.
    ``last`` of its token, of ``slot``; then ``bad`` where its framing was wrong.
    """
    flags = {"exchanged": 1, "needs": 2, "last": 1, "bad": 1}
    return data.StructLayout(flags | {"slot": range(p.slots)})


def _scaled_fields(p: RopeParameters) -> dict:
    """How a head is multiplied where it does not turn, where the engine has temperatures."""
    return {"scaled": pass_through_layout(p)} if p.temperature else {}


def pass_through_layout(p: RopeParameters) -> data.StructLayout:
    """Whether what does not turn is multiplied, and by which cosine."""
    return data.StructLayout({"tempered": 1, "cos": unsigned(p.coefficient_bits), "scale": 1})


def context_layout(p: RopeParameters) -> data.StructLayout:
    """The trained length in tokens, where it is ``stated`` and a position can be beyond it."""
    return data.StructLayout({"tokens": p.position_bits - 1, "stated": 1})


def amplitude_layout() -> data.StructLayout:
    """The quantised amplitude: 2^scale · (1 + code · 2^-18)."""
    return data.StructLayout({"code": signed(18), "scale": 1})


def special_layout() -> data.StructLayout:
    """An element that is no finite number: a ``nan``, or ``infinite`` with a sign."""
    return data.StructLayout({"nan": 1, "infinite": 1, "negative": 1})


def coefficient_layout(p: RopeParameters) -> data.StructLayout:
    """What turns one pair: a quadrant, and the first-quadrant angle's coefficients.

    Three multipliers take cos, cos + sin and |sin − cos|, its complement where sin − cos is not
    ``negative``; four take cos and sin.
    """
    word = unsigned(p.coefficient_bits)
    common = {"quadrant": 2, "scale": 1, "cos": word}
    if p.multipliers == 3:
        return data.StructLayout(common | {"sum": word, "difference": word, "negative": 1})
    return data.StructLayout(common | {"sin": word})
