# SPDX-License-Identifier: Apache-2.0
"""Issues pair operations, each as soon as its words, coefficients and room are there."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .fixed import counted
from .layouts import pass_through_layout, step_layout
from .ledger import Ledger, UnitLedger
from .ready_slice import stepped
from .walker import buffer_depth

__all__ = ["Sequencer", "operation_layout", "take_of"]


def operation_layout(p: RopeParameters) -> data.StructLayout:
    """A pair operation: where its words are and go, and what turns them.

    ``exchanged``: the first word is in bank 1. ``turns``: by the row's ``entry``; else it passes.
    ``split``: its pairs are half-split. ``scaled``: how it is multiplied where it passes.
    """
    address = range(buffer_depth(p))
    flags = dict.fromkeys(("exchanged", "turns", "split"), 1)
    fields = {"first": address, "second": address, "entry": range(p.max_head_beats)} | flags
    if p.temperature:
        fields["scaled"] = pass_through_layout(p)
    return data.StructLayout(fields)


class Sequencer(wiring.Component):
    """Two gates for operations: one waits for their words, the other for their row entry.

    An operation takes two words and gives two: a beat's as it stands, or words g and n + g of a
    half-split rotary block. What follows it never waits, so it goes only when the buffer behind the
    rotator has room. Latency 1 clock from the row entry that an operation needs to its ``issue``, 3
    from the beats; one operation a clock.

    Ports
    -----
    i : stream of steps, one a beat
    issue, operation : Out
        The operation goes in this clock.
    row : Out
        The row it uses.
    arrived, written, drained : In
        For one clock each: a beat is in the buffer in the next clock, a row entry is whole, a beat
        has left.
    row_released : Out
        For one clock: a row is done with.
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        super().__init__(
            {
                "i": In(stream.Signature(step_layout(p))),
                "issue": Out(1),
                "operation": Out(operation_layout(p)),
                "row": Out(range(p.rows), init=p.rows - 1),
                "arrived": In(1),
                "written": In(1),
                "drained": In(1),
                "row_released": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.beats = beats = Ledger(buffer_depth(p))
        m.submodules.entries = entries = UnitLedger(p.rows * p.max_head_beats)
        # What is not offered is not fresh, and with registers between takes nothing: so the gate
        # may load what there is.
        coming = stream.Signature(step_layout(p)).create()
        m.d.comb += [
            coming.valid.eq(self.i.valid),
            coming.payload.eq(self.i.payload),
            coming.payload.fresh.eq(self.i.payload.fresh & self.i.valid),
            self.i.ready.eq(coming.ready),
        ]
        if p.relayed:
            m.d.comb += coming.payload.take.eq(Mux(self.i.valid, self.i.payload.take, 0))
        given = stepped(m, "ahead", coming, when=p.relayed)
        step = given.payload

        # The gate of words: it opens on an operation whose beats have arrived.
        waiting, valid, open_, wants = Signal(step_layout(p)), Signal(), Signal(), Signal()
        next_moves, moves, goes_on = Signal(), Signal(), Signal()
        # Where the beat that comes stands, the one that waits, and, where it opens a half-split
        # block, what is paired with it.
        address = range(buffer_depth(p))
        place, own, paired = (Signal(address, name=name) for name in ("place", "own", "paired"))
        m.d.comb += [
            moves.eq((open_ & next_moves) | ~valid),
            given.ready.eq(moves),
            beats.loads.eq(moves if p.relayed else moves & given.valid),
            beats.take.eq(step.take if p.relayed else take_of(step)),
            beats.gain.eq(self.arrived),
        ]
        with m.If(moves):
            m.d.sync += [
                valid.eq(given.valid),
                open_.eq(given.valid & beats.enough_after),
                wants.eq(beats.enough_after & step.fresh),
                waiting.eq(step),
                goes_on.eq(step.split & ~step.opens),
                place.eq(place + given.valid),
                own.eq(place),
                paired.eq(place + step.more),
            ]
        with m.Else():
            m.d.sync += [open_.eq(beats.enough), wants.eq(beats.enough & waiting.fresh)]

        # The gate of row entries: it opens on an operation whose entry, where this is its first
        # use, has been written.
        ready, held_up, passes = Signal(), Signal(), Signal()
        m.d.comb += [
            ready.eq(self.issue | held_up),
            next_moves.eq(~held_up),
            passes.eq(next_moves & open_),
            entries.loads.eq(next_moves & wants),
            entries.gain.eq(self.written),
        ]
        with m.If(passes):
            self._follow(m, waiting, goes_on, own, paired)
        depth = buffer_depth(p) - p.max_head_beats
        room, spacious = Signal(range(depth + 1), init=depth), Signal()
        written = ~waiting.fresh | entries.enough_after
        goes = Mux(held_up, entries.enough, open_ & written)
        m.d.sync += [
            room.eq(counted(room, self.drained, self.issue)),
            spacious.eq(room > 3),  # `issue` is three clocks late, and so far on the safe side
            self.issue.eq(goes & spacious),
            held_up.eq((open_ | held_up) & ~(goes & spacious)),
        ]

        # A row is kept for tokens that share it, until an operation with the next one comes.
        begins, held = Signal(), Signal()
        m.d.comb += begins.eq(next_moves & wants & waiting.opens)
        m.d.sync += self.row_released.eq(begins & held)
        with m.If(begins):
            m.d.sync += [held.eq(1), self.row.eq(self.row + 1)]
        return m

    def _follow(self, m, step, goes_on, own, paired):
        """The next operation's words: a beat's own, or words g and n + g of a half-split block."""
        operation = self.operation
        m.d.sync += [
            operation.first.eq(Mux(goes_on, operation.first + step.even, own)),
            operation.second.eq(Mux(goes_on, operation.second + step.more[0], paired)),
            operation.entry.eq(Mux(step.opens, 0, operation.entry + 1)),
            operation.exchanged.eq(step.split & ~step.even),
            operation.turns.eq(step.turns),
            operation.split.eq(step.split),
        ]
        if self._p.temperature:
            m.d.sync += operation.scaled.eq(step.scaled)


def take_of(step) -> Value:
    """Less the beats that an operation needs beyond the one before it, signed."""
    return Mux(step.split & ~step.opens, -(step.more[0]), ~Cat(step.more, C(0, 1)).as_signed())
