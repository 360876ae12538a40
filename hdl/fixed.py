# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on integers as the device's carry chains do it; golden/fixed.py is the twin."""

from amaranth import *

from ropeway.golden.fixed import limits

__all__ = [
    "add_or_subtract",
    "add_with_carry",
    "counted",
    "equal_pieces",
    "negated_if",
    "overflows",
    "saturated",
]


def negated_if(value: Value, negative: Value, width: int) -> Value:
    """``value`` or its negative, signed and at least ``width`` bits: one carry chain."""
    return (value ^ negative.replicate(width).as_signed()) + negative


def add_with_carry(value: Value, other: Value, carry: Value, width: int) -> Value:
    """``value`` + ``other`` + ``carry``, signed ``width`` bits: one carry chain, one bit longer."""
    left = Cat(C(1, 1), (value | C(0, signed(width)))[:width])
    right = Cat(carry, (other | C(0, signed(width)))[:width])
    return (left + right)[1 : width + 1].as_signed()


def add_or_subtract(value: Value, other: Value, subtract: Value, width: int) -> Value:
    """``value`` ± ``other``, signed ``width`` bits: one carry chain."""
    mask = subtract.replicate(width).as_signed()
    return add_with_carry(value, other ^ mask, subtract, width)


def counted(counter: Value, up: Value, down: Value) -> Value:
    """A counter after one more, one fewer, both or neither: one carry chain."""
    return add_with_carry(counter, down.replicate(len(counter)).as_signed(), up, len(counter))


def equal_pieces(value: Value, other: Value, bits: int) -> Value:
    """Whether two values of a width are equal, for each ``bits`` of them from the lowest on."""
    return Cat(value[at : at + bits] == other[at : at + bits] for at in range(0, len(value), bits))


def overflows(value: Value, bits: int) -> Value:
    """Whether a signed value leaves a word of ``bits``."""
    head = value[bits - 1 :]
    return head.any() & ~head.all()


def saturated(value: Value, bits: int) -> Value:
    """A signed value held within a word of ``bits``."""
    low, high = limits(bits)
    return Mux(overflows(value, bits), Mux(value[-1], low, high), value[:bits].as_signed())
