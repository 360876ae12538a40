# SPDX-License-Identifier: Apache-2.0
"""A small first-in first-out queue that cuts every path through it."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

__all__ = ["Queue"]


class Queue(wiring.Component):
    """``depth`` items in distributed RAM and one more in the output register.

    Latency 2 clocks; one item a clock. ``i.ready``, ``o.valid`` and ``o.payload`` are registers.

    Parameters
    ----------
    shape : of an item
    depth : a power of two, at least 4

    Ports
    -----
    i, o : streams
    """

    i: stream.Interface
    o: stream.Interface

    latency = 2

    def __init__(self, shape: ShapeLike, depth: int):
        self._depth = depth
        self._address_bits = exact_log2(depth)
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        payload_in, payload_out = Value.cast(self.i.payload), Value.cast(self.o.payload)
        m.submodules.items = items = Memory(shape=len(payload_in), depth=self._depth, init=[])
        write, read = items.write_port(), items.read_port(domain="comb")
        head, tail = Signal(self._address_bits), Signal(self._address_bits)
        level = Signal(range(self._depth + 1))

        push, pop, filled = Signal(), Signal(), Signal()
        m.d.comb += [
            push.eq(self.i.valid & self.i.ready),
            pop.eq(filled & (~self.o.valid | self.o.ready)),
            write.en.eq(push),
            write.addr.eq(tail),
            write.data.eq(payload_in),
            read.addr.eq(head),
        ]
        m.d.sync += [
            tail.eq(tail + push),
            head.eq(head + pop),
            level.eq(level + push - pop),
            # Exact, or deadlock: the last item has to come out.
            filled.eq(push | (level > 1) | ((level == 1) & ~pop)),
            # Two clocks of pushes must fit.
            self.i.ready.eq(level < self._depth - 1),
        ]
        with m.If(~self.o.valid | self.o.ready):
            m.d.sync += self.o.valid.eq(filled)
        with m.If(pop):
            m.d.sync += payload_out.eq(read.data)
        return m
