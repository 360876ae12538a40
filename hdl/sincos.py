# SPDX-License-Identifier: Apache-2.0
"""Sine and cosine within a quadrant: a small ROM, read at a and its mirror, corrected."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.generators import PIPELINED, SERIAL, SHARED
from ropeway.golden.sincos import (
    ADDRESS_BITS,
    CENTRE,
    DELTA_FRACTION_BITS,
    DELTA_SHIFT,
    ENTRY_BITS,
    FACTOR_BITS,
    OFFSET_BITS,
    PHASE_BITS,
    RAW_FRACTION_BITS,
    WIDENED,
    quarter_wave,
)

from .multipliers import Multiplier
from .primitives import DualRom, Rom
from .serial_products import SerialProducts, serial_latency
from .streams import delayed, held, pulse_stream, strobes

__all__ = ["SinCos", "raw_layout"]

CORRECTION_SHIFT = DELTA_FRACTION_BITS + FACTOR_BITS - RAW_FRACTION_BITS


def raw_layout(tag) -> data.StructLayout:
    """A quadrant, and cos and sin of the angle within it in units of 2^-23.

    ``small`` says that sin is less than cos; it may where they are equal.
    """
    word = unsigned(RAW_FRACTION_BITS)
    return data.StructLayout({"quadrant": 2, "small": 1, "cos": word, "sin": word, "tag": tag})


class SinCos(wiring.Component):
    """sin(a + δ) ≈ sin a + δ·cos a, and cos(a + δ) ≈ cos a − δ·sin a.

    ========= ======= ======== =========== =========
    form      latency interval multipliers ROM reads
    ========= ======= ======== =========== =========
    pipelined 5       1        2           2 a clock
    shared    6       3        1           1 a clock
    serial    13      14       none        1 a clock
    ========= ======= ======== =========== =========

    golden/sincos.py states the arithmetic; over all 2^24 phases the result is within 1.2 · 2^-20 of
    exact. What a shared or serial one takes stays for two clocks at least, the tag for the
    interval; so does what comes out, but that a shared one's cosine is there a clock early.

    Ports
    -----
    i : stream of {phase in 2^-24 turn, tag}, always ready; at most one every ``interval`` clocks
    o : stream of {quadrant, small, cos, sin, tag}
    """

    def __init__(self, generator: str, tag):
        self._generator = generator
        self.interval = {PIPELINED: 1, SHARED: 3, SERIAL: 14}[generator]
        phases = data.StructLayout({"phase": PHASE_BITS, "tag": tag})
        super().__init__({"i": In(pulse_stream(phases)), "o": Out(pulse_stream(raw_layout(tag)))})

    @property
    def latency(self) -> int:
        """Clocks from a phase to its cos and sin."""
        return {PIPELINED: 5, SHARED: 6, SERIAL: 3 + serial_latency(signed(FACTOR_BITS))}[
            self._generator
        ]

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        out = self.o.payload
        forms = {PIPELINED: self._pipelined, SHARED: self._shared, SERIAL: self._serially}
        cos, sin, others, valid = forms[self._generator](m, self._delta(m))
        m.d.comb += [
            out.cos.eq(cos),
            out.sin.eq(sin),
            Cat(out.quadrant, out.small, Value.cast(out.tag)).eq(others),
            self.o.valid.eq(valid),
        ]
        return m

    def _delta(self, m) -> Value:
        """Two clocks: the offset from the sample, in radians."""
        phase = self.i.payload.phase
        offset = Cat(phase[: OFFSET_BITS - 1], ~phase[OFFSET_BITS - 1]).as_signed()
        nine = Signal(signed(OFFSET_BITS + 4), reset_less=True)
        three = Signal(signed(OFFSET_BITS + 2), reset_less=True)
        scaled = Signal(signed(OFFSET_BITS + 8), reset_less=True)
        m.d.sync += [
            nine.eq(offset + (offset << 3)),
            three.eq(offset + (offset << 1)),
            scaled.eq(nine + (three << 6)),  # 201 = 9 + 64 · 3
        ]
        return scaled[DELTA_SHIFT:].as_signed()

    def _address(self) -> Value:
        return self.i.payload.phase[OFFSET_BITS : OFFSET_BITS + ADDRESS_BITS]

    def _others(self, m) -> Value:
        """Two clocks later: the quadrant, whether sin is small, and the tag.

        Sin is less than cos below an eighth of a turn, and there by rounding.
        """
        phase = self.i.payload.phase
        within = phase[: PHASE_BITS - 2]
        below = within[:-1]
        digits = [below[i : i + 4] for i in range(0, len(below), 4)]
        above = Signal(len(digits), reset_less=True)
        low, small = Signal(reset_less=True), Signal(reset_less=True)
        lowest = ~above.any()
        m.d.sync += [
            low.eq(~within[-1]),
            above.eq(Cat(digit.any() for digit in digits)),
            small.eq(low | lowest),
        ]
        rest = delayed(m, Cat(phase[PHASE_BITS - 2 :], Value.cast(self.i.payload.tag)), 2)
        return Cat(rest[:2], small, rest[2:])

    def _corrected(self, sample: Value, correction: Value, sign: int) -> Value:
        """A sample, its truncation made good, and its correction."""
        wide = Cat(C(CENTRE, WIDENED), sample)
        return wide + correction if sign > 0 else wide - correction

    def _pipelined(self, m, delta) -> tuple[Value, ...]:
        m.submodules.rom = rom = DualRom(ENTRY_BITS, quarter_wave())
        m.d.comb += [rom.a_address.eq(self._address()), rom.b_address.eq(~self._address())]

        # Two clocks: the corrections; one: their sums.
        results = []
        for name, sample, other, sign in (
            ("cos", rom.b_data, rom.a_data, -1),
            ("sin", rom.a_data, rom.b_data, 1),
        ):
            multiplier = Multiplier(signed(FACTOR_BITS), FACTOR_BITS)
            m.submodules[f"{name}_correction"] = multiplier
            m.d.comb += [
                multiplier.a.eq(delta),
                multiplier.b.eq(other[ENTRY_BITS - FACTOR_BITS :]),
            ]
            waited = delayed(m, sample, multiplier.latency, name=f"{name}_sample")
            result = Signal(RAW_FRACTION_BITS, reset_less=True, name=name)
            correction = multiplier.p[CORRECTION_SHIFT:].as_signed()
            m.d.sync += result.eq(self._corrected(waited, correction, sign))
            results.append(result)
        others = delayed(m, self._others(m), self.latency - 2, name="others")
        valid = delayed(m, self.i.valid, self.latency, reset_less=False, name="valid")
        return *results, others, valid

    def _samples(self, m, valid) -> tuple[Value, Value]:
        """The sample of sin from three clocks on, that of cos from the same; then they stay."""
        m.submodules.rom = rom = Rom(ENTRY_BITS, quarter_wave())
        m.d.comb += rom.address.eq(Mux(valid[0], self._address(), ~self._address()))
        return rom.data, held(m, rom.data, valid[Rom.latency], name="sin_sample")

    def _shared(self, m, delta) -> tuple[Value, ...]:
        valid = strobes(m, self.i.valid, self.latency)
        cos_sample, sin_sample = self._samples(m, valid)
        m.submodules.correction = multiplier = Multiplier(signed(FACTOR_BITS), FACTOR_BITS)
        m.d.comb += [
            multiplier.a.eq(delta),
            multiplier.b.eq(cos_sample[ENTRY_BITS - FACTOR_BITS :]),  # sin's, when it is read
        ]
        correction = multiplier.p[CORRECTION_SHIFT:].as_signed()
        near = delayed(m, cos_sample, 1, name="cos_sample")  # to the sum, far from the memory
        cos = held(m, self._corrected(near, correction, -1), valid[4], name="cos")
        sin = held(m, self._corrected(sin_sample, correction, 1), valid[5], name="sin")
        others = held(m, self._others(m), valid[2], name="early_others")
        return (
            cos[:RAW_FRACTION_BITS],
            sin[:RAW_FRACTION_BITS],
            held(m, others, valid[5], name="others"),
            valid[-1],
        )

    def _serially(self, m, delta) -> tuple[Value, ...]:
        valid = strobes(m, self.i.valid, Rom.latency)
        samples = self._samples(m, valid)
        m.submodules.corrections = serial = SerialProducts(
            2, FACTOR_BITS, signed(FACTOR_BITS), drop=CORRECTION_SHIFT
        )
        m.d.comb += [serial.start.eq(valid[-1]), serial.count.eq(delta)]
        for factor, sample in zip(serial.factors, samples[::-1], strict=True):
            m.d.comb += factor.eq(sample[ENTRY_BITS - FACTOR_BITS :])
        results = [
            held(m, self._corrected(sample, product, sign)[:RAW_FRACTION_BITS], serial.done)
            for sample, product, sign in zip(samples, serial.products, (-1, 1), strict=True)
        ]
        others = held(m, self._others(m), serial.done, name="others")
        return *results, others, delayed(m, serial.done, 1, reset_less=False, name="valid")
