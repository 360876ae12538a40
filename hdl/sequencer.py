# SPDX-License-Identifier: Apache-2.0
"""Issues pair operations, each as soon as its words, coefficients and room are there."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .fixed import counted
from .layouts import pass_through_layout
from .ledger import Ledger, UnitLedger
from .skid import Skid
from .walker import Walker, buffer_depth, place_layout

__all__ = ["Sequencer", "operation_layout"]


def operation_layout(p: RopeParameters) -> data.StructLayout:
    """A pair operation: where its words are and go, and what turns them.

    ``exchanged``: the first word is in bank 1. ``turns``: by the row's ``entry``; else it passes.
    ``split``: its pairs are half-split. ``fresh``: the entry's first use; ``begins``: the row's.
    ``scaled``: how it is multiplied where it passes.
    """
    address = range(buffer_depth(p))
    flags = dict.fromkeys(("exchanged", "turns", "split", "fresh", "begins"), 1)
    fields = {"first": address, "second": address, "entry": range(p.max_head_beats)} | flags
    if p.temperature:
        fields["scaled"] = pass_through_layout(p)
    return data.StructLayout(fields)


class Sequencer(wiring.Component):
    """Two gates for operations: one waits for their words, the other for their row entry.

    An operation takes two words and gives two: a beat's as it stands, or words g and n + g of a
    half-split rotary block. What follows it never waits, so it goes only when the buffer behind the
    rotator has room. Latency 1 clock from the last thing an operation needs to its ``issue``; one
    operation a clock.

    Ports
    -----
    issue, operation : Out
        The operation goes in this clock.
    row : Out
        The row it uses.
    arrived, written, drained : In
        For one clock each: a beat is in the buffer, a row entry is whole, a beat has left.
    row_released : Out
        For one clock: a row is done with.
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        self.walker = Walker(p)
        super().__init__(
            {
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
        steps = self._steps(m, beats.take.shape())
        step = steps.o.payload

        # The gate of words: it opens on an operation whose beats have arrived.
        waiting, valid, open_ = Signal(operation_layout(p)), Signal(), Signal()
        next_moves, moves = Signal(), Signal()
        m.d.comb += [
            moves.eq((open_ & next_moves) | ~valid),
            steps.o.ready.eq(moves),
            beats.loads.eq(moves & steps.o.valid),
            beats.take.eq(step.take),
            beats.gain.eq(self.arrived),
        ]
        with m.If(moves):
            m.d.sync += [valid.eq(steps.o.valid), open_.eq(steps.o.valid & beats.enough_after)]
            self._follow(m, waiting, step)
        with m.Else():
            m.d.sync += open_.eq(beats.enough)

        # The gate of row entries: it opens on an operation whose entry, where this is its first
        # use, has been written.
        operation, ready = self.operation, Signal()
        written = ~waiting.fresh | entries.enough_after
        m.d.comb += [
            next_moves.eq(self.issue | ~ready),
            entries.loads.eq(next_moves & open_ & waiting.fresh),
            entries.gain.eq(self.written),
        ]
        with m.If(next_moves):
            m.d.sync += [ready.eq(open_), operation.eq(waiting)]
        depth = buffer_depth(p) - p.max_head_beats
        room, spacious = Signal(range(depth + 1), init=depth), Signal()
        m.d.sync += [
            room.eq(counted(room, self.drained, self.issue)),
            spacious.eq(room > 3),  # `issue` is three clocks late, and so far on the safe side
            self.issue.eq(Mux(next_moves, open_ & written, entries.enough) & spacious),
        ]

        # A row is kept for tokens that share it, until an operation with the next one comes.
        begins, held = Signal(), Signal()
        m.d.comb += begins.eq(next_moves & open_ & waiting.begins)
        m.d.sync += self.row_released.eq(begins & held)
        with m.If(begins):
            m.d.sync += [held.eq(1), self.row.eq(self.row + 1)]
        return m

    def _steps(self, m, balance: Shape) -> Skid:
        """The walker's beats, and the beats that each one's operation needs beyond the one before.

        Operation g of a half-split block needs beat (n + g) div 2 of the block: ``half`` + 1 of
        them at once, then every other time one more.
        """
        p = self._p
        m.submodules.walker = walker = self.walker
        place, head = walker.place, walker.head
        layout = data.StructLayout(
            {
                "place": place_layout(p),
                "middle": place.address.shape(),
                "take": balance,
                "begins": 1,
                "fresh": 1,
            }
            | ({"scaled": pass_through_layout(p)} if p.temperature else {})
        )
        m.submodules.steps = steps = Skid(layout)
        step = steps.i.payload
        m.d.comb += [
            walker.advance.eq(steps.i.ready),
            steps.i.valid.eq(walker.valid),
            step.place.eq(place),
            step.middle.eq(place.address + head.half),
            step.begins.eq(place.begins_head & head.fresh),
            step.fresh.eq(place.turns & head.fresh),
        ]
        if p.temperature:
            m.d.comb += step.scaled.eq(head.scaled)
        with m.If(~place.split):
            m.d.comb += step.take.eq(-1)
        with m.Elif(place.opens):
            m.d.comb += step.take.eq(~Cat(head.half, C(0, 1)).as_signed())  # −(half + 1)
        with m.Else():
            m.d.comb += step.take.eq(place.needs.as_signed())
        return steps

    def _follow(self, m, operation, step):
        """The next operation's words: a beat's own, or words g and n + g of a half-split block."""
        place = step.place
        m.d.sync += [
            operation.first.eq(place.address),
            operation.second.eq(place.address),
            operation.entry.eq(place.entry),
            operation.exchanged.eq(place.split & ~place.even),
            operation.turns.eq(place.turns),
            operation.split.eq(place.split),
            operation.fresh.eq(step.fresh),
            operation.begins.eq(step.begins),
        ]
        if self._p.temperature:
            m.d.sync += operation.scaled.eq(step.scaled)
        with m.If(place.split & place.opens):
            m.d.sync += operation.second.eq(step.middle)
        with m.Elif(place.split):
            m.d.sync += [
                operation.first.eq(operation.first + place.even),
                operation.second.eq(operation.second + place.needs),
            ]
