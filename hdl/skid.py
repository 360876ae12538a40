# SPDX-License-Identifier: Apache-2.0
"""A register slice: two places, so that neither ready nor valid passes through it."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Skid"]


class Skid(wiring.Component):
    """Latency 1 clock; one item a clock. ``i.ready``, ``o.valid`` and ``o.payload`` are registers.

    Ports
    -----
    i, o : streams
    """

    i: stream.Interface
    o: stream.Interface

    latency = 1
    interval = 1

    def __init__(self, shape: ShapeLike):
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        payload_in, payload_out = Value.cast(self.i.payload), Value.cast(self.o.payload)
        spare, spare_valid = Signal.like(payload_in, reset_less=True), Signal()
        m.d.comb += self.i.ready.eq(~spare_valid)
        with m.If(self.o.ready | ~self.o.valid):
            m.d.sync += [
                self.o.valid.eq(self.i.valid | spare_valid),
                payload_out.eq(Mux(spare_valid, spare, payload_in)),
                spare_valid.eq(0),
            ]
        with m.Elif(~spare_valid):
            m.d.sync += spare_valid.eq(self.i.valid)
        with m.If(~spare_valid):
            m.d.sync += spare.eq(payload_in)
        return m
