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
    """Up to ``depth`` items, the oldest in the output register and the others in distributed RAM.

    Latency 2 clocks; one item every 2 clocks, or every clock with ``full_rate``, whose output register
    is filled in the clock it is emptied. ``i.ready``, ``o.valid`` and ``o.payload`` are registers. At
    least ``depth`` − 3 items are taken while none is given.

    Parameters
    ----------
    shape : of an item
    depth : a power of two, at least 16

    Ports
    -----
    i, o : streams
    spacious : Out
        Four more than ``i.ready`` promises still fit; for producers that look ahead.
    """

    i: stream.Interface
    o: stream.Interface

    latency = 2

    def __init__(self, shape: ShapeLike, depth: int, *, full_rate: bool = False):
        self._depth, self._full_rate = depth, full_rate
        self._address_bits = exact_log2(depth)
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(shape)),
                "spacious": Out(1),
            }
        )

    @property
    def interval(self) -> int:
        """Clocks an item."""
        return 1 if self._full_rate else 2

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        payload_in, payload_out = Value.cast(self.i.payload), Value.cast(self.o.payload)
        m.submodules.items = items = Memory(shape=len(payload_in), depth=self._depth, init=[])
        write, read = items.write_port(), items.read_port(domain="comb")
        head, tail, kept = (Signal(self._address_bits, name=n) for n in ("head", "tail", "kept"))
        head_next, tail_next = (
            Signal(self._address_bits, init=1, name=n) for n in ("head_next", "tail_next")
        )

        push, pop, filled = Signal(), Signal(), Signal()
        m.d.comb += [
            push.eq(self.i.valid & self.i.ready),
            pop.eq(filled & (~self.o.valid | (self.o.ready if self._full_rate else 0))),
            write.en.eq(push),
            write.addr.eq(tail),
            write.data.eq(payload_in),
            read.addr.eq(head),
        ]
        m.d.sync += [
            filled.eq(push | Mux(pop, head_next != tail, filled)),
            # Two clocks late: what is pushed until it shows still fits.
            kept.eq(tail - head),
            self.i.ready.eq(~kept[2:].all()),
            self.spacious.eq(~kept[3:].all()),
        ]
        with m.If(push):
            m.d.sync += [tail.eq(tail_next), tail_next.eq(tail_next + 1)]
        with m.If(pop):
            m.d.sync += [head.eq(head_next), head_next.eq(head_next + 1)]
            m.d.sync += payload_out.eq(read.data)
        m.d.sync += self.o.valid.eq(pop | (self.o.valid & ~self.o.ready))
        return m
