# SPDX-License-Identifier: Apache-2.0
"""An exact sum to the nearest floating-point word."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .layouts import special_layout
from .streams import delayed

__all__ = ["FloatRounder"]

BITS = 36  # of a magnitude, filled up with zeros below
GROUP = 4
GROUPS = BITS // GROUP
SHIFT_BITS = 6
PASSING_SHIFT = 3  # a word times 1 has its top bit so far below


class FloatRounder(wiring.Component):
    """Normalises a magnitude and rounds it once to nearest even, subnormals too.

    Latency 11 clocks, a result every clock: leading zeros in three, the shift limited at the
    smallest exponent in two, done in three, rounded in two, packed. Source: golden/floats.py.

    Ports
    -----
    magnitude, negative : In
        A sum of products of operands and coefficients.
    exponent, scale : In
        The aligned pair's exponent, biased; the coefficients' scale bit.
    passes : In
        The magnitude is a word times a cosine of 1, which passes bit for bit.
    special : In
        What comes out instead, where that is no finite number.
    word : Out
    overflow : Out
        A finite sum became infinite.
    """

    latency = 11
    interval = 1

    def __init__(self, p: RopeParameters):
        assert p.floating is not None
        self._p, self._format = p, p.floating
        super().__init__(
            {
                "magnitude": In(p.operand_bits + p.coefficient_bits),
                "negative": In(1),
                "exponent": In(self._format.exponent_bits),
                "scale": In(1),
                "passes": In(1),
                "special": In(special_layout()),
                "word": Out(p.data_bits),
                "overflow": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        magnitude = Cat(C(0, BITS - len(self.magnitude)), self.magnitude)
        zeros, none = self._leading_zeros(m, magnitude)

        # Were the top bit a leading one, the exponent would be 2 + scale above the pair's. A shift
        # by one less than that reaches the smallest exponent and must be the last.
        limit = Signal(self._format.exponent_bits + 1, reset_less=True)
        m.d.sync += limit.eq(Mux(self.passes, PASSING_SHIFT, self.exponent + 1 + self.scale))
        most, far = Signal(SHIFT_BITS, reset_less=True), limit[SHIFT_BITS:].any()
        m.d.sync += most.eq(limit[:SHIFT_BITS] | far.replicate(SHIFT_BITS))
        most = delayed(m, most, 1, name="most")
        fewer = Signal(reset_less=True)
        m.d.sync += fewer.eq(zeros < most)
        most = delayed(m, most, 1, name="most")
        shift = Signal(SHIFT_BITS, reset_less=True)
        m.d.sync += shift.eq(Mux(fewer, delayed(m, zeros, 1, name="zeros"), most))

        # Shifted by sixteens, fours and ones.
        base = Signal.like(limit, reset_less=True)
        m.d.sync += base.eq(delayed(m, limit, 4, name="limit") - shift)
        value = delayed(m, magnitude, 5, name="magnitude")
        for low, high in ((4, 6), (2, 4), (0, 2)):
            shifted = Signal(BITS, reset_less=True, name=f"shifted_{low}")
            m.d.sync += shifted.eq(value << (shift[low:high] << low))
            value, shift = shifted, delayed(m, shift, 1, name="shift")

        self._round(m, value, delayed(m, base, 2, name="base"), delayed(m, none, 6, name="none"))
        return m

    def _leading_zeros(self, m, magnitude) -> tuple[Value, Value]:
        """Three clocks: how many, and a clock before whether all bits are zeros."""
        found = Signal(GROUPS, reset_less=True)
        places = []
        for number in range(GROUPS):  # from the top
            start = BITS - GROUP * (number + 1)
            group = magnitude[start : start + GROUP]
            place = Signal(2, reset_less=True, name=f"place_{number}")
            m.d.sync += [
                found[number].eq(group.any()),
                place.eq(Mux(group[3], 0, Mux(group[2], 1, Mux(group[1], 2, 3)))),
            ]
            places.append(place)

        first, none = Signal(range(GROUPS), reset_less=True), Signal(reset_less=True)
        with m.If(found[0]):
            m.d.sync += first.eq(0)
        for number in range(1, GROUPS - 1):
            with m.Elif(found[number]):
                m.d.sync += first.eq(number)
        with m.Else():
            m.d.sync += first.eq(GROUPS - 1)
        m.d.sync += none.eq(~found.any())

        waiting = Array(delayed(m, place, 1, name="place") for place in places)
        zeros = Signal(SHIFT_BITS, reset_less=True)
        m.d.sync += zeros.eq(Cat(waiting[first], first))
        return zeros, none

    def _round(self, m, value, base, none):
        """Three clocks: what was cut off, one carry chain, and what is no finite number."""
        kept = self._format.fraction_bits + 1
        rest = value[: BITS - kept]  # its top bit is worth a half
        middle = len(rest) // 2
        sticky = Signal(2, reset_less=True)
        m.d.sync += sticky.eq(Cat(rest[:middle].any(), rest[middle:-1].any()))
        high = delayed(m, value[BITS - self._p.data_bits :], 1, name="high")
        half, significand = high[-kept - 1], high[-kept:]

        # The leading one, where there is one, adds to the exponent: so does a carry.
        fraction = self._format.fraction_bits
        base = delayed(m, base, 1, name="base")
        packed = Signal(fraction + len(base) + 1, reset_less=True)
        up = half & (significand[0] | sticky.any())
        m.d.sync += packed.eq((base << fraction) + significand + up)

        passed = delayed(m, high, 1, name="passed")
        none = delayed(m, none, 2, name="none")
        negative = delayed(m, self.negative, self.latency - 1, name="negative")
        passes = delayed(m, self.passes, self.latency - 1, name="passes")
        special = delayed(m, self.special, self.latency - 1, name="special")
        beyond = packed[fraction:] >= (1 << self._format.exponent_bits) - 1
        word = Signal(self._p.data_bits, reset_less=True)
        overflow = Signal(reset_less=True)
        with m.If(passes):
            m.d.sync += word.eq(passed)
        with m.Elif(special.nan):
            m.d.sync += word.eq(self._format.nan)
        with m.Elif(special.infinite):
            m.d.sync += word.eq(
                Cat(C(self._format.infinity, self._p.data_bits - 1), special.negative)
            )
        with m.Elif(none):
            m.d.sync += word.eq(0)
        with m.Elif(beyond):
            m.d.sync += word.eq(Cat(C(self._format.infinity, self._p.data_bits - 1), negative))
        with m.Else():
            m.d.sync += word.eq(Cat(packed[: self._p.data_bits - 1], negative))
        usual = ~(passes | special.nan | special.infinite | none)
        m.d.sync += overflow.eq(beyond & usual)
        m.d.comb += [self.word.eq(word), self.overflow.eq(overflow)]
