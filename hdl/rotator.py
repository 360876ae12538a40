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

    Latency 8 clocks, or 6 with four multipliers; a pair every clock. The result is exact, divided
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
        return 8 if self._p.multipliers == 3 else 2 + ProductSum.latency

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

    def _complemented(self, m, value: Value, negative: Value, name: str) -> tuple[Signal, Signal]:
        """A clock: an element, or the complement of one, to which one is to be added."""
        complement = Signal.like(value, reset_less=True, name=f"{name}_complement")
        m.d.sync += complement.eq(value ^ negative.replicate(len(value)).as_signed())
        return complement, delayed(m, negative, 1, name=f"{name}_one")

    def _sum(self, m, value: Value, one: Value, name: str) -> Signal:
        total = Signal(signed(len(value) + 1), reset_less=True, name=name)
        m.d.sync += total.eq(value + one)
        return total

    def _addend(self, m, held, short: Value, end: int) -> Value:
        """A product's latency: the half that rounds and, where their sum is short, a cosine."""
        low, bits = end - 1, max(len(held.cos), end + 1)
        cos = Signal(bits, reset_less=True, name="cos")
        half = delayed(m, Cat(held.scale, ~held.scale), 1, name="half")
        addend = Signal(bits + 1, reset_less=True, name="addend")
        m.d.sync += [
            cos.eq(Mux(short, held.cos, 0)),
            addend.eq(Cat(cos[:low], cos[low:] + half)),
        ]
        return addend

    def _three(self, m) -> tuple[Value, ...]:
        # The quarter turns: (x, y), (−y, x), (−x, −y), (y, −x). A negative is its complement and
        # one; in their sum there is room for one such one, so that −x − y is one short.
        u_source, v_source, taken = self._take(m)
        u_negative, v_negative = Signal(reset_less=True), Signal(reset_less=True)
        quadrant = self.coefficients.quadrant
        m.d.sync += [
            u_negative.eq(quadrant[0] ^ quadrant[1]),
            v_negative.eq(quadrant[1]),
        ]
        u, u_one = self._complemented(m, u_source, u_negative, "u")
        v, v_one = self._complemented(m, v_source, v_negative, "v")
        total = Signal(signed(self._p.data_bits + 2), reset_less=True)
        m.d.sync += total.eq(add_with_carry(u, v, u_one | v_one, len(total)))
        u, v = self._sum(m, u, u_one, "u"), self._sum(m, v, v_one, "v")
        short = delayed(m, u_one & v_one, 1, name="short")
        held = delayed(m, taken, 2, name="held")
        magnitude = taken.difference ^ (~taken.negative).replicate(len(taken.difference))
        magnitude = delayed(m, magnitude, 2, name="magnitude")

        # The products, with a relay after each. Results are rounded half up at `end`; where
        # coefficients are not halved one more bit is dropped afterwards. What rounds them is in k,
        # which both share, and what makes good a sum that is one short.
        end = self._p.fraction_bits - 1 + self._p.narrowed_bits
        m.submodules.k = multiplier = Multiplier(held.cos.shape(), total.shape())
        k = Signal.like(multiplier.p, reset_less=True)
        m.d.comb += [multiplier.a.eq(held.cos), multiplier.b.eq(total)]
        m.d.sync += k.eq(multiplier.p + self._addend(m, held, short, end))
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
        scale = delayed(m, held.scale, multiplier.latency, name="scale")
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

    Latency 8 or 6 clocks for fixed-point data, as a Lane, and 24 for floating-point; ``lanes``
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
