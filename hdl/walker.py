# SPDX-License-Identifier: Apache-2.0
"""Walks the beats of heads: where each stands, and in which order pairs need words.

A head is ``final + 1`` beats, a beat two **words** of ``lanes`` elements. Half-split pairs join
word g and word n + g of the rotary block of 2n words, so a head is stored in two banks that serve
both orders without conflict: a word's bank is the parity of its index, flipped in the block's
second half where n is even. Natural order then takes one address and a swap; pair order takes two
addresses and a swap.
"""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ropeway.golden.parameters import RopeParameters

from .layouts import exit_layout, head_layout, shape_layout, step_layout

__all__ = ["Walker", "buffer_depth"]


def buffer_depth(p: RopeParameters) -> int:
    """Beats in a head buffer: a head, half a head of reordering, and a pipeline's length."""
    return 1 << bits_for(p.max_head_beats + p.max_head_beats // 2 + 23 + 3 * p.distant)


class Walker(wiring.Component):
    """Steps through every beat of the heads it is given.

    Latency 2 clocks from a head to its first beat, then one beat a clock with no bubble between
    heads.

    Ports
    -----
    i : stream of heads
    slot : Out, shape : In
        Look-up of the shape of the head at ``i``, combinational.
    advance : In
        The present beat is done with, or there is none.
    valid, step, exit : Out
        The present beat: what its operation, and what the reading of its result is to know. Of how
        it was framed nothing is known here.
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        super().__init__(
            {
                "i": In(stream.Signature(head_layout(p))),
                "slot": Out(range(p.slots)),
                "shape": In(shape_layout(p)),
                "advance": In(1),
                "valid": Out(1),
                "step": Out(step_layout(p)),
                "exit": Out(exit_layout(p)),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p

        # A head, and which of its marked beats comes next: known a beat ahead. A head that is none
        # ends at once.
        walks, head, shape = Signal(), Signal(head_layout(p)), Signal(shape_layout(p))
        after, moves = Signal(range(p.max_head_beats + 2)), Signal()
        opens, middle, stops = (Signal(name=name) for name in ("opens", "middle", "stops"))
        ends = Signal(init=1)
        m.d.comb += [
            self.slot.eq(self.i.payload.slot),
            moves.eq(self.advance),
            self.i.ready.eq(moves & ends),
        ]
        # An only slot's shape stands as long as heads of it do.
        m.d["comb" if p.slots == 1 else "sync"] += shape.eq(
            self.shape if p.slots == 1 else Mux(self.i.ready, self.shape, shape)
        )
        given, first = self.i.payload, self.shape.first
        with m.If(self.i.ready):
            m.d.sync += [walks.eq(self.i.valid), head.eq(given)]
        with m.If(moves):
            m.d.sync += [
                after.eq(Mux(ends, 1, after + 1)),
                opens.eq(Mux(ends, given.turns & first.start, head.turns & (shape.start == after))),
                middle.eq(
                    Mux(ends, given.turns & first.middle, head.turns & (shape.middle == after))
                ),
                ends.eq(Mux(ends, ~self.i.valid | first.final, shape.final == after)),
                stops.eq(shape.stop == after),  # of a first beat it does not matter
            ]

        # Where it stands in the rotary block.
        within, beyond_middle = Signal(), Signal()
        turns, split, second = (Signal(name=name) for name in ("turns", "split", "second"))
        m.d.comb += [
            turns.eq(opens | (within & ~stops)),
            split.eq(turns & shape.half_split),
            second.eq(middle | (beyond_middle & ~stops)),
        ]
        with m.If(moves):
            m.d.sync += [within.eq(turns & ~ends), beyond_middle.eq(second & ~ends)]

        step, exit_ = self.step, self.exit
        with m.If(moves):
            m.d.sync += [
                self.valid.eq(walks),
                step.turns.eq(turns),
                step.split.eq(split),
                step.opens.eq(opens),
                step.fresh.eq(turns & head.fresh),
                step.even.eq(opens | ~step.even),
                step.more.eq(self._more(shape, split, opens)),
                exit_.exchanged.eq(split & second & ~shape.odd),
                # The words of a half-split block's first half come one an operation, and with them
                # the second half is done.
                exit_.needs.eq(Mux(split, Mux(second, middle & shape.odd, 2), 1)),
                exit_.last.eq(ends & head.last),
                exit_.slot.eq(head.slot),
            ]
            if p.temperature:
                m.d.sync += step.scaled.eq(head.scaled)
        return m

    def _more(self, shape, split, opens) -> Value:
        """Further beats for operation g of a split block, which needs beat (n + g) div 2 of it."""
        further = Mux(self.step.opens, shape.odd, ~self.step.more[0])
        return Mux(opens, Mux(shape.half_split, shape.half, 0), split & further)
