# SPDX-License-Identifier: Apache-2.0
"""An exact sum to the nearest floating-point word."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.floats import FloatFormat

from .layouts import special_layout
from .leading_zeros import GROUP, LeadingZeros
from .shifts import shift_clocks, shifted_up
from .streams import delayed

__all__ = ["FloatRounder"]


class FloatRounder(wiring.Component):
    """Normalises a magnitude and rounds it once to nearest even, subnormals too.

    Latency: see ``latency``, a result every clock: leading zeros in three, the shift limited at the
    smallest exponent in two, done two bits of it a clock, rounded in two, packed. Source:
    golden/floats.py.

    Parameters
    ----------
    floats : the format
    bits : of the magnitude; its lowest may stand for a rest

    Ports
    -----
    magnitude, negative : In
    reach : In
        By how much the exponent of the magnitude's top bit is above the smallest one.
    passes : In
        The sum is a word as if its exponent were a number's, which is what comes out.
    special : In
        What comes out instead, where that is no finite number; its sign is also that of a zero.
    word : Out
    overflow : Out
        A finite sum became infinite.
    """

    interval = 1

    def __init__(self, floats: FloatFormat, bits: int):
        self._format, self._bits = floats, -(-bits // GROUP) * GROUP
        self._zeros = LeadingZeros(self._bits)
        super().__init__(
            {
                "magnitude": In(bits),
                "negative": In(1),
                "reach": In(floats.exponent_bits + 1),
                "passes": In(1),
                "special": In(special_layout()),
                "word": Out(floats.bits),
                "overflow": Out(1),
            }
        )

    @property
    def _steps(self) -> int:
        """Clocks that the shift takes."""
        return shift_clocks(len(self._zeros.zeros))

    @property
    def latency(self) -> int:
        """Clocks from a magnitude to its word."""
        return self._zeros.latency + 2 + self._steps + 3

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.zeros = leading = self._zeros
        magnitude = Cat(C(0, self._bits - len(self.magnitude)), self.magnitude)
        m.d.comb += leading.value.eq(magnitude)
        zeros, none = leading.zeros, leading.none

        # A shift by the reach gives the smallest exponent and must be the last.
        limit = delayed(m, self.reach, 1, name="limit")
        most, far = Signal.like(zeros, reset_less=True), limit[len(zeros) :].any()
        m.d.sync += most.eq(limit[: len(zeros)] | far.replicate(len(zeros)))
        most = delayed(m, most, 1, name="most")
        fewer = Signal(reset_less=True)
        m.d.sync += fewer.eq(zeros < most)
        most = delayed(m, most, 1, name="most")
        shift = Signal.like(zeros, reset_less=True)
        m.d.sync += shift.eq(Mux(fewer, delayed(m, zeros, 1, name="zeros"), most))

        # The shift, and what is left of the exponent.
        base = Signal.like(limit, reset_less=True)
        m.d.sync += base.eq(delayed(m, limit, 4, name="limit") - shift)
        value = shifted_up(m, delayed(m, magnitude, 5, name="magnitude"), shift)
        base = delayed(m, base, self._steps - 1, name="base")
        self._round(m, value, base, delayed(m, none, 3 + self._steps, name="none"))
        return m

    def _round(self, m, value, base, none):
        """Three clocks: what was cut off, one carry chain, and what is no finite number."""
        kept = self._format.fraction_bits + 1
        rest = value[: self._bits - kept]  # its top bit is worth a half
        middle = len(rest) // 2
        sticky = Signal(2, reset_less=True)
        m.d.sync += sticky.eq(Cat(rest[:middle].any(), rest[middle:-1].any()))
        high = delayed(m, value[self._bits - kept - 1 :], 1, name="high")
        half, significand = high[0], high[1:]

        # The leading one, where there is one, adds to the exponent: so does a carry.
        fraction = self._format.fraction_bits
        base = delayed(m, base, 1, name="base")
        packed = Signal(fraction + len(base) + 1, reset_less=True)
        up = half & (significand[0] | sticky.any())
        m.d.sync += packed.eq((base << fraction) + significand + up)

        none = delayed(m, none, 2, name="none")
        negative = delayed(m, self.negative, self.latency - 1, name="negative")
        passes = delayed(m, self.passes, self.latency - 1, name="passes")
        special = delayed(m, self.special, self.latency - 1, name="special")
        field = packed[fraction:]
        top, above = field[: self._format.exponent_bits], field[self._format.exponent_bits :]
        beyond = ~passes & (top.all() | above.any())
        unsigned = len(self.word) - 1
        word, overflow = Signal.like(self.word, reset_less=True), Signal(reset_less=True)
        with m.If(special.nan):
            m.d.sync += word.eq(self._format.nan)
        with m.Elif(special.infinite):
            m.d.sync += word.eq(Cat(C(self._format.infinity, unsigned), special.negative))
        with m.Elif(none):
            m.d.sync += word.eq(Cat(C(0, unsigned), special.negative))
        with m.Elif(beyond):
            m.d.sync += word.eq(Cat(C(self._format.infinity, unsigned), negative))
        with m.Else():
            m.d.sync += word.eq(Cat(packed[:unsigned], negative))
        m.d.sync += overflow.eq(beyond & ~(special.nan | special.infinite | none))
        m.d.comb += [self.word.eq(word), self.overflow.eq(overflow)]
