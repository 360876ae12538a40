# SPDX-License-Identifier: Apache-2.0
"""Reads results back in natural order and hands them out under back-pressure."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .fixed import counted
from .head_buffer import HeadBuffer
from .layouts import result_layout
from .ledger import Ledger
from .queue import Queue
from .skid import Skid
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
                "words": In(p.lanes * p.output_bits).array(2),
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
        m.submodules.queue = queue = Queue(result_layout(p), QUEUE, full_rate=True)

        steps = self._steps(m)
        step = steps.o.payload

        # A beat is read when the operations it needs are done and the queue has room.
        m.submodules.operations = operations = Ledger(buffer_depth(p))
        valid, moves, present = Signal(), Signal(), Signal(step.shape())
        m.d.comb += [
            moves.eq(self.read | ~valid),
            steps.o.ready.eq(moves),
            operations.loads.eq(moves & steps.o.valid),
            operations.take.eq(step.take),
            operations.gain.eq(self.done),
        ]
        with m.If(moves):
            m.d.sync += [valid.eq(steps.o.valid), present.eq(step)]
        room, spacious = Signal(range(QUEUE), init=QUEUE - 1), Signal()
        m.d.sync += [
            room.eq(counted(room, self.o.valid & self.o.ready, self.read)),
            spacious.eq(room > 3),  # `read` is three clocks late, and so far on the safe side
            self.read.eq(
                Mux(moves, steps.o.valid & operations.enough_after, operations.enough) & spacious
            ),
        ]
        m.d.comb += [
            self.address.eq(present.address),
            self.finished.eq(self.read & present.last),
            self.finished_slot.eq(present.slot),
        ]

        # The beat comes back in bank order.
        def waited(value, *, reset_less=True):
            return delayed(m, value, HeadBuffer.latency, reset_less=reset_less, name="waited")

        exchanged = waited(present.exchanged)
        item, arriving = queue.i.payload, Signal()
        m.d.sync += [
            arriving.eq(waited(self.read, reset_less=False)),
            Value.cast(item.data).eq(
                Mux(exchanged, Cat(self.words[1], self.words[0]), Cat(*self.words))
            ),
            item.last.eq(waited(present.last)),
            item.error.eq(waited(present.last & self.bad)),
        ]
        m.d.comb += queue.i.valid.eq(arriving)
        connect(m, queue.o, wiring.flipped(self.o))
        return m

    def _steps(self, m) -> Skid:
        """The walker's beats, and the operations that each needs beyond the one before.

        The words of a half-split block's first half come one an operation, and with them the second
        half is done.
        """
        m.submodules.walker = walker = self.walker
        place, head = walker.place, walker.head
        layout = data.StructLayout(
            {
                "address": place.address.shape(),
                "exchanged": 1,
                "last": 1,
                "slot": head.slot.shape(),
                "take": signed(2),
            }
        )
        m.submodules.steps = steps = Skid(layout)
        step = steps.i.payload
        m.d.comb += [
            walker.advance.eq(steps.i.ready),
            steps.i.valid.eq(walker.valid),
            step.address.eq(place.address),
            step.exchanged.eq(place.split & place.second & ~head.odd),
            step.last.eq(walker.last),
            step.slot.eq(head.slot),
        ]
        with m.If(~place.split):
            m.d.comb += step.take.eq(-1)
        with m.Elif(~place.second):
            m.d.comb += step.take.eq(-2)
        with m.Else():
            m.d.comb += step.take.eq((place.middle & head.odd).as_signed())
        return steps
