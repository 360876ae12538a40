# SPDX-License-Identifier: Apache-2.0
"""Numbers in digits of −1, 0, 1 and 2 with the base 4: a multiple of one is a LUT a bit."""

from amaranth import *

__all__ = ["digit_count", "digits_of", "multiple", "next_digit"]


def digit_count(shape: Shape) -> int:
    """Digits of a number: its bits and a copy of its sign, or a zero, so that none is left over."""
    return shape.width // 2 + 1


def next_digit(pair: Value, carry: Value) -> tuple[Value, Value]:
    """A digit's code from two bits and the carry from below, and the carry into what is above.

    3 is −1 and a carry, 4 is 0 and one; a code is the digit modulo 4.
    """
    low, high = pair[0], pair[1]
    return Cat(low ^ carry, high ^ (low & carry)), high & (low | carry)


def digits_of(value: Value) -> list[Value]:
    """The codes of a number's digits, the lowest first."""
    count = digit_count(value.shape())
    wide = (value | C(0, signed(2 * count)))[: 2 * count]
    codes, carry = [], C(0, 1)
    for number in range(count):
        code, carry = next_digit(wide[2 * number : 2 * number + 2], carry)
        codes.append(code)
    return codes


def multiple(code: Value, value: Value, width: int) -> tuple[Value, Value]:
    """A digit's multiple of ``value``, ``width`` bits; of −1 the complement, and a one to add."""
    once = (value | C(0, signed(width)))[:width]
    twice = Cat(C(0, 1), once)[:width]
    low = Mux(code[1], twice, 0)
    return Mux(code[0], Mux(code[1], ~once, once), low)[:width], code.all()
