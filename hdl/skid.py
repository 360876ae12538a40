# SPDX-License-Identifier: Apache-2.0
"""A register slice: two places, so that neither ready nor valid passes through it."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .streams import connect

__all__ = ["Skid", "sliced"]


def sliced(m, name: str, source, *, when: bool = True):
    """A stream behind a register slice of that ``name``, or itself where not ``when``."""
    if not when:
        return source
    m.submodules[name] = skid = Skid(source.payload.shape())
    connect(m, source, skid.i)
    return skid.o


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
        comes, waits = self.i.valid | spare_valid, self.o.valid & ~self.o.ready
        m.d.comb += self.i.ready.eq(~spare_valid)
        m.d.sync += [self.o.valid.eq(comes | waits), spare_valid.eq(comes & waits)]
        with m.If(self.o.ready | ~self.o.valid):
            m.d.sync += payload_out.eq(Mux(spare_valid, spare, payload_in))
        with m.If(~spare_valid):
            m.d.sync += spare.eq(payload_in)
        return m
