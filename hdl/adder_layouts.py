# SPDX-License-Identifier: Apache-2.0
"""Shapes of what flows through adders: embeddings, rows and sums."""

from amaranth import *
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ropeway.golden.adder import EXPONENT_BITS, SCALE_FRACTION_BITS
from ropeway.golden.adder_parameters import AdderParameters

__all__ = [
    "embedding_layout",
    "lane_ports",
    "place_layout",
    "request_layout",
    "row_layout",
    "scale_layout",
    "sum_layout",
]

ROW_NUMBER_BITS = 18  # rows of a learned table; one factor of a multiplier


def embedding_layout(p: AdderParameters) -> data.StructLayout:
    """A beat of a token's embedding, element 0 lowest, and whether it is the last."""
    elements = data.ArrayLayout(signed(p.data_bits), p.beat_elements)
    return data.StructLayout({"data": elements, "last": 1})


def row_layout(p: AdderParameters, bits: int) -> data.StructLayout:
    """A beat of a row in words of ``bits``; a row with ``error`` leaves its token as it is.

    ``error`` is the same on all beats of a row.
    """
    words = data.ArrayLayout(signed(bits), p.beat_elements)
    return data.StructLayout({"data": words, "last": 1, "error": 1})


def sum_layout(p: AdderParameters) -> data.StructLayout:
    """A beat of the sum; ``error`` is on every beat of a token whose row has it.

    Of a malformed packet's token it is on the last.
    """
    elements = data.ArrayLayout(signed(p.data_bits), p.beat_elements)
    return data.StructLayout({"data": elements, "last": 1, "error": 1})


def place_layout(p: AdderParameters) -> data.StructLayout:
    """A token's position."""
    return data.StructLayout({"position": signed(p.position_bits)})


def request_layout(p: AdderParameters) -> data.StructLayout:
    """The row of a learned table that a token takes, and whether there is one."""
    return data.StructLayout(
        {"row": ROW_NUMBER_BITS, "good": 1, "position": signed(p.position_bits)}
    )


def scale_layout() -> data.StructLayout:
    """What embeddings are multiplied by: code · 2^(exponent − 17)."""
    return data.StructLayout({"code": SCALE_FRACTION_BITS + 1, "exponent": EXPONENT_BITS})


def lane_ports(p: AdderParameters, row_bits: int) -> dict:
    """The ports of a lane that adds a row's word to an element."""
    element = signed(p.data_bits)
    ports = {
        "element": In(element),
        "word": In(signed(row_bits)),
        "passes": In(1),
        "o": Out(element),
        "saturated": Out(1),
    }
    return ports | ({"scale": In(scale_layout())} if p.scaled else {})
