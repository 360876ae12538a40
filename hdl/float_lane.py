# SPDX-License-Identifier: Apache-2.0
"""The lane of bf16 and fp16 data: turns one pair a clock and rounds each result once."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .fixed import add_or_subtract, negated_if
from .float_operands import FloatOperands
from .float_rounder import FloatRounder
from .layouts import coefficient_layout, special_layout
from .multipliers import Multiplier
from .streams import delayed

__all__ = ["FloatLane"]


class FloatLane(wiring.Component):
    """Turns a pair of words as golden/float_rotation.py does.

    Both are aligned to the larger exponent, turned as by the fixed-point lane of four multipliers,
    and each sum is normalised and rounded once. Latency ``latency`` clocks, a pair every clock: 2
    to take and exchange the words, then what operands, products, sums and rounding take.

    Ports
    -----
    first, second : In, signed(16)
        The pair's words; ``exchanged`` where ``first`` is y.
    coefficients : In
    passes : In
        The words pass bit for bit: the coefficients are cos 1 and sin 0, quadrant 0. They take the
        same way, as numbers whatever their exponents.
    apart : In
        The coefficients' sine is 0, and neither element is aligned to the other.
    x, y : Out, signed(16)
    saturated : Out
        ``x`` or ``y`` became infinite by overflow.
    """

    interval = 1

    def __init__(self, p: RopeParameters):
        assert p.floating is not None
        self._p, self._operands = p, FloatOperands(p)
        self._multipliers = [
            Multiplier(unsigned(p.coefficient_bits), signed(p.operand_bits), relay=True)
            for _ in range(4)
        ]
        bits = p.operand_bits + p.coefficient_bits
        self._rounders = [FloatRounder(p.floating, bits) for _ in range(2)]
        word = signed(p.data_bits)
        super().__init__(
            {
                "first": In(word),
                "second": In(word),
                "exchanged": In(1),
                "coefficients": In(coefficient_layout(p)),
                "passes": In(1),
                "apart": In(1),
                "x": Out(word),
                "y": Out(word),
                "saturated": Out(1),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a pair to its result."""
        take, exchange, add, magnitude = 1, 1, 1, 1
        multiply = self._multipliers[0].latency
        return (
            take
            + exchange
            + self._operands.latency
            + multiply
            + add
            + magnitude
            + self._rounders[0].latency
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.operands = operands = self._operands
        held = self._take(m, operands)
        products = self._multiply(m, operands, held)
        quadrant = delayed(m, held.quadrant, self._multipliers[0].latency, name="quadrant")
        self._sum_and_round(m, products, quadrant, self._special(m, operands, held))
        return m

    def _take(self, m, operands):
        """Two clocks: words in the order that the quadrant asks for; coefficients wait for them."""
        word = signed(self._p.data_bits)
        first, second = (Signal(word, reset_less=True) for _ in range(2))
        exchange = Signal(reset_less=True)
        m.d.sync += [
            first.eq(self.first),
            second.eq(self.second),
            exchange.eq(self.coefficients.quadrant[0] ^ self.exchanged),
        ]
        u, v = Signal(word, reset_less=True), Signal(word, reset_less=True)
        m.d.sync += [u.eq(Mux(exchange, second, first)), v.eq(Mux(exchange, first, second))]
        m.d.comb += [
            operands.u.eq(u),
            operands.v.eq(v),
            operands.apart.eq(delayed(m, self.passes | self.apart, 2, name="apart")),
        ]
        return delayed(m, self.coefficients, 2 + operands.latency, name="held")

    def _multiply(self, m, operands, held) -> dict[str, Value]:
        u, v = operands.operand_u, operands.operand_v
        factors = {
            "cos_u": (held.cos, u),
            "sin_v": (held.sin, v),
            "sin_u": (held.sin, u),
            "cos_v": (held.cos, v),
        }
        products = {}
        for multiplier, (name, (a, b)) in zip(self._multipliers, factors.items(), strict=True):
            m.submodules[name] = multiplier
            m.d.comb += [multiplier.a.eq(a), multiplier.b.eq(b)]
            products[name] = multiplier.p
        return products

    def _sum_and_round(self, m, products, quadrant, specials):
        # Quadrant 0: x = cu − sv, y = cv + su; 1: −x = cu + sv, y = cv − su; 2 and 3: their
        # negatives.
        p, odd = self._p, quadrant[0]
        bits = p.operand_bits + p.coefficient_bits + 1
        x, y = Signal(signed(bits), reset_less=True), Signal(signed(bits), reset_less=True)
        m.d.sync += [
            x.eq(add_or_subtract(products["cos_u"], products["sin_v"], ~odd, bits)),
            y.eq(add_or_subtract(products["cos_v"], products["sin_u"], odd, bits)),
        ]

        # Sign and magnitude. Were the top bit a leading one, the exponent would be 2 + scale above
        # the pair's.
        quadrant = delayed(m, quadrant, 1, name="quadrant_of_sum")
        after = self._multipliers[0].latency + 2  # operands
        before = self.latency - self._rounders[0].latency
        scale = delayed(m, self.coefficients.scale, before, name="scale")
        passes = delayed(m, self.passes, before, name="passes")
        for name, total, negative, rounder, special in (
            ("x", x, quadrant[0] ^ quadrant[1], self._rounders[0], specials[0]),
            ("y", y, quadrant[1], self._rounders[1], specials[1]),
        ):
            m.submodules[f"rounder_{name}"] = rounder
            magnitude = Signal(bits - 1, reset_less=True, name=f"{name}_magnitude")
            sign = Signal(reset_less=True, name=f"{name}_sign")
            m.d.sync += [
                magnitude.eq(negated_if(total, total[-1], bits)),
                sign.eq(total[-1] ^ negative),
            ]
            exponent = getattr(self._operands, f"exponent_{name}")
            exponent = delayed(m, exponent, after, name=f"{name}_exponent")
            m.d.comb += [
                rounder.magnitude.eq(magnitude),
                rounder.negative.eq(sign),
                rounder.reach.eq(exponent + 1 + scale),
                rounder.passes.eq(passes),
                rounder.special.eq(special),
                getattr(self, name).eq(rounder.word.as_signed()),
            ]
        m.d.comb += self.saturated.eq(self._rounders[0].overflow | self._rounders[1].overflow)

    def _special(self, m, operands, held) -> list[Value]:
        """What IEEE 754 makes of elements that are not finite; beside the magnitudes.

        A zero that passes keeps its sign, every other one is positive.
        """
        u, v = operands.special_u, operands.special_v
        no_cos, no_sin, odd = ~held.cos.any(), ~held.sin.any(), held.quadrant[0]
        apart, passes = operands.o_apart, delayed(m, self.passes, 3 + operands.latency)
        signs = {"x": held.quadrant[0] ^ held.quadrant[1], "y": held.quadrant[1]}
        specials = []
        for name, own, other, flip in (("x", u, v, ~odd), ("y", v, u, odd)):
            # own · cos ± other · sin, one clock to classify and one to combine
            nan, both, own_infinite, any_infinite, own_sign, other_sign = (
                Signal(name=f"{name}_{part}", reset_less=True)
                for part in ("nan", "both", "own_infinite", "any_infinite", "own", "other")
            )
            m.d.sync += [
                nan.eq(
                    own.nan
                    | (own.infinite & no_cos)
                    | (~apart & (other.nan | (other.infinite & no_sin)))
                ),
                both.eq(own.infinite & other.infinite & ~apart),
                own_infinite.eq(own.infinite),
                any_infinite.eq(own.infinite | (other.infinite & ~apart)),
                own_sign.eq(own.negative ^ signs[name]),
                other_sign.eq(other.negative ^ flip ^ signs[name]),
            ]
            special = Signal(special_layout(), reset_less=True, name=f"{name}_special")
            m.d.sync += [
                special.nan.eq(~passes & (nan | (both & (own_sign ^ other_sign)))),
                special.infinite.eq(~passes & any_infinite),
                special.negative.eq(
                    Mux(own_infinite | passes, own_sign, other_sign & any_infinite)
                ),
            ]
            wait = self._multipliers[0].latency  # + sum + magnitude − the two clocks above
            specials.append(delayed(m, special, wait, name=f"{name}_special"))
        return specials
