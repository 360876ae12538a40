# SPDX-License-Identifier: Apache-2.0
"""Reads results back in natural order and hands them out under back-pressure."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .layouts import exit_layout, result_layout
from .ledger import Ledger
from .ready_slice import ReadySlice, stepped
from .streams import connect
from .walker import buffer_depth

__all__ = ["Drain"]


class Drain(wiring.Component):
    """Takes a head's beats from the head buffer as soon as their operations are done.

    The buffer's own registers are the last of the pipeline, which moves on as a whole. Latency 4
    clocks from ``done`` to the beat at ``o``; one beat a clock.

    Ports
    -----
    i : stream of what each beat's reading is to know
    done : In
        For one clock: an operation's words are in the buffer from the second clock after on.
    read_enable, address : Out
        Of the buffer.
    left : Out
        For one clock: a beat's place is free.
    words : In, in bank order, 2 enabled clocks later
    finished, finished_slot : Out
        For one clock: a token of that slot is done with.
    o : stream of results
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        super().__init__(
            {
                "i": In(stream.Signature(exit_layout(p))),
                "done": In(1),
                "read_enable": Out(1),
                "address": Out(range(buffer_depth(p))),
                "left": Out(1),
                "words": In(p.lanes * p.output_bits).array(2),
                "finished": Out(1),
                "finished_slot": Out(range(p.slots)),
                "o": Out(stream.Signature(result_layout(p))),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p

        # A beat is asked for when the operations that it needs are done.
        m.submodules.operations = operations = Ledger(buffer_depth(p))
        coming = stream.Signature(_coming_layout(p)).create()
        m.d.comb += [
            coming.valid.eq(self.i.valid),
            coming.payload.exit.eq(self.i.payload),
            coming.payload.take.eq(Mux(self.i.valid, -self.i.payload.needs, 0)),
            self.i.ready.eq(coming.ready),
        ]
        given = stepped(m, "ahead", coming, when=p.relayed)
        valid, asks, moves, goes_on = Signal(), Signal(), Signal(), Signal()
        present = Signal(exit_layout(p))
        m.d.comb += [
            moves.eq((asks & goes_on) | ~valid),
            given.ready.eq(moves),
            operations.loads.eq(moves),  # of what is not offered, nothing
            operations.take.eq(given.payload.take),
            operations.gain.eq(self.done),
        ]
        with m.If(moves):
            m.d.sync += [
                valid.eq(given.valid),
                asks.eq(given.valid & operations.enough_after),
                present.eq(given.payload.exit),
            ]
        with m.Else():
            m.d.sync += asks.eq(operations.enough)

        # It comes back in bank order.
        marks = data.StructLayout({"exchanged": 1, "last": 1, "error": 1})
        reads, asked, marked = Signal(), Signal(marks), Signal(marks)
        asking = stream.Signature(marks).create()
        m.d.comb += [
            asking.valid.eq(asks),
            asking.payload.exchanged.eq(present.exchanged),
            asking.payload.last.eq(present.last),
            asking.payload.error.eq(present.bad),
            goes_on.eq(asking.ready),
        ]
        out = stream.Signature(result_layout(p)).create()
        if p.distant:
            # Who takes the results does not reach all memories within a clock: a register does,
            # which says what the slice's ready says.
            m.submodules.results = results = ReadySlice(result_layout(p))
            connect(m, out, results.i)
            connect(m, results.o, wiring.flipped(self.o))
            goes = Signal(init=1)
            m.d.sync += goes.eq(self.o.ready | ~self.o.valid)
            m.d.comb += self.read_enable.eq(goes)
        else:
            connect(m, out, wiring.flipped(self.o))
            m.d.comb += self.read_enable.eq(out.ready | ~out.valid)
        if p.relayed:
            # Nor does the results' ready reach the gate within a clock.
            m.submodules.kept = kept = ReadySlice(marks)
            connect(m, asking, kept.i)
            asking = kept.o
        m.d.comb += [
            asking.ready.eq(self.read_enable),
            self.left.eq(reads & self.read_enable),
            self.finished.eq(asks & goes_on & present.last),
            self.finished_slot.eq(present.slot),
            Value.cast(out.payload.data).eq(
                Mux(marked.exchanged, Cat(self.words[1], self.words[0]), Cat(*self.words))
            ),
            out.payload.last.eq(marked.last),
            out.payload.error.eq(marked.error),
        ]
        with m.If(self.read_enable & asking.valid):
            m.d.sync += self.address.eq(self.address + 1)
        with m.If(self.read_enable):
            m.d.sync += [
                reads.eq(asking.valid),
                asked.eq(asking.payload),
                out.valid.eq(reads),
                marked.eq(asked),
            ]
        return m


def _coming_layout(p: RopeParameters) -> data.StructLayout:
    """What a beat's reading is to know, and what it takes of the operations done."""
    return data.StructLayout({"exit": exit_layout(p), "take": signed(3)})
