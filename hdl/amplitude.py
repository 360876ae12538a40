# SPDX-License-Identifier: Apache-2.0
"""The amplitude on cos and sin, and the coefficients that a rotation multiplies by."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.generators import PIPELINED, SERIAL, SHARED
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.sincos import RAW_FRACTION_BITS
from ropeway.golden.table import AMPLITUDE_BITS

from .layouts import amplitude_layout, coefficient_layout
from .multipliers import Multiplier
from .rotation_row import notice
from .serial_products import SerialProducts, serial_latency
from .sincos import raw_layout
from .streams import delayed, held, pulse_stream, strobes

__all__ = ["Amplitude"]


class Amplitude(wiring.Component):
    """raw + (amplitude − 1)·raw, rounded half up to the coefficients' width.

    ========= ============================= ======== ===========
    form      latency                       interval multipliers
    ========= ============================= ======== ===========
    pipelined 3                             1        2
    shared    4                             3        1
    serial    13 (12 of 16-bit coefficients) 14      none
    ========= ============================= ======== ===========

    Three-multiplier coefficients take a clock more for their exact sum and difference; the cut of
    these keeps the rotation's bits those of four multipliers, since neither is rounded again.

    Ports
    -----
    i : stream of {quadrant, small, cos, sin, tag}
        Always ready; at most one every ``interval`` clocks, and as SinCos of the same form has it.
    amplitude : In
        Of the pair at ``i``, ``wait`` clocks later; as long as that stays.
    o : stream of {coefficients, tag}
    soon : Out
        A pair comes at ``o`` ``notice(p)`` clocks later.
    """

    def __init__(self, p: RopeParameters, tag):
        self._p = p
        self.wait = 1 if p.generator == SERIAL else 0
        self.interval = {PIPELINED: 1, SHARED: 3, SERIAL: 14}[p.generator]
        bits = p.coefficient_bits
        self._product_drop = 2 * bits - RAW_FRACTION_BITS
        results = data.StructLayout({"coefficients": coefficient_layout(p), "tag": tag})
        super().__init__(
            {
                "i": In(pulse_stream(raw_layout(tag))),
                "amplitude": In(amplitude_layout()),
                "o": Out(pulse_stream(results)),
                "soon": Out(1),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a raw sine and cosine to their coefficients."""
        forms = {
            PIPELINED: 3,
            SHARED: 4,
            SERIAL: 2 + serial_latency(signed(self._p.coefficient_bits)),
        }
        return forms[self._p.generator] + (self._p.multipliers == 3)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        forms = {PIPELINED: self._pipelined, SHARED: self._shared, SERIAL: self._serially}
        out, given = self.o.payload, self.i.payload
        cos, sin, others, valid = forms[self._p.generator](m, [given.cos, given.sin])
        if self._p.multipliers == 3:
            cos = self._combine(m, cos, sin, others[3])
            others = delayed(m, others, 1, name="combined")
        else:
            m.d.comb += out.coefficients.sin.eq(sin)
        m.d.comb += [
            out.coefficients.cos.eq(cos),
            Cat(out.coefficients.quadrant, out.coefficients.scale).eq(others[:3]),
            Value.cast(out.tag).eq(others[4:]),
            self.soon.eq(valid),
            self.o.valid.eq(delayed(m, valid, notice(self._p), reset_less=False, name="valid")),
        ]
        return m

    def _others(self) -> Value:
        """The quadrant, the scale, whether sin is small, and the tag: beside cos and sin."""
        given = self.i.payload
        return Cat(given.quadrant, self.amplitude.scale, given.small, Value.cast(given.tag))

    def _factor(self, raw: Value) -> Value:
        """What of a raw word is multiplied."""
        return raw[RAW_FRACTION_BITS - self._p.coefficient_bits :]

    @property
    def _code(self) -> Value:
        return self.amplitude.code[AMPLITUDE_BITS - self._p.coefficient_bits :].as_signed()

    def _halved(self, m, raw: Value, name: str) -> Value:
        """A clock later: a raw word and the half that rounds it."""
        halved = Signal(RAW_FRACTION_BITS + 1, reset_less=True, name=f"{name}_halved")
        m.d.sync += halved.eq(raw + (1 << self._dropped - 1))
        return halved

    @property
    def _dropped(self) -> int:
        return RAW_FRACTION_BITS - self._p.fraction_bits

    def _scaled(self, halved: Value, product: Value) -> Value:
        return (halved + product)[self._dropped : RAW_FRACTION_BITS + 1]

    def _pipelined(self, m, raws) -> tuple[Value, ...]:
        """Three clocks: the products, and the sums that round."""
        bits, words = self._p.coefficient_bits, []
        for name, raw in zip(("cos", "sin"), raws, strict=True):
            m.submodules[f"{name}_product"] = multiplier = Multiplier(bits, signed(bits))
            m.d.comb += [multiplier.a.eq(self._factor(raw)), multiplier.b.eq(self._code)]
            halved = self._halved(m, delayed(m, raw, 1, name=f"{name}_raw"), name)
            product = multiplier.p[self._product_drop :].as_signed()
            words.append(delayed(m, self._scaled(halved, product), 1, name=f"{name}_scaled"))
        others = delayed(m, self._others(), 3, name="others")
        return *words, others, self._soon(m, self.i.valid, 3)

    def _soon(self, m, valid: Value, clocks: int) -> Value:
        """A pair's valid, the notice before its coefficients are."""
        clocks += (self._p.multipliers == 3) - notice(self._p)
        return delayed(m, valid, clocks, reset_less=False, name="soon")

    def _shared(self, m, raws) -> tuple[Value, ...]:
        """The cosine with ``i``, then the sine: products, and the sums that round."""
        bits, after = self._p.coefficient_bits, strobes(m, self.i.valid, 1)[1]
        # With distant lanes a register of its own, not reset as those that say the same: beside the
        # multiplier.
        second = delayed(m, self.i.valid, 1, name="second") if self._p.distant else after
        raw = Mux(second, raws[1], raws[0])
        m.submodules.product = multiplier = Multiplier(bits, signed(bits))
        m.d.comb += [multiplier.a.eq(self._factor(raw)), multiplier.b.eq(self._code)]
        halved = delayed(m, self._halved(m, raw, "raw"), 1, name="halved")
        product = multiplier.p[self._product_drop :].as_signed()
        sin = delayed(m, self._scaled(halved, product), 1, name="scaled")
        cos = delayed(m, sin, 1, name="cos_scaled")
        others = held(m, self._others(), after, name="others")
        return cos, sin, others, self._soon(m, self.i.valid, 4)

    def _serially(self, m, raws) -> tuple[Value, ...]:
        bits = self._p.coefficient_bits
        m.submodules.products = serial = SerialProducts(
            2, bits, signed(bits), drop=self._product_drop
        )
        start = delayed(m, self.i.valid, 1, reset_less=False, name="start")
        m.d.comb += [serial.start.eq(start), serial.count.eq(self._code)]
        words = []
        for number, (name, raw) in enumerate(zip(("cos", "sin"), raws, strict=True)):
            m.d.comb += serial.factors[number].eq(self._factor(raw))
            halved = self._halved(m, raw, name)
            scaled = self._scaled(halved, serial.products[number])
            words.append(held(m, scaled, serial.done, name=f"{name}_scaled"))
        others = held(m, self._others(), start, name="others")
        return *words, others, self._soon(m, serial.done, 1)

    def _combine(self, m, cos: Value, sin: Value, small: Value) -> Value:
        """A clock: cos; and cos + sin, and what stands for sin − cos; all exact."""
        out, width = self.o.payload.coefficients, len(cos)
        total = Signal(width, reset_less=True)
        difference = Signal(width, reset_less=True)
        # cos − sin, or one less, the complement of sin − cos: one carry chain.
        m.d.sync += [
            total.eq(cos + sin),
            difference.eq((Cat(C(0, 1), cos) - Cat(~small, sin))[1 : width + 1]),
        ]
        m.d.comb += [
            out.sum.eq(total),
            out.difference.eq(difference),
            out.negative.eq(delayed(m, small, 1, name="small")),
        ]
        return delayed(m, cos, 1, name="cos")
