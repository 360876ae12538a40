# SPDX-License-Identifier: Apache-2.0
"""The amplitude on cos and sin, and the coefficients that a rotation multiplies by."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.sincos import RAW_FRACTION_BITS
from ropeway.golden.table import AMPLITUDE_BITS

from .layouts import amplitude_layout, coefficient_layout
from .primitives import Multiplier
from .sincos import raw_layout
from .streams import delayed, pulse_stream

__all__ = ["Amplitude"]


class Amplitude(wiring.Component):
    """raw + (amplitude − 1)·raw, rounded half up to the coefficients' width.

    Latency 5 clocks with three-multiplier coefficients, whose exact sum and difference take the
    last two, or 3 with four; one pair a clock; two multipliers. The cut of sum and difference keeps
    the rotation's bits those of four multipliers, since neither is rounded again.

    Ports
    -----
    i : stream of {quadrant, cos, sin, tag}, always ready
    amplitude : In
        Of the pair at ``i``.
    o : stream of {coefficients, tag}
    soon : Out
        A pair comes at ``o`` in the next clock.
    """

    interval = 1

    def __init__(self, p: RopeParameters, tag):
        self._p = p
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
        return 5 if self._p.multipliers == 3 else 3

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p, out = self._p, self.o.payload.coefficients
        cos = self._scaled(m, "cos", self.i.payload.cos)
        sin = self._scaled(m, "sin", self.i.payload.sin)

        if p.multipliers == 3:
            cos, total, difference, negative = self._combined(m, cos, sin)
            m.d.comb += [
                out.sum.eq(total),
                out.difference.eq(difference),
                out.negative.eq(negative),
            ]
        else:
            m.d.comb += out.sin.eq(sin)

        m.d.comb += [
            out.cos.eq(cos),
            out.quadrant.eq(delayed(m, self.i.payload.quadrant, self.latency, name="quadrant")),
            out.scale.eq(delayed(m, self.amplitude.scale, self.latency, name="scale")),
            Value.cast(self.o.payload.tag).eq(
                delayed(m, Value.cast(self.i.payload.tag), self.latency, name="tag")
            ),
            self.soon.eq(delayed(m, self.i.valid, self.latency - 1, reset_less=False, name="soon")),
            self.o.valid.eq(delayed(m, self.soon, 1, reset_less=False, name="valid")),
        ]
        return m

    def _scaled(self, m, name: str, raw: Value) -> Value:
        """Three clocks: the product, and the sum that rounds."""
        bits = self._p.coefficient_bits
        code = self.amplitude.code >> AMPLITUDE_BITS - bits
        m.submodules[f"{name}_product"] = multiplier = Multiplier(bits, signed(bits))
        m.d.comb += [
            multiplier.a.eq(raw >> RAW_FRACTION_BITS - bits),
            multiplier.b.eq(code),
        ]
        dropped = RAW_FRACTION_BITS - self._p.fraction_bits
        held = delayed(m, raw, 1, name=f"{name}_raw")
        halved = Signal(RAW_FRACTION_BITS + 1, reset_less=True, name=f"{name}_halved")
        m.d.sync += halved.eq(held + (1 << dropped - 1))
        scaled = Signal(RAW_FRACTION_BITS + 1, reset_less=True, name=f"{name}_scaled")
        m.d.sync += scaled.eq(halved + (multiplier.p >> 2 * bits - RAW_FRACTION_BITS))
        return scaled[dropped:]

    def _combined(self, m, cos: Value, sin: Value):
        """Two clocks: cos + sin, and the magnitude and sign of sin − cos; all exact."""
        width = len(cos)
        total = Signal(width, reset_less=True)
        forward = Signal(signed(width + 1), reset_less=True)
        backward = Signal(width, reset_less=True)
        m.d.sync += [
            total.eq(cos + sin),
            forward.eq(sin - cos),
            backward.eq(cos - sin),
        ]
        negative = forward[-1]
        magnitude = Signal(width, reset_less=True)
        m.d.sync += magnitude.eq(Mux(negative, backward, forward[:width]))
        return (
            delayed(m, cos, 2, name="cos_word"),
            delayed(m, total, 1, name="sum_word"),
            magnitude,
            delayed(m, negative, 1, name="negative_word"),
        )
