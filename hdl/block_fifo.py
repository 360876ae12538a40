# SPDX-License-Identifier: Apache-2.0
"""A first-in first-out memory of block RAM and little else, for what comes and goes slowly."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .fixed import counted
from .primitives import Ram
from .streams import pulse_stream

__all__ = ["BlockFifo"]


class BlockFifo(wiring.Component):
    """Exactly ``depth`` items. Latency 3 clocks; one item every 3 clocks out, every clock in.

    Parameters
    ----------
    shape : of an item
    depth : a power of two

    Ports
    -----
    i : stream, always ready
        What comes while it is ``full`` is lost.
    full : Out
    o : stream
    level : Out
        Items in it; whether they are already on offer or not.
    """

    i: stream.Interface
    full: Signal
    o: stream.Interface
    level: Signal

    def __init__(self, shape: ShapeLike, depth: int):
        self._depth = depth
        super().__init__(
            {
                "i": In(pulse_stream(shape)),
                "full": Out(1),
                "o": Out(stream.Signature(shape)),
                "level": Out(range(depth + 1)),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        payload_in, payload_out = Value.cast(self.i.payload), Value.cast(self.o.payload)
        m.submodules.items = items = Ram(len(payload_in), self._depth)
        head, tail = Signal(range(self._depth)), Signal(range(self._depth))
        push, pop, read = Signal(), Signal(), Signal(items.latency)
        m.d.comb += [
            self.full.eq(self.level[-1]),
            push.eq(self.i.valid & ~self.full),
            pop.eq(self.o.valid & self.o.ready),
            items.write_enable.eq(push),
            items.write_address.eq(tail),
            items.write_data.eq(payload_in),
            items.read_address.eq(head),
            payload_out.eq(items.read_data),
            self.o.valid.eq(read[-1]),
        ]
        m.d.sync += [
            tail.eq(tail + push),
            head.eq(head + pop),
            self.level.eq(counted(self.level, push, pop)),
            # As long ago as the memory takes, its head was there and the same as now.
            read.eq(Mux(pop, 0, Cat(self.level.any(), read))),
        ]
        return m
