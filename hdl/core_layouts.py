# SPDX-License-Identifier: Apache-2.0
"""Shapes of what flows through a whole core, whichever unit it passes."""

from amaranth import *
from amaranth.lib import data

from ropeway.golden.core_parameters import CoreParameters

from .layouts import temperature_fields

__all__ = [
    "EPOCH_BITS",
    "beat_layout",
    "events_layout",
    "order_layout",
    "passages",
    "place_layout",
    "result_layout",
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


def events_layout() -> data.StructLayout:
    """What counters count of vectors, each for a clock.

    A position accepted, a beat in, a beat out, a result's last beat out; a beat that waits to be
    taken; a token that waits for data, and data that wait for a token.
    """
    names = ("positions", "beats_in", "beats_out", "tokens", "stalled", "no_data", "no_position")
    return data.StructLayout(dict.fromkeys(names, 1))
