# SPDX-License-Identifier: Apache-2.0
"""A fixed-point word to a floating-point number, exactly."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.floats import FloatFormat

from .fixed import negated_if
from .float_layouts import number_layout
from .leading_zeros import GROUP, LeadingZeros
from .shifts import shift_clocks, shifted_up
from .streams import delayed

__all__ = ["FloatRow"]


class FloatRow(wiring.Component):
    """Brings a word's first one to the top, as far as the format has exponents for it.

    Latency: see ``latency``, a word every clock: its magnitude, leading zeros in three, the shift
    two bits of it a clock.

    Parameters
    ----------
    floats : the format whose bias the exponent has
    bits, fraction_bits : of the word

    Ports
    -----
    word : In, signed
    number : Out
        Of as many bits. A zero has the exponent 1, and so has what would need a smaller one; such a
        number's top bits are zeros.
    """

    word: Signal
    number: data.View

    interval = 1

    def __init__(self, floats: FloatFormat, bits: int, fraction_bits: int):
        self._top = floats.bias + bits - 1 - fraction_bits  # exponent of the word's top bit
        self._zeros = LeadingZeros(-(-bits // GROUP) * GROUP)
        number = number_layout(floats.exponent_bits, bits)
        super().__init__({"word": In(signed(bits)), "number": Out(number)})

    @property
    def _steps(self) -> int:
        """Clocks that the shift takes."""
        return shift_clocks(len(self._zeros.zeros))

    @property
    def latency(self) -> int:
        """Clocks from a word to its number."""
        return 1 + self._zeros.latency + 1 + self._steps

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.zeros = zeros = self._zeros
        bits = len(self.word)
        magnitude = Signal(bits, reset_less=True)
        m.d.sync += magnitude.eq(negated_if(self.word, self.word[-1], bits))
        m.d.comb += zeros.value.eq(Cat(C(0, len(zeros.value) - bits), magnitude))

        # The exponent ends at 1, and the shift with it.
        shift = Signal.like(zeros.zeros, reset_less=True)
        exponent = Signal.like(self.number.exponent, reset_less=True)
        least = zeros.zeros >= self._top - 1
        m.d.sync += [
            shift.eq(Mux(least, self._top - 1, zeros.zeros)),
            exponent.eq(Mux(least | delayed(m, zeros.none, 1), 1, self._top - zeros.zeros)),
        ]

        value = delayed(m, magnitude, zeros.latency + 1, name="magnitude")
        m.d.comb += [
            self.number.negative.eq(delayed(m, self.word[-1], self.latency, name="negative")),
            self.number.exponent.eq(delayed(m, exponent, self._steps, name="exponent")),
            self.number.significand.eq(shifted_up(m, value, shift)),
        ]
        return m
