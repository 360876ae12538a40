# SPDX-License-Identifier: Apache-2.0
"""The exact sum of two floating-point numbers, as far as rounding can tell."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .fixed import add_or_subtract, negated_if
from .float_layouts import number_layout
from .shifts import shift_clocks, shifted_down
from .streams import delayed

__all__ = ["FloatSum"]

GUARD_BITS = 2  # below a significand, kept of the one that is shifted


class FloatSum(wiring.Component):
    """Adds numbers aligned to the larger exponent; what is shifted out leaves a sticky last bit.

    Right for any later rounding where a number whose top bits are zeros is never so far above the
    other that something of that one is shifted out. Latency: see ``latency``, a sum every clock:
    the exponents' difference, the exchange, the shift two bits of it a clock, sum, magnitude.

    Parameters
    ----------
    exponent_bits, significand_bits : of both numbers

    Ports
    -----
    one, other : In
    magnitude, negative : Out
        Unsigned: a carry, the significand, two more bits and the sticky one. A sum of zero has any
        sign.
    exponent : Out
        The larger one, of the bit below the carry.
    """

    one: data.View
    other: data.View
    magnitude: Signal
    negative: Signal
    exponent: Signal

    interval = 1

    def __init__(self, exponent_bits: int, significand_bits: int):
        self._number = number_layout(exponent_bits, significand_bits)
        self._bits = significand_bits + GUARD_BITS
        self._amount_bits = bits_for(self._bits)
        super().__init__(
            {
                "one": In(self._number),
                "other": In(self._number),
                "magnitude": Out(1 + self._bits + 1),
                "negative": Out(1),
                "exponent": Out(exponent_bits),
            }
        )

    @property
    def _steps(self) -> int:
        """Clocks that the shift takes."""
        return shift_clocks(self._amount_bits)

    @property
    def latency(self) -> int:
        """Clocks from numbers to their sum."""
        return 2 + self._steps + 2

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        high, low, amount = self._exchange(m)
        moved, sticky = shifted_down(m, Cat(C(0, GUARD_BITS), low.significand), amount)

        # Sum: the smaller is added to the larger, or taken from it.
        exponent = delayed(m, high.exponent, self._steps + 2, name="exponent")
        negative = delayed(m, high.negative, self._steps, name="high_negative")
        differ = delayed(m, high.negative ^ low.negative, self._steps, name="differ")
        large = delayed(m, high.significand, self._steps, name="large")
        width = len(self.magnitude) + 1
        total = Signal(signed(width), reset_less=True)
        augend = Cat(C(0, GUARD_BITS + 1), large)
        m.d.sync += total.eq(add_or_subtract(augend, Cat(sticky, moved), differ, width))

        # Magnitude.
        magnitude = Signal.like(self.magnitude, reset_less=True)
        sign = Signal(reset_less=True)
        m.d.sync += [
            magnitude.eq(negated_if(total, total[-1], width)),
            sign.eq(delayed(m, negative, 1, name="negative") ^ total[-1]),
        ]
        m.d.comb += [
            self.magnitude.eq(magnitude),
            self.negative.eq(sign),
            self.exponent.eq(exponent),
        ]
        return m

    def _exchange(self, m):
        """Two clocks: the number of the larger exponent, the other, and how far that is below."""
        width = len(self.exponent) + 1
        below, above = (Signal(signed(width), reset_less=True) for _ in range(2))
        m.d.sync += [
            below.eq(self.one.exponent - self.other.exponent),
            above.eq(self.other.exponent - self.one.exponent),
        ]
        one = delayed(m, self.one, 1, name="one")
        other = delayed(m, self.other, 1, name="other")
        high, low = (Signal(self._number, reset_less=True) for _ in range(2))
        amount = Signal(self._amount_bits, reset_less=True)
        distance = Mux(below[-1], above, below)
        far = distance[self._amount_bits : -1].any().replicate(self._amount_bits)
        m.d.sync += [
            Value.cast(high).eq(Mux(below[-1], Value.cast(other), Value.cast(one))),
            Value.cast(low).eq(Mux(below[-1], Value.cast(one), Value.cast(other))),
            amount.eq(distance[: self._amount_bits] | far),
        ]
        return high, low, amount
