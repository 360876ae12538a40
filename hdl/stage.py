# SPDX-License-Identifier: Apache-2.0
"""A register slice of one place: half a skid buffer's size, and half its rate."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Stage"]


class Stage(wiring.Component):
    """Latency 1 clock; one item every 2 clocks. ``i.ready``, ``o`` are registers or their inverse.

    Ports
    -----
    i, o : streams
    """

    i: stream.Interface
    o: stream.Interface

    latency = 1
    interval = 2

    def __init__(self, shape: ShapeLike):
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.d.comb += self.i.ready.eq(~self.o.valid)
        with m.If(~self.o.valid):
            m.d.sync += [self.o.valid.eq(self.i.valid), self.o.payload.eq(self.i.payload)]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        return m
