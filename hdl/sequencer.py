# SPDX-License-Identifier: Apache-2.0
"""Issues pair operations: one a clock, each as soon as its words, coefficients and room are there."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .walker import Walker, buffer_depth

__all__ = ["Sequencer"]


class Sequencer(wiring.Component):
    """Decides, clock by clock, whether the present operation may go.

    An operation takes two words and gives two: a beat's as it stands, or words g and n + g of a
    half-split rotary block. What follows it never waits, so it goes only when the buffer behind the
    rotator has room. Latency none; one operation a clock.

    Ports
    -----
    issue : Out
        The operation of ``walker.place`` goes in this clock.
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
        place, geometry = walker.place, walker.geometry_now

        # Beats arrived beyond those that earlier operations needed. Operation g of a half-split block
        # needs beat (n + g) div 2 of the block: half of them at once, then every other time one more.
        beats = Signal(range(buffer_depth(p) + 1))
        needed = Signal(range(p.max_head_beats + 1))
        with m.If(~place.split):
            m.d.comb += needed.eq(1)
        with m.Elif(place.opens):
            m.d.comb += needed.eq(geometry.half + 1)
        with m.Else():
            m.d.comb += needed.eq(~(geometry.odd ^ place.entry[0]))
        m.d.sync += beats.eq(beats + self.arrived - Mux(self.issue, needed, 0))

        # Row entries written and not yet used for the first time.
        entries = Signal(range(p.rows * p.max_head_beats + 1))
        first = place.turns & walker.first_use
        m.d.sync += entries.eq(entries + self.written - (self.issue & first))

        depth = buffer_depth(p) - p.max_head_beats
        room = Signal(range(depth + 1), init=depth)
        m.d.sync += room.eq(room - self.issue + self.drained)

        m.d.comb += [
            self.issue.eq(
                walker.valid & (beats >= needed) & (~first | (entries != 0)) & (room != 0)
            ),
            walker.advance.eq(self.issue),
            self.exchanged.eq(place.split & place.entry[0]),
        ]

        # A row is kept for tokens that share it, until a token with another begins.
        held = Signal()
        m.d.comb += self.row_released.eq(walker.row_begins & held)
        with m.If(walker.row_begins):
            m.d.sync += held.eq(1)
        return m
