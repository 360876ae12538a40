# SPDX-License-Identifier: Apache-2.0
"""Shapes of what flows through a whole core, whichever unit it passes."""

from amaranth import *
from amaranth.lib import data

from ropeway.golden.core_parameters import BYPASS, CoreParameters

from .layouts import temperature_fields

__all__ = [
    "EPOCH_BITS",
    "beat_layout",
    "order_layout",
    "passages",
    "place_layout",
    "result_layout",
    "slot_number",
    "ticket_layout",
]

EPOCH_BITS = 8  # of the number of a slot's loads, which wraps


def passages(p: CoreParameters) -> tuple[str, ...]:
    """What vectors pass: the units that there are, and the bypass; numbered in this order."""
    return tuple(dict.fromkeys(p.slots))


def place_layout(p: CoreParameters) -> data.StructLayout:
    """A token's position on every axis, its slot, and how a RoPE engine is to use it."""
    rope = temperature_fields(p.rope) if p.rope else {}
    return data.StructLayout(
        {
            "position": data.ArrayLayout(signed(p.position_bits), p.axes),
            "slot": p.slot_bits,
            "conjugate": 1,
            "pure": 1,
            "bypass": 1,
        }
        | rope
    )


def slot_number(p: CoreParameters, number: Value) -> Value:
    """A slot's number from outside; where there is a bypass, all beyond the slots are one."""
    if len(p.slots) == 1:
        return C(0, p.slot_bits)
    if BYPASS not in p.slots:
        return number
    return Mux(number >= len(p.slots), len(p.slots), number)


def beat_layout(p: CoreParameters) -> data.StructLayout:
    """A beat of a token's packet; ``partial`` where some of its bytes are not there."""
    elements = data.ArrayLayout(signed(p.data_bits), p.beat_elements)
    return data.StructLayout({"data": elements, "last": 1, "partial": 1})


def order_layout(p: CoreParameters) -> data.StructLayout:
    """A token whose position was accepted: what it passes, its slot, and whether there is such."""
    return data.StructLayout(
        {"passage": range(len(passages(p))), "slot": p.slot_bits, "unknown": 1}
    )


def ticket_layout(p: CoreParameters) -> data.StructLayout:
    """A token on its way, and the epoch of its slot's load."""
    return data.StructLayout(
        {"passage": range(len(passages(p))), "slot": p.slot_bits, "epoch": EPOCH_BITS}
    )


def result_layout(p: CoreParameters) -> data.StructLayout:
    """A beat of a result, and whose it is; ``error`` at the latest on the last one of a bad token.

    ``slot`` and ``epoch`` stand on every beat.
    """
    elements = data.ArrayLayout(signed(p.output_bits), p.beat_elements)
    return data.StructLayout(
        {"data": elements, "last": 1, "error": 1, "slot": p.slot_bits, "epoch": EPOCH_BITS}
    )
