# SPDX-License-Identifier: Apache-2.0
"""The shapes of what flows: beats, positions, tokens and a slot's geometry."""

from amaranth import *
from amaranth.lib import data
from amaranth.utils import bits_for

from ropeway.golden.parameters import RopeParameters

__all__ = [
    "HEAD_BITS",
    "KINDS",
    "MARKS",
    "REPEAT_BITS",
    "amplitude_layout",
    "beat_layout",
    "coefficient_layout",
    "context_layout",
    "geometry_layout",
    "head_layout",
    "job_layout",
    "load_layout",
    "pairs_layout",
    "pass_through_layout",
    "position_layout",
    "result_layout",
    "special_layout",
    "temperature_fields",
    "token_layout",
]

MARKS = ("start", "middle", "stop", "final")  # beats of a head where something changes
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
    """A row to be made: a position, and how many pairs its slot has."""
    return data.StructLayout({"position": position_layout(p), "pairs": pairs_layout(p)})


def pairs_layout(p: RopeParameters) -> data.StructLayout:
    """How many pairs: the number of the last one, and whether it is the first too.

    With temperatures also whether queries turn, whether other heads do, and groups of heads.
    """
    rows = {"queries": 1, "others": 1, "repeat": REPEAT_BITS} if p.temperature else {}
    return data.StructLayout({"final": range(p.max_pairs), "single": 1} | rows)


def load_layout(p: RopeParameters) -> data.StructLayout:
    """A word of a phase table's image on its way to a slot."""
    return data.StructLayout({"word": 32, "slot": range(p.slots), "last": 1})


def token_layout(p: RopeParameters) -> data.StructLayout:
    """An accepted token: its slot, whether any of it turns, and whether it has a row of its own."""
    fields = {"slot": range(p.slots), "rotates": 1, "new_row": 1}
    return data.StructLayout(fields | temperature_fields(p))


def _block_fields(p: RopeParameters) -> dict:
    """A head in beats: its last one, and its rotary block from ``start`` to before ``stop``.

    ``middle`` is the beat where the block's second half begins, ``half`` the whole beats before
    that; ``odd`` that the border stands within a beat.
    """
    beat = bits_for(p.max_head_beats)
    names = ("final", "start", "middle", "stop", "half")
    return dict.fromkeys(names, beat) | {"odd": 1}


def geometry_layout(p: RopeParameters) -> data.StructLayout:
    """A slot's head shape, and its pattern: ``repeat`` × [query, key, value heads].

    Of each kind: its heads in a group, whether there are any, just one, and whether they rotate.
    """
    counts = data.ArrayLayout(HEAD_BITS, KINDS)
    pattern = {"counts": counts, "present": KINDS, "single": KINDS, "rotated": KINDS}
    repeat = {"repeat": REPEAT_BITS}
    return data.StructLayout(_block_fields(p) | {"half_split": 1} | pattern | repeat)


def head_layout(p: RopeParameters) -> data.StructLayout:
    """One head: its shape, whether it ``turns`` and in ``split`` pairs, and its place in its token.

    ``first`` and ``second`` say which of the marked beats are the head's first or second, the
    block's only where it turns. ``fresh`` marks the first head to use a row of its token's own;
    ``last`` the token's last head. ``scaled`` is how its elements are multiplied that do not turn.
    """
    place = {"turns": 1, "splits": 1, "fresh": 1, "last": 1, "slot": range(p.slots)}
    if p.temperature:
        place["scaled"] = pass_through_layout(p)
    marks = dict.fromkeys(MARKS, 1)
    first = data.StructLayout(marks)
    return data.StructLayout(_block_fields(p) | {"first": first, "second": first} | place)


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

    Three multipliers take cos, cos + sin and |sin − cos| with its sign; four take cos and sin.
    """
    word = unsigned(p.coefficient_bits)
    common = {"quadrant": 2, "scale": 1, "cos": word}
    if p.multipliers == 3:
        return data.StructLayout(common | {"sum": word, "difference": word, "negative": 1})
    return data.StructLayout(common | {"sin": word})
