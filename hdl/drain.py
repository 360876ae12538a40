# SPDX-License-Identifier: Apache-2.0
"""Reads results back in natural order and hands them out under back-pressure."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ropeway.golden.parameters import RopeParameters

from .fixed import add_with_carry
from .head_buffer import HeadBuffer
from .layouts import result_layout
from .queue import Queue
from .streams import connect, delayed
from .walker import Walker, buffer_depth

__all__ = ["Drain"]

QUEUE = 16  # beats: those on their way from the buffer, and more than as many again


class Drain(wiring.Component):
    """Takes a head's beats from the head buffer as soon as their operations are done.

    Latency 6 clocks from ``done`` to the beat at ``o``; one beat a clock.

    Ports
    -----
    done : In
        For one clock: an operation's words are in the buffer.
    read, address : Out
        That beat is read in this clock.
    words : In, in bank order, 2 clocks later
    bad : In
        The present token's framing was wrong; settled before its last beat.
    finished, finished_slot : Out
        For one clock: a token of that slot is done with.
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
                "finished_slot": Out(range(p.slots)),
                "address": Out(range(buffer_depth(p))),
                "o": Out(stream.Signature(result_layout(p))),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.walker = walker = self.walker
        m.submodules.queue = queue = Queue(result_layout(p), QUEUE, full_rate=True)

        # The walker is one beat ahead of the present one.
        upcoming, head = walker.place, walker.head
        valid, move, exchanged, last = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [move.eq(self.read | ~valid), walker.advance.eq(move)]
        with m.If(move):
            m.d.sync += [
                valid.eq(walker.valid),
                self.address.eq(upcoming.address),
                exchanged.eq(upcoming.split & upcoming.second & ~head.odd),
                last.eq(walker.last),
                self.finished_slot.eq(head.slot),
            ]
        loads = move & walker.valid
        enough = self._operations(m, upcoming, head, move, loads)
        room, spacious = Signal(range(QUEUE - 1), init=QUEUE - 2), Signal()
        taken = self.o.valid & self.o.ready
        m.d.sync += [
            room.eq(room - self.read + taken),
            spacious.eq(room > 2),  # two clocks late, and so far on the safe side
            self.read.eq(Mux(move, walker.valid, 1) & enough & spacious),
        ]
        m.d.comb += self.finished.eq(self.read & last)

        # The beat comes back in bank order.
        def waited(value, *, reset_less=True):
            return delayed(m, value, HeadBuffer.latency, reset_less=reset_less, name="waited")

        swap = waited(exchanged)
        item, arriving = queue.i.payload, Signal()
        m.d.sync += [
            arriving.eq(waited(self.read, reset_less=False)),
            Value.cast(item.data).eq(
                Mux(swap, Cat(self.words[1], self.words[0]), Cat(*self.words))
            ),
            item.last.eq(waited(last)),
            item.error.eq(waited(last & self.bad)),
        ]
        m.d.comb += queue.i.valid.eq(arriving)
        connect(m, queue.o, wiring.flipped(self.o))
        return m

    def _operations(self, m, upcoming, head, move: Value, loads: Value) -> Value:
        """Whether the next clock's beat has its operations.

        ``spare`` counts operations done beyond those that beats so far need. The words of a half-split
        block's first half come one an operation, and with them the second half is done.
        """
        width = bits_for(buffer_depth(self._p)) + 1
        spare, take = Signal(signed(width)), Signal(signed(width))
        with m.If(~upcoming.split):
            m.d.comb += take.eq(-1)
        with m.Elif(~upcoming.second):
            m.d.comb += take.eq(-2)
        with m.Else():
            m.d.comb += take.eq((upcoming.middle & head.odd).as_signed())
        stays, goes = Signal(signed(width)), Signal(signed(width))
        m.d.comb += [
            stays.eq(spare + self.done),
            goes.eq(add_with_carry(spare, take, self.done, width)),
        ]
        m.d.sync += spare.eq(Mux(loads, goes, stays))
        return Mux(move, ~goes[-1], ~stays[-1])
