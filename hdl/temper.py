# SPDX-License-Identifier: Apache-2.0
"""The amplitude of a row for tempered queries: the slot's times the token's temperature."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.table import AMPLITUDE_BITS
from ropeway.golden.temperature import LARGEST, ONE, SMALLEST

from .layouts import amplitude_layout
from .multipliers import Multiplier
from .streams import delayed

__all__ = ["Temper"]


class Temper(wiring.Component):
    """The product of an amplitude and a temperature, as golden/temperature.py's ``tempered``.

    Latency 5 clocks, a product every clock; one multiplier. A temperature of 1, the word 0, passes
    the amplitude bit for bit.

    Ports
    -----
    amplitude, temperature : In
    product : Out
        An amplitude.
    clamped : Out
        The product was out of range, and ``product`` is the nearest amplitude.
    """

    latency = 5
    interval = 1

    def __init__(self):
        super().__init__(
            {
                "amplitude": In(amplitude_layout()),
                "temperature": In(amplitude_layout()),
                "product": Out(amplitude_layout()),
                "clamped": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        a, b = self.amplitude, self.temperature
        plain = ~Value.cast(b).any()
        m.submodules.product = multiplier = Multiplier(a.code.shape(), b.code.shape())
        m.d.comb += [multiplier.a.eq(a.code), multiplier.b.eq(b.code)]

        # Two clocks: (1 + a)(1 + b) = 1 + a + b + ab; meanwhile the sum.
        total = Signal(signed(AMPLITUDE_BITS + 2), reset_less=True)
        m.d.sync += total.eq(a.code + b.code)
        total = delayed(m, total, multiplier.latency - 1, name="total")
        product = Signal(AMPLITUDE_BITS + 2, reset_less=True)
        half = 1 << AMPLITUDE_BITS - 1
        m.d.sync += product.eq(ONE + total + ((multiplier.p + half) >> AMPLITUDE_BITS))

        # One clock each: both scales, and what the word holds of it.
        def waited(value, clocks):
            return delayed(m, value, clocks, name="waited")

        passes, passed = waited(plain, 4), waited(Value.cast(a), 4)
        scales = waited(Cat(a.scale, b.scale), 3)
        scaled = Signal(AMPLITUDE_BITS + 4, reset_less=True)
        doubled = Mux(scales.any(), product << 1, product)
        m.d.sync += scaled.eq(Mux(scales.all(), product << 2, doubled))
        halved = Signal(AMPLITUDE_BITS + 3)
        m.d.comb += halved.eq((scaled >> 1) + scaled[0])
        out = self.product
        m.d.sync += [out.scale.eq(scaled > LARGEST), self.clamped.eq(0)]
        with m.If(passes):
            m.d.sync += Value.cast(out).eq(passed)
        with m.Elif(scaled < SMALLEST):
            m.d.sync += [out.code.eq(SMALLEST - ONE), self.clamped.eq(1)]
        with m.Elif(scaled <= LARGEST):
            m.d.sync += out.code.eq(scaled - ONE)
        with m.Elif(halved <= LARGEST):
            m.d.sync += out.code.eq(halved - ONE)
        with m.Else():
            m.d.sync += [out.code.eq(LARGEST - ONE), self.clamped.eq(1)]
        return m
