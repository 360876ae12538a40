# SPDX-License-Identifier: Apache-2.0
"""Issues pair operations: one a clock, each as soon as its words, coefficients and room are there."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ropeway.golden.parameters import RopeParameters

from .fixed import add_with_carry
from .walker import Walker, buffer_depth, place_layout

__all__ = ["Sequencer"]


class Sequencer(wiring.Component):
    """Decides, clock by clock, whether the present operation may go.

    An operation takes two words and gives two: a beat's as it stands, or words g and n + g of a
    half-split rotary block. What follows it never waits, so it goes only when the buffer behind the
    rotator has room. Whether it goes is a register, worked out the clock before.

    Latency 1 clock from the last thing an operation needs to its ``issue``; one operation a clock.

    Ports
    -----
    issue : Out
        The operation of ``place`` goes in this clock.
    place : Out
    row : Out
        The row it uses.
    exchanged : Out
        Its first word is in bank 1.
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
                "place": Out(place_layout(p)),
                "row": Out(range(p.rows), init=p.rows - 1),
                "exchanged": Out(1),
                "arrived": In(1),
                "written": In(1),
                "drained": In(1),
                "row_released": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.walker = walker = self.walker
        upcoming, head = walker.place, walker.head

        # The walker is one operation ahead of the present one.
        valid, move, fresh = Signal(), Signal(), Signal()
        m.d.comb += [move.eq(self.issue | ~valid), walker.advance.eq(move)]
        with m.If(move):
            m.d.sync += [
                valid.eq(walker.valid),
                self.place.eq(upcoming),
                self.exchanged.eq(upcoming.split & upcoming.entry[0]),
                fresh.eq(head.fresh & upcoming.turns),
            ]

        enough = self._beats(m, upcoming, head, move & walker.valid)
        written = self._entries(m, fresh, move, head.fresh & upcoming.turns)
        depth = buffer_depth(p) - p.max_head_beats
        room = Signal(range(depth + 1), init=depth)
        m.d.sync += room.eq(room - self.issue + self.drained)
        m.d.sync += self.issue.eq(Mux(move, walker.valid, 1) & enough & written & (room > 1))

        # A row is kept for tokens that share it, until a head with a fresh one begins.
        begins, held = Signal(), Signal()
        m.d.comb += begins.eq(move & walker.valid & upcoming.begins_head & head.fresh)
        m.d.comb += self.row_released.eq(begins & held)
        with m.If(begins):
            m.d.sync += [held.eq(1), self.row.eq(self.row + 1)]
        return m

    def _beats(self, m, upcoming, head, loads: Value) -> Value:
        """Whether the next clock's operation has its beats.

        ``spare`` counts beats arrived beyond those that operations so far, the present one included,
        need. Operation g of a half-split block needs beat (n + g) div 2 of the block: ``half`` + 1 of
        them at once, then every other time one more.
        """
        width = bits_for(buffer_depth(self._p)) + 1
        spare, take, after = Signal(signed(width)), Signal(signed(width)), Signal(signed(width))
        with m.If(~loads):
            m.d.comb += take.eq(0)
        with m.Elif(~upcoming.split):
            m.d.comb += take.eq(-1)
        with m.Elif(upcoming.opens):
            m.d.comb += take.eq(~Cat(head.half, C(0, 1)).as_signed())  # −(half + 1)
        with m.Else():
            m.d.comb += take.eq((~(head.odd ^ upcoming.entry[0])).as_signed())
        m.d.comb += after.eq(add_with_carry(spare, take, self.arrived, width))
        m.d.sync += spare.eq(after)
        return ~after[-1]

    def _entries(self, m, fresh, move: Value, fresh_next: Value) -> Value:
        """Whether the next clock's operation has its row entry, where it is the first to use it."""
        p = self._p
        entries = Signal(range(p.rows * p.max_head_beats + 1))
        used = self.issue & fresh
        m.d.sync += entries.eq(entries + self.written - used)
        some = self.written | (entries > 1) | ((entries == 1) & ~used)
        return some | ~Mux(move, fresh_next, fresh)
