# SPDX-License-Identifier: Apache-2.0
"""A deep queue in block RAM, whose output is the memory's own register."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from .primitives import Ram
from .streams import pulse_stream

__all__ = ["BeatQueue"]


class BeatQueue(wiring.Component):
    """Up to ``depth`` − 1 items; whoever fills it counts them.

    Latency 3 clocks; one item a clock. ``o.ready`` enables the memory.

    Parameters
    ----------
    shape : of an item
    depth : a power of two

    Ports
    -----
    i : stream, always ready
    o : stream
    """

    i: stream.Interface
    o: stream.Interface

    latency = Ram.latency + 1
    interval = 1

    def __init__(self, shape: ShapeLike, depth: int):
        self._depth, self._address_bits = depth, exact_log2(depth)
        super().__init__({"i": In(pulse_stream(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        payload_in, payload_out = Value.cast(self.i.payload), Value.cast(self.o.payload)
        m.submodules.items = items = Ram(len(payload_in), self._depth)
        head, tail = (Signal(self._address_bits, name=name) for name in ("head", "tail"))
        head_next = Signal(self._address_bits, init=1)
        filled, asked, moves, pop = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            moves.eq(self.o.ready | ~self.o.valid),
            pop.eq(moves & filled),
            items.write_enable.eq(self.i.valid),
            items.write_address.eq(tail),
            items.write_data.eq(payload_in),
            items.read_enable.eq(moves),
            items.read_address.eq(head),
        ]
        m.d.sync += [
            tail.eq(tail + self.i.valid),
            filled.eq(self.i.valid | Mux(pop, head_next != tail, filled)),
        ]
        with m.If(pop):
            m.d.sync += [head.eq(head_next), head_next.eq(head_next + 1)]
        with m.If(moves):
            m.d.sync += [asked.eq(filled), self.o.valid.eq(asked)]
        m.d.comb += payload_out.eq(items.read_data)
        return m
