# SPDX-License-Identifier: Apache-2.0
"""A product in logic, for devices without multipliers: a tree of additions."""

from amaranth import *

from .digits import digits_of, multiple

__all__ = ["soft_product"]


def soft_product(m, a: Value, b: Value) -> Signal:
    """``a`` · ``b``, two clocks later: a's digits and b are registered, and so is the product.

    Every digit is a row of one LUT a bit, and two rows, or sums of them, one carry chain. 16 × 16
    bits take about 330 logic cells.
    """
    width = len(a) + len(b)
    factor = Signal(b.shape(), reset_less=True, name="b_register")
    m.d.sync += factor.eq(b)
    row_bits = len(b) + (1 if b.shape().signed else 2)
    rows, one = [], C(0, 1)
    for number, code in enumerate(digits_of(a)):
        digit = Signal(2, reset_less=True, name=f"digit_{number}")
        m.d.sync += digit.eq(code)
        bits, carry = multiple(digit, factor, row_bits)
        # A complement's one goes below the next row, where that is empty.
        rows.append((max(0, 2 * number - 2), Cat(one, C(0, 1), bits) if number else bits))
        one = carry
    if a.shape().signed:
        rows.append((rows[-1][0] + 2, Cat(one, C(0, 1))))
    rows = [(place, row.as_signed()) for place, row in rows]
    while len(rows) > 1:
        pairs = zip(rows[::2], rows[1::2], strict=False)
        rows = [_sum(*pair) for pair in pairs] + rows[len(rows) & ~1 :]
    product = Signal(signed(width), reset_less=True)
    m.d.sync += product.eq(rows[0][1])
    return product


def _sum(lower: tuple[int, Value], upper: tuple[int, Value]) -> tuple[int, Value]:
    """Two rows at their places, as one: what is below the upper one passes."""
    (place, low), (above, high) = lower, upper
    low_bits = low[: above - place]
    return place, Cat(low_bits, (low >> above - place) + high).as_signed()
