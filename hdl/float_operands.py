# SPDX-License-Identifier: Apache-2.0
"""Floating-point words to the aligned signed numbers that the multipliers take."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .float_layouts import classified, parted
from .layouts import special_layout
from .streams import delayed

__all__ = ["FloatOperands"]

AMOUNT_BITS = 5


class FloatOperands(wiring.Component):
    """A pair's words as numbers in units of 2^-16 of the larger one's binade.

    Latency 6 clocks, a pair every clock: exponents, their differences, shifts, the shift by bits
    and by groups of four, rounding. Source: golden/float_rotation.py.

    Ports
    -----
    u, v : In, signed(16)
    apart : In
        Nothing is aligned: each exponent is an element's own.
    operand_u, operand_v : Out, signed(18)
    exponent_x, exponent_y : Out
        Biased, at least 1; of the sums where u and v are multiplied by the cosine.
    special_u, special_v : Out
        An infinity's operand is as if its exponent were a number's, and so is a NaN's.
    o_apart : Out
        The input, beside the operands.
    """

    latency = 6
    interval = 1

    def __init__(self, p: RopeParameters):
        assert p.floating is not None
        self._p, self._format = p, p.floating
        word, operand = signed(p.data_bits), signed(p.operand_bits)
        exponent = self._format.exponent_bits
        super().__init__(
            {
                "u": In(word),
                "v": In(word),
                "apart": In(1),
                "operand_u": Out(operand),
                "operand_v": Out(operand),
                "exponent_x": Out(exponent),
                "exponent_y": Out(exponent),
                "special_u": Out(special_layout()),
                "special_v": Out(special_layout()),
                "o_apart": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.d.comb += self.o_apart.eq(delayed(m, self.apart, self.latency, name="apart"))
        # Exponents.
        exponents = [
            self._classify(m, name, word, special)
            for name, word, special in (
                ("u", self.u, self.special_u),
                ("v", self.v, self.special_v),
            )
        ]
        aligned = delayed(m, ~self.apart, 2, name="aligned")

        # Their differences.
        width = self._format.exponent_bits + 1
        differences = []
        for name, larger, smaller in (("u", *exponents[::-1]), ("v", *exponents)):
            difference = Signal(signed(width), reset_less=True, name=f"{name}_below")
            m.d.sync += difference.eq(larger - smaller)
            differences.append(difference)
        exponents = [delayed(m, exponent, 1, name="exponent") for exponent in exponents]

        # Shifts: how far each element is below the other.
        for exponent, other, difference, out in (
            (*exponents, differences[0], self.exponent_x),
            (*exponents[::-1], differences[1], self.exponent_y),
        ):
            below = aligned & ~difference[-1]
            m.d.comb += out.eq(delayed(m, Mux(below, other, exponent), 4, name="exponent"))
        for name, word, difference, out in (
            ("u", self.u, differences[0], self.operand_u),
            ("v", self.v, differences[1], self.operand_v),
        ):
            amount = Signal(AMOUNT_BITS, reset_less=True, name=f"{name}_amount")
            far = difference[AMOUNT_BITS:-1].any()
            reach = (difference[:AMOUNT_BITS] | far.replicate(AMOUNT_BITS))[:AMOUNT_BITS]
            below = aligned & ~difference[-1]
            m.d.sync += amount.eq(reach & below.replicate(AMOUNT_BITS))
            self._shift(m, name, delayed(m, word, 2, name=f"{name}_word"), amount, out)
        return m

    def _classify(self, m, name: str, word: Value, special) -> Value:
        """An element's exponent, a clock later, and whether it is finite, beside its operand."""
        exponent = Signal(self._format.exponent_bits, reset_less=True, name=f"{name}_exponent")
        found = Signal(special_layout(), reset_less=True, name=f"{name}_special")
        m.d.sync += [
            exponent.eq(parted(self._format, word)[1]),
            found.eq(classified(self._format, word)),
        ]
        waited = delayed(m, found, self.latency - 1, name=f"{name}_special")
        m.d.comb += special.eq(waited)
        return exponent

    def _shift(self, m, name: str, word: Value, amount: Value, out: Value):
        """Four clocks: placed with a bit below to round by, shifted twice, rounded with a sign."""
        width = self._p.operand_bits  # one sign bit less, one bit to round by more
        sign, _, significand = parted(self._format, word)
        placed = Signal(width, reset_less=True, name=f"{name}_placed")
        negative = Signal(reset_less=True, name=f"{name}_negative")
        m.d.sync += [
            placed.eq(significand << width - len(significand)),
            negative.eq(sign),
        ]

        # By bits, then by fours.
        by_bits = Signal(width, reset_less=True, name=f"{name}_by_bits")
        m.d.sync += by_bits.eq(placed >> amount[:2])
        fours = delayed(m, amount[2:], 1, name=f"{name}_fours")
        shifted = Signal(width, reset_less=True, name=f"{name}_shifted")
        m.d.sync += shifted.eq(by_bits >> (fours << 2))

        # Rounding up is one more away from zero: one carry for it and the sign.
        sign = delayed(m, negative, 2, name=f"{name}_sign")
        operand = Signal(signed(width), reset_less=True, name=f"{name}_operand")
        magnitude = Cat(shifted[1:], C(0, 1)) ^ sign.replicate(width)
        m.d.sync += operand.eq(magnitude + (shifted[0] ^ sign))
        m.d.comb += out.eq(operand)
