# SPDX-License-Identifier: Apache-2.0
"""AXI4-Stream ports, signal by signal as Arm IHI 0051 names them, and how TDATA is packed."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["WORD", "axi_stream_signature", "packed", "unpacked"]

WORD = 32  # bits that a field of a position or a segment takes


def axi_stream_signature(
    data_bits: int, *, last: bool = True, keep: bool = False, user_bits: int = 0
) -> wiring.Signature:
    """A stream as its transmitter sees it; ``data_bits`` are whole bytes."""
    members = {"tvalid": Out(1), "tready": In(1), "tdata": Out(data_bits)}
    if keep:
        members["tkeep"] = Out(data_bits // 8)
    if last:
        members["tlast"] = Out(1)
    if user_bits:
        members["tuser"] = Out(user_bits)
    return wiring.Signature(members)


def packed(elements, element_bytes: int) -> Value:
    """Elements in TDATA, the first in the lowest bytes, each sign-extended to whole bytes."""
    width = 8 * element_bytes
    return Cat(extended(elements[number], width) for number in range(len(elements)))


def extended(element: Value, width: int) -> Value:
    """A signed element in ``width`` bits."""
    return Cat(element, element.as_unsigned()[-1].replicate(width - len(element)))


def unpacked(tdata: Value, elements, element_bytes: int) -> list:
    """Assignments of TDATA's elements; the bits of a container above an element do not count."""
    width = 8 * element_bytes
    return [
        elements[number].eq(tdata[number * width : number * width + len(elements[number])])
        for number in range(len(elements))
    ]
