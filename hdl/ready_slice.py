# SPDX-License-Identifier: Apache-2.0
"""A register slice of ready alone: valid and payload pass through it at once."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["ReadySlice"]


class ReadySlice(wiring.Component):
    """Latency none; one item a clock. ``i.ready`` is a register.

    Ports
    -----
    i, o : streams
    """

    i: stream.Interface
    o: stream.Interface

    latency = 0
    interval = 1

    def __init__(self, shape: ShapeLike):
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        payload_in, payload_out = Value.cast(self.i.payload), Value.cast(self.o.payload)
        spare, spare_valid = Signal.like(payload_in, reset_less=True), Signal()
        m.d.comb += [
            self.i.ready.eq(~spare_valid),
            self.o.valid.eq(self.i.valid | spare_valid),
            payload_out.eq(Mux(spare_valid, spare, payload_in)),
        ]
        m.d.sync += spare_valid.eq(self.o.valid & ~self.o.ready)
        with m.If(~spare_valid):
            m.d.sync += spare.eq(payload_in)
        return m
