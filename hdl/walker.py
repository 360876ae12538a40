# SPDX-License-Identifier: Apache-2.0
"""Walks the beats of heads: where each stands, and in which order pairs need words.

A head is ``final + 1`` beats, a beat two **words** of ``lanes`` elements. Half-split pairs join
word g and word n + g of the rotary block of 2n words, so a head is stored in two banks that serve
both orders without conflict: a word's bank is the parity of its index, flipped in the block's
second half where n is even. Natural order then takes one address and a swap; pair order takes two
addresses and a swap.
"""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ropeway.golden.parameters import RopeParameters

from .layouts import MARKS, head_layout

__all__ = ["Walker", "buffer_depth", "place_layout"]


def buffer_depth(p: RopeParameters) -> int:
    """Beats in a head buffer: a head, half a head of reordering, and a pipeline's length."""
    return 1 << bits_for(p.max_head_beats + p.max_head_beats // 2 + 23)


def place_layout(p: RopeParameters) -> data.StructLayout:
    """Where a beat stands, and the pair operation of the same number."""
    address = range(buffer_depth(p))
    return data.StructLayout(
        {
            "address": address,  # in the buffer, natural order
            "begins_head": 1,
            "turns": 1,  # within the rotary block of a rotated head
            "split": 1,  # and its pairs are half-split
            "opens": 1,  # the block's first beat
            "middle": 1,  # the beat where its second half begins
            "second": 1,  # at or after that
            "entry": range(p.max_head_beats),  # count within the block
            "even": 1,  # so is that count
            "needs": 1,  # the operation needs one more beat than the one before
        }
    )


class Walker(wiring.Component):
    """Steps through every beat of the heads it is given.

    Latency 2 clocks from a head to its first beat, then one beat a clock with no bubble between
    heads.

    Ports
    -----
    i : stream of heads
    advance : In
        The present beat, if there is one, is done with.
    valid, place : Out
        The present beat.
    head : Out
        Its head.
    last : Out
        It is its token's last.
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        super().__init__(
            {
                "i": In(stream.Signature(head_layout(p))),
                "advance": In(1),
                "valid": Out(1),
                "place": Out(place_layout(p)),
                "head": Out(head_layout(p)),
                "last": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        head, place, upcoming = self.head, self.place, self.i.payload
        beat_after = Signal(range(self._p.max_head_beats + 2))
        address_next = Signal.like(place.address)

        # The next beat: the same head's, or the next head's first.
        take, step, starts = Signal(), Signal(), Signal(init=1)
        m.d.comb += [
            step.eq(~self.valid | self.advance),
            take.eq(step & starts),
            self.i.ready.eq(take),
            self.last.eq(starts & head.last),
        ]
        turns, split, opens, middle, second, ends = (
            Signal(name=f"next_{name}")
            for name in ("turns", "split", "opens", "middle", "second", "ends")
        )
        # What the next beat is, known a beat ahead.
        marked = Signal.like(upcoming.first)
        with m.If(step):
            m.d.sync += beat_after.eq(Mux(starts, 2, beat_after + 1))
            for mark in MARKS:
                reached = (beat_after == head[mark]) & (head.turns | (mark == "final"))
                m.d.sync += marked[mark].eq(Mux(starts, upcoming.second[mark], reached))

        with m.If(starts):
            m.d.comb += [
                opens.eq(upcoming.first.start),
                turns.eq(opens),
                split.eq(upcoming.first.start & upcoming.splits),
                middle.eq(upcoming.first.middle),
                second.eq(middle),
                ends.eq(~self.i.valid | upcoming.first.final),
            ]
        with m.Else():
            m.d.comb += [
                opens.eq(marked.start),
                turns.eq(opens | (place.turns & ~marked.stop)),
                split.eq(Mux(opens, head.splits, place.split & ~marked.stop)),
                middle.eq(marked.middle),
                second.eq(middle | (place.second & ~marked.stop)),
                ends.eq(marked.final),
            ]

        with m.If(step):
            m.d.sync += [
                place.begins_head.eq(starts),
                starts.eq(ends),
                place.turns.eq(turns),
                place.split.eq(split),
                place.opens.eq(opens),
                place.middle.eq(middle),
                place.second.eq(second),
                place.entry.eq(Mux(opens, 0, place.entry + 1)),
                place.even.eq(opens | ~place.even),
                place.needs.eq(opens | Mux(place.opens, head.odd, ~place.needs)),
                place.address.eq(address_next),
            ]
        with m.If(take):
            m.d.sync += [self.valid.eq(self.i.valid), head.eq(upcoming)]
        with m.If(step & (~starts | self.i.valid)):
            m.d.sync += address_next.eq(address_next + 1)
        return m
