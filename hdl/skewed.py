# SPDX-License-Identifier: Apache-2.0
"""Wide sums in pieces, each a clock behind the one below it: short carry chains."""

from amaranth import *

from .fixed import add_with_carry
from .streams import delayed

__all__ = ["PIECE", "pieces", "skewed_add", "straightened", "summed"]

PIECE = 26  # bits of a sum in one carry chain


def pieces(value: Value, width: int) -> list[Value]:
    """A signed value of ``width`` bits, cut from its lowest on; the last piece has the sign."""
    wide = (value | C(0, signed(width)))[:width]
    return [wide[i : i + PIECE] for i in range(0, width, PIECE)]


def summed(left: Value, right: Value, carry: Value) -> Value:
    """A piece of a sum, and the carry above it."""
    return add_with_carry(left, right, carry, max(len(left), len(right)) + 1).as_unsigned()


def skewed_add(
    m, left: list[Value], right: list[Value], carry: Value, name: str = "sum"
) -> list[Value]:
    """One clock: pieces of a sum from pieces in step with each other, the lowest with ``carry``."""
    total = []
    for number, (low, high) in enumerate(zip(left, right, strict=True)):
        register = Signal(len(low) + 1, reset_less=True, name=f"{name}_{number}")
        m.d.sync += register.eq(summed(low, high, carry))
        carry = register[-1]
        total.append(register[:-1])
    return total


def straightened(m, value: list[Value], name: str = "straightened") -> Value:
    """The signed value whose last piece is there; the others have waited for it."""
    last = len(value) - 1
    waited = [delayed(m, v, last - i, name=f"{name}_{i}") for i, v in enumerate(value)]
    return Cat(*waited).as_signed()
