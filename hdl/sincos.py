# SPDX-License-Identifier: Apache-2.0
"""Sine and cosine within a quadrant: a small ROM, read at a and its mirror, corrected."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

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

from .primitives import DualRom, Multiplier
from .streams import delayed, pulse_stream

__all__ = ["SinCos", "raw_layout"]


def raw_layout(tag) -> data.StructLayout:
    """A quadrant, and cos and sin of the angle within it in units of 2^-23."""
    word = unsigned(RAW_FRACTION_BITS)
    return data.StructLayout({"quadrant": 2, "cos": word, "sin": word, "tag": tag})


class SinCos(wiring.Component):
    """sin(a + δ) ≈ sin a + δ·cos a, and cos(a + δ) ≈ cos a − δ·sin a.

    Latency 5 clocks, a pair of results every clock; two multipliers. golden/sincos.py states the
    arithmetic; over all 2^24 phases the result is within 1.2 · 2^-20 of exact.

    Ports
    -----
    i : stream of {phase in 2^-24 turn, tag}, always ready
    o : stream of {quadrant, cos, sin, tag}
    """

    latency = 5
    interval = 1

    def __init__(self, tag):
        phases = data.StructLayout({"phase": PHASE_BITS, "tag": tag})
        super().__init__({"i": In(pulse_stream(phases)), "o": Out(pulse_stream(raw_layout(tag)))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        phase = self.i.payload.phase
        address = phase[OFFSET_BITS : OFFSET_BITS + ADDRESS_BITS]

        # Two clocks: the samples; meanwhile the offset from them, in radians.
        m.submodules.rom = rom = DualRom(ENTRY_BITS, quarter_wave())
        m.d.comb += [rom.a_address.eq(address), rom.b_address.eq(~address)]
        offset = Cat(phase[: OFFSET_BITS - 1], ~phase[OFFSET_BITS - 1]).as_signed()
        nine = Signal(signed(OFFSET_BITS + 4), reset_less=True)
        three = Signal(signed(OFFSET_BITS + 2), reset_less=True)
        scaled = Signal(signed(OFFSET_BITS + 8), reset_less=True)
        m.d.sync += [
            nine.eq(offset + (offset << 3)),
            three.eq(offset + (offset << 1)),
            scaled.eq(nine + (three << 6)),  # 201 = 9 + 64 · 3
        ]
        delta = scaled >> DELTA_SHIFT

        # Two clocks: the corrections.
        results = []
        for name, sample, other in (
            ("cos", rom.b_data, rom.a_data),
            ("sin", rom.a_data, rom.b_data),
        ):
            multiplier = Multiplier(signed(FACTOR_BITS), FACTOR_BITS)
            m.submodules[f"{name}_correction"] = multiplier
            m.d.comb += [
                multiplier.a.eq(delta),
                multiplier.b.eq(other[ENTRY_BITS - FACTOR_BITS :]),
            ]
            held = delayed(m, sample, multiplier.latency, name=f"{name}_sample")

            # One clock: the corrected sample, its truncation made good.
            wide = Cat(C(CENTRE, WIDENED), held)
            shift = DELTA_FRACTION_BITS + FACTOR_BITS - RAW_FRACTION_BITS
            result = Signal(RAW_FRACTION_BITS, reset_less=True, name=name)
            correction = multiplier.p >> shift
            m.d.sync += result.eq(wide - correction if name == "cos" else wide + correction)
            results.append(result)

        quadrant = delayed(m, phase[PHASE_BITS - 2 :], self.latency, name="quadrant")
        tag = delayed(m, Value.cast(self.i.payload.tag), self.latency, name="tag")
        m.d.comb += [
            self.o.payload.quadrant.eq(quadrant),
            self.o.payload.cos.eq(results[0]),
            self.o.payload.sin.eq(results[1]),
            Value.cast(self.o.payload.tag).eq(tag),
            self.o.valid.eq(delayed(m, self.i.valid, self.latency, reset_less=False, name="valid")),
        ]
        return m
