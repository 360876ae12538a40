# SPDX-License-Identifier: Apache-2.0
"""A register slice of ready alone: valid and payload pass through it at once."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .streams import connect

__all__ = ["ReadySlice", "stepped"]


def stepped(m, name: str, source, *, when: bool = True):
    """A stream a register later behind a ReadySlice of that ``name``; itself where not ``when``.

    What stands in the register, be it nothing, goes when it is taken; who takes it must not wait
    for it.
    """
    if not when:
        return source
    m.submodules[name] = kept = ReadySlice(source.payload.shape())
    connect(m, source, kept.i)
    step = source.signature.create(path=(name,))
    m.d.comb += kept.o.ready.eq(step.ready)
    with m.If(step.ready):
        m.d.sync += [step.valid.eq(kept.o.valid), step.payload.eq(kept.o.payload)]
    return step


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
