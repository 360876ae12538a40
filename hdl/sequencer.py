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
    first_address, second_address, exchanged : Out
        Where its words are; ``exchanged``: the first is in bank 1.
    arrived, written, drained : In
        For one clock each: a beat is in the buffer, a row entry is whole, a beat has left.
    row_released : Out
        For one clock: a row is done with.
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        self.walker = Walker(p)
        address = range(buffer_depth(p))
        super().__init__(
            {
                "issue": Out(1),
                "place": Out(place_layout(p)),
                "row": Out(range(p.rows), init=p.rows - 1),
                "first_address": Out(address),
                "second_address": Out(address),
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
        valid, move = Signal(), Signal()
        m.d.comb += [move.eq(self.issue | ~valid), walker.advance.eq(move)]
        with m.If(move):
            m.d.sync += [
                valid.eq(walker.valid),
                self.place.eq(upcoming),
                self.exchanged.eq(upcoming.split & upcoming.entry[0]),
                self.first_address.eq(upcoming.address),
                self.second_address.eq(upcoming.address),
            ]
            # Words g and n + g of a half-split block.
            with m.If(upcoming.split & upcoming.opens):
                m.d.sync += self.second_address.eq(upcoming.address + head.half)
            with m.Elif(upcoming.split):
                m.d.sync += [
                    self.first_address.eq(self.first_address + ~upcoming.entry[0]),
                    self.second_address.eq(self.second_address + ~upcoming.level),
                ]

        loads = move & walker.valid
        enough = self._beats(m, upcoming, head, move, loads)
        written = self._entries(m, loads, head.fresh & upcoming.turns, move)
        depth = buffer_depth(p) - p.max_head_beats
        room = Signal(range(depth + 1), init=depth)
        spacious = Signal()
        m.d.sync += [
            room.eq(room - self.issue + self.drained),
            spacious.eq(room > 2),  # two clocks late, and so far on the safe side
            self.issue.eq(Mux(move, walker.valid, 1) & enough & written & spacious),
        ]

        # A row is kept for tokens that share it, until a head with a fresh one begins.
        begins, held = Signal(), Signal()
        m.d.comb += begins.eq(move & walker.valid & upcoming.begins_head & head.fresh)
        m.d.comb += self.row_released.eq(begins & held)
        with m.If(begins):
            m.d.sync += [held.eq(1), self.row.eq(self.row + 1)]
        return m

    def _beats(self, m, upcoming, head, move: Value, loads: Value) -> Value:
        """Whether the next clock's operation has its beats.

        ``spare`` counts beats arrived beyond those that operations so far, the present one included,
        need. Operation g of a half-split block needs beat (n + g) div 2 of the block: ``half`` + 1 of
        them at once, then every other time one more.
        """
        width = bits_for(buffer_depth(self._p)) + 1
        spare, take = Signal(signed(width)), Signal(signed(width))
        with m.If(~upcoming.split):
            m.d.comb += take.eq(-1)
        with m.Elif(upcoming.opens):
            m.d.comb += take.eq(~Cat(head.half, C(0, 1)).as_signed())  # −(half + 1)
        with m.Else():
            m.d.comb += take.eq((~upcoming.level).as_signed())
        stays, goes = Signal(signed(width)), Signal(signed(width))
        m.d.comb += [
            stays.eq(spare + self.arrived),
            goes.eq(add_with_carry(spare, take, self.arrived, width)),
        ]
        m.d.sync += spare.eq(Mux(loads, goes, stays))
        return Mux(move, ~goes[-1], ~stays[-1])

    def _entries(self, m, loads: Value, fresh: Value, move: Value) -> Value:
        """Whether the next clock's operation has its row entry, where it is the first to use it.

        ``spare`` counts entries written beyond those that operations so far, the present one included,
        use for the first time.
        """
        width = bits_for(self._p.rows * self._p.max_head_beats) + 1
        spare, stays, goes = (Signal(signed(width), name=f"entries_{n}") for n in range(3))
        m.d.comb += [stays.eq(spare + self.written), goes.eq(spare + Mux(self.written, 0, -1))]
        m.d.sync += spare.eq(Mux(loads & fresh, goes, stays))
        return ~Mux(move, fresh & goes[-1], stays[-1])
