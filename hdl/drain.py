# SPDX-License-Identifier: Apache-2.0
"""Reads results back in natural order and hands them out under back-pressure."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .head_buffer import HeadBuffer
from .layouts import result_layout
from .streams import delayed
from .walker import Walker, buffer_depth

__all__ = ["Drain"]

QUEUE = 8  # beats: those on their way from the buffer, and as many more


class Drain(wiring.Component):
    """Takes a head's beats from the head buffer as soon as their operations are done.

    Latency 5 clocks from ``done`` to the beat at ``o``; one beat a clock.

    Ports
    -----
    done : In
        For one clock: an operation's words are in the buffer.
    read : Out
        The beat of ``walker.place`` is read in this clock.
    words : In, in bank order, 2 clocks later
    bad : In
        The present token's framing was wrong; settled before its last beat.
    finished : Out
        For one clock: the present token is done with.
    o : stream of results
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        self.walker = Walker(p)
        super().__init__(
            {
                "done": In(1),
                "read": Out(1),
                "words": In(p.lanes * p.data_bits).array(2),
                "bad": In(1),
                "finished": Out(1),
                "o": Out(stream.Signature(result_layout(p))),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.walker = walker = self.walker
        place, odd = walker.place, walker.geometry_now.odd

        # Operations done beyond those that earlier beats needed. Words of a half-split block's first
        # half come one an operation; with them the second half is done.
        operations = Signal(range(buffer_depth(p) + 1))
        needed = Signal(2)
        with m.If(~place.split):
            m.d.comb += needed.eq(1)
        with m.Elif(~place.second):
            m.d.comb += needed.eq(2)
        with m.Else():
            m.d.comb += needed.eq(place.middle & odd)
        m.d.sync += operations.eq(operations + self.done - Mux(self.read, needed, 0))

        room = Signal(range(QUEUE + 1), init=QUEUE)
        m.submodules.queue = queue = SyncFIFO(width=result_layout(p).size, depth=QUEUE)
        m.d.sync += room.eq(room - self.read + (queue.r_rdy & queue.r_en))
        m.d.comb += [
            self.read.eq(walker.valid & (operations >= needed) & (room != 0)),
            walker.advance.eq(self.read),
            self.finished.eq(self.read & walker.last),
        ]

        # The beat comes back in bank order.
        def waited(value, *, reset_less=True):
            return delayed(m, value, HeadBuffer.latency, reset_less=reset_less, name="waited")

        exchanged = waited(place.split & place.second & ~odd)
        result = Signal(result_layout(p), reset_less=True)
        arriving = Signal()
        beat = Mux(exchanged, Cat(self.words[1], self.words[0]), Cat(*self.words))
        m.d.sync += [
            arriving.eq(waited(self.read, reset_less=False)),
            Value.cast(result.data).eq(beat),
            result.last.eq(waited(walker.last)),
            result.error.eq(waited(walker.last & self.bad)),
        ]
        m.d.comb += [queue.w_en.eq(arriving), queue.w_data.eq(result)]

        # The port is a register.
        with m.If(~self.o.valid | self.o.ready):
            m.d.comb += queue.r_en.eq(1)
            m.d.sync += self.o.valid.eq(queue.r_rdy)
            with m.If(queue.r_rdy):
                m.d.sync += Value.cast(self.o.payload).eq(queue.r_data)
        return m
