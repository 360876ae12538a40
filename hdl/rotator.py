# SPDX-License-Identifier: Apache-2.0
"""The lanes: each turns one pair a clock by its coefficients."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .fixed import add_with_carry, overflows, saturated
from .float_lane import FloatLane
from .layouts import coefficient_layout
from .multipliers import Multiplier, ProductSum
from .streams import delayed

__all__ = ["Lane", "Rotator"]


class Lane(wiring.Component):
    """Turns a pair by its quadrant, then by the angle within it.

    Latency 9 clocks, or 6 with four multipliers; a pair every clock. The result is exact, divided
    by 2^(data_bits − output_bits), but for one rounding, half up, and saturation; three multipliers
    and four give the same bits:

        k = cos·(u + v)      x' = k − (cos + sin)·v      y' = k + (sin − cos)·u

    where (u, v) is (x, y) turned by the quadrant. With four the operands are only exchanged, and
    products are added or subtracted, so that data may be as wide as the multiplier.

    Ports
    -----
    first, second : In, signed(data_bits)
        The pair's elements; ``exchanged`` where ``first`` is y.
    coefficients : In
    x, y : Out, signed(output_bits)
    saturated : Out
        ``x`` or ``y`` did not fit and holds the nearest value that does.
    """

    interval = 1

    def __init__(self, p: RopeParameters):
        self._p = p
        element, result = signed(p.data_bits), signed(p.output_bits)
        super().__init__(
            {
                "first": In(element),
                "second": In(element),
                "exchanged": In(1),
                "coefficients": In(coefficient_layout(p)),
                "x": Out(result),
                "y": Out(result),
                "saturated": Out(1),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a pair to its result."""
        return 9 if self._p.multipliers == 3 else 2 + ProductSum.latency

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        rounded = self._three(m) if self._p.multipliers == 3 else self._four(m)

        bits = self._p.output_bits
        for value, out in zip(rounded, (self.x, self.y), strict=True):
            m.d.sync += out.eq(saturated(value, bits))
        m.d.sync += self.saturated.eq(overflows(rounded[0], bits) | overflows(rounded[1], bits))
        return m

    def _multiply(self, m, name: str, a: Value, b: Value) -> Value:
        multiplier = Multiplier(a.shape(), b.shape(), relay=True)
        m.submodules[name] = multiplier
        m.d.comb += [multiplier.a.eq(a), multiplier.b.eq(b)]
        return multiplier.p

    def _take(self, m):
        """One clock: the operands, exchanged within the next, and their coefficients."""
        first, second = (Signal(signed(self._p.data_bits), reset_less=True) for _ in range(2))
        taken, exchange = Signal.like(self.coefficients, reset_less=True), Signal(reset_less=True)
        m.d.sync += [
            first.eq(self.first),
            second.eq(self.second),
            taken.eq(self.coefficients),
            exchange.eq(self.coefficients.quadrant[0] ^ self.exchanged),
        ]
        return Mux(exchange, second, first), Mux(exchange, first, second), taken

    def _negated_if(self, m, value: Value, negative: Value) -> Value:
        """Two clocks: an element or its negative; the complement, and one more."""
        bits = self._p.data_bits
        complement = Signal(signed(bits), reset_less=True)
        result = Signal(signed(bits + 1), reset_less=True)
        m.d.sync += [
            complement.eq(value ^ negative.replicate(bits).as_signed()),
            result.eq(complement + delayed(m, negative, 1, name="negative")),
        ]
        return result

    def _three(self, m) -> tuple[Value, ...]:
        # The quarter turns: (x, y), (−y, x), (−x, −y), (y, −x).
        u_source, v_source, taken = self._take(m)
        u_negative, v_negative = Signal(reset_less=True), Signal(reset_less=True)
        quadrant = self.coefficients.quadrant
        m.d.sync += [
            u_negative.eq(quadrant[0] ^ quadrant[1]),
            v_negative.eq(quadrant[1]),
        ]
        u = self._negated_if(m, u_source, u_negative)
        v = self._negated_if(m, v_source, v_negative)
        total = Signal(signed(self._p.data_bits + 2), reset_less=True)
        m.d.sync += total.eq(u + v)
        u, v = delayed(m, u, 1, name="u"), delayed(m, v, 1, name="v")
        held = delayed(m, taken, 3, name="held")
        magnitude = taken.difference ^ (~taken.negative).replicate(len(taken.difference))
        magnitude = delayed(m, magnitude, 3, name="magnitude")

        # The products, with a relay after each. Results are rounded half up at `end`; where
        # coefficients are not halved one more bit is dropped afterwards. What rounds them is in k,
        # which both share.
        end = self._p.fraction_bits - 1 + self._p.narrowed_bits
        m.submodules.k = multiplier = Multiplier(held.cos.shape(), total.shape())
        scale = delayed(m, held.scale, multiplier.latency, name="scale")
        k = Signal.like(multiplier.p, reset_less=True)
        half = Cat(C(0, end - 1), scale, ~scale)
        m.d.comb += [multiplier.a.eq(held.cos), multiplier.b.eq(total)]
        m.d.sync += k.eq(multiplier.p + half)
        sum_v = self._multiply(m, "sum_v", held.sum, v)
        m.submodules.difference_u = multiplier = Multiplier(magnitude.shape(), u.shape())
        m.d.comb += [multiplier.a.eq(magnitude), multiplier.b.eq(u)]
        difference_u, negative = Signal.like(multiplier.p, reset_less=True), Signal(reset_less=True)
        sign = delayed(m, held.negative, multiplier.latency, name="sign")
        m.d.sync += [
            difference_u.eq(multiplier.p ^ sign.replicate(len(multiplier.p)).as_signed()),
            negative.eq(sign),
        ]

        bits = self._p.data_bits + self._p.coefficient_bits + 2
        x, y = Signal(signed(bits), reset_less=True), Signal(signed(bits), reset_less=True)
        m.d.sync += [
            x.eq(k - sum_v),
            y.eq(add_with_carry(k, difference_u, negative, bits)),
        ]

        # x and y each choose by a register of their own.
        halved, whole = delayed(m, scale, 2, name="halved"), delayed(m, ~scale, 2, name="whole")
        x, y = (value[end : end + self._p.output_bits + 3].as_signed() for value in (x, y))
        return Mux(halved, x, x >> 1), Mux(whole, y >> 1, y)

    def _four(self, m) -> tuple[Value, ...]:
        # (u, v) is (x, y) or (y, x); the products are added with signs, and the half that rounds
        # up. Quadrant 0: x = cu − sv, y = cv + su; 1: −x = cu + sv, y = cv − su; 2 and 3: their
        # negatives.
        u, v, taken = self._take(m)
        odd, end = taken.quadrant[0], self._p.fraction_bits + self._p.narrowed_bits
        word, element = unsigned(self._p.coefficient_bits), signed(self._p.data_bits)
        halved = delayed(m, taken.scale, ProductSum.latency, name="halved")
        rounded = []
        for name, own, other, negative, differ in (
            ("x", u, v, odd ^ taken.quadrant[1], ~odd),
            ("y", v, u, taken.quadrant[1], odd),
        ):
            bits = self._p.data_bits + self._p.coefficient_bits + 1
            unit = ProductSum(word, element, word, element, bits, addend_bits=end)
            m.submodules[name] = unit
            m.d.comb += [
                unit.a.eq(taken.cos),
                unit.b.eq(own),
                unit.c.eq(taken.sin),
                unit.d.eq(other),
                unit.addend.eq(Mux(taken.scale, 1 << end - 2, 1 << end - 1)),
                unit.subtract_ab.eq(negative),
                unit.subtract_cd.eq(negative ^ differ),
            ]
            result = unit.p[end - 1 :].as_signed()
            rounded.append(Mux(halved, result, result >> 1))
        return tuple(rounded)


class Rotator(wiring.Component):
    """``lanes`` lanes side by side.

    Latency 9 or 6 clocks for fixed-point data, as a Lane, and 24 for floating-point; ``lanes``
    pairs every clock; free running.

    Ports
    -----
    first, second : In, signed(data_bits), one a lane
    exchanged : In
        ``first`` holds the second elements.
    coefficients : In, one a lane
    passes, apart : In, floating-point formats only
        As a FloatLane has them.
    x, y : Out, signed(output_bits), one a lane
    saturated : Out
        Some element did not fit.
    """

    interval = 1

    def __init__(self, p: RopeParameters):
        self._p = p
        self._lanes = [FloatLane(p) if p.floating else Lane(p) for _ in range(p.lanes)]
        elements = data.ArrayLayout(signed(p.data_bits), p.lanes)
        results = data.ArrayLayout(signed(p.output_bits), p.lanes)
        super().__init__(
            {
                "first": In(elements),
                "second": In(elements),
                "exchanged": In(1),
                "coefficients": In(data.ArrayLayout(coefficient_layout(p), p.lanes)),
                "x": Out(results),
                "y": Out(results),
                "saturated": Out(1),
            }
            | ({"passes": In(1), "apart": In(1)} if p.floating else {})
        )

    @property
    def latency(self) -> int:
        """Clocks from a pair to its result."""
        return self._lanes[0].latency

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        saturated = Signal(self._p.lanes)
        for number, lane in enumerate(self._lanes):
            m.submodules[f"lane_{number}"] = lane
            m.d.comb += [
                lane.first.eq(self.first[number]),
                lane.second.eq(self.second[number]),
                lane.exchanged.eq(self.exchanged),
                Value.cast(lane.coefficients).eq(Value.cast(self.coefficients[number])),
                self.x[number].eq(lane.x),
                self.y[number].eq(lane.y),
                saturated[number].eq(lane.saturated),
            ]
            if isinstance(lane, FloatLane):
                m.d.comb += [lane.passes.eq(self.passes), lane.apart.eq(self.apart)]
        m.d.comb += self.saturated.eq(saturated.any())
        return m
