# SPDX-License-Identifier: Apache-2.0
"""Walks the beats of tokens: where each beat stands in its head, and in which order pairs need words.

A head is ``final + 1`` beats, a beat two **words** of ``lanes`` elements. Half-split pairs join word g
and word n + g of the rotary block of 2n words, so a head is stored in two banks that serve both orders
without conflict: a word's bank is the parity of its index, flipped in the block's second half where n
is even. Natural order then takes one address and a swap; pair order takes two addresses and a swap.
"""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ropeway.golden.parameters import RopeParameters

from .layouts import HEAD_BITS, REPEAT_BITS, geometry_layout, token_layout

__all__ = ["Walker", "buffer_depth", "place_layout"]


def buffer_depth(p: RopeParameters) -> int:
    """Beats in a head buffer: a head in flight, half a head of reordering, and a pipeline's length."""
    return 1 << bits_for(p.max_head_beats + p.max_head_beats // 2 + 23)


def place_layout(p: RopeParameters) -> data.StructLayout:
    """Where a beat stands, and the pair operation of the same number."""
    address = range(buffer_depth(p))
    return data.StructLayout(
        {
            "address": address,  # in the buffer, natural order
            "first_address": address,  # of the pair operation's words
            "second_address": address,
            "turns": 1,  # within the rotary block of a rotated head
            "split": 1,  # and its pairs are half-split
            "opens": 1,  # the block's first beat
            "middle": 1,  # the beat where its second half begins
            "second": 1,  # at or after that
            "entry": range(p.max_head_beats),  # count within the block
            "ends_head": 1,
        }
    )


class Walker(wiring.Component):
    """Steps through every beat of the tokens it is given.

    Latency 2 clocks from a token to its first beat, then one beat a clock, with no bubble between
    heads, nor between tokens of two beats or more.

    Ports
    -----
    i : stream of tokens
    slot : Out, geometry : In
        Look-up of the token's geometry, combinational.
    advance : In
        The present beat is done with; only while ``valid``.
    valid, place : Out
        The present beat.
    token : Out
        The token it belongs to.
    geometry_now : Out
        Its geometry.
    last : Out
        It is the token's last.
    first_use : Out
        Its head is the first rotated one of a token with a row of its own.
    row : Out
        The token's row, counted from the last one.
    row_begins : Out
        For one clock: the next beat's token has a row of its own, so the row before is done with.
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        super().__init__(
            {
                "i": In(stream.Signature(token_layout(p))),
                "slot": Out(range(p.slots)),
                "geometry": In(geometry_layout(p)),
                "advance": In(1),
                "valid": Out(1),
                "place": Out(place_layout(p)),
                "token": Out(token_layout(p)),
                "geometry_now": Out(geometry_layout(p)),
                "last": Out(1),
                "first_use": Out(1),
                "row": Out(range(p.rows), init=p.rows - 1),
                "row_begins": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        upcoming = self._fetch(m)
        self._walk(m, *upcoming)
        return m

    def _fetch(self, m):
        """The token after the present one, with its geometry, in registers."""
        token, geometry = Signal.like(self.token), Signal.like(self.geometry_now)
        valid, take = Signal(), Signal()
        m.d.comb += [self.slot.eq(self.i.payload.slot), self.i.ready.eq(~valid | take)]
        with m.If(self.i.ready):
            m.d.sync += [valid.eq(self.i.valid), token.eq(self.i.payload), geometry.eq(self.geometry)]
        return valid, take, token, geometry

    def _walk(self, m, upcoming_valid, take, upcoming_token, upcoming):
        now, place = self.geometry_now, self.place
        beat_next = Signal(range(self._p.max_head_beats + 1))
        head_next = Signal(HEAD_BITS)
        repeats = Signal(REPEAT_BITS)
        rotates = Signal()  # the present head does

        # The head after the present one.
        group_end, following, following_rotates = Signal(), Signal(HEAD_BITS), Signal()
        m.d.comb += [
            group_end.eq(head_next == now.v_end),
            following.eq(Mux(group_end, 0, head_next)),
            following_rotates.eq(self.token.rotates & _kind_rotates(now, following)),
            self.last.eq(place.ends_head & group_end & (repeats == 0)),
        ]

        # The next beat: the same head's, the next head's first, or the next token's first.
        step, head_starts = Signal(), Signal()
        shape, starting_rotates = Signal.like(now), Signal()
        m.d.comb += [
            take.eq(~self.valid | (self.advance & self.last)),
            self.row_begins.eq(take & upcoming_valid & upcoming_token.new_row),
            step.eq(take | self.advance),
            head_starts.eq(take | place.ends_head),
            shape.eq(Mux(take, upcoming, now)),
            starting_rotates.eq(
                Mux(
                    take,
                    upcoming_token.rotates & _kind_rotates(upcoming, Const(0, HEAD_BITS)),
                    following_rotates,
                )
            ),
        ]

        turns, opens, middle, second, ends_head = (Signal(name=f"next_{n}") for n in "abcde")
        inside = rotates & ~now.empty
        with m.If(head_starts):
            m.d.comb += [
                opens.eq(starting_rotates & ~shape.empty & (shape.start == 0)),
                turns.eq(opens),
                middle.eq(opens & (shape.middle == 0)),
                second.eq(middle),
                ends_head.eq(shape.final == 0),
            ]
        with m.Else():
            m.d.comb += [
                opens.eq(inside & (beat_next == now.start)),
                turns.eq(opens | (place.turns & (beat_next != now.stop))),
                middle.eq(inside & (beat_next == now.middle)),
                second.eq(turns & (middle | place.second)),
                ends_head.eq(beat_next == now.final),
            ]

        with m.If(self.row_begins):
            m.d.sync += self.row.eq(self.row + 1)

        here, split = Signal.like(place.address), Signal()
        m.d.comb += [here.eq(place.address + self.advance), split.eq(turns & shape.half_split)]
        with m.If(step):
            m.d.sync += [
                place.address.eq(here),
                place.turns.eq(turns),
                place.split.eq(split),
                place.opens.eq(opens),
                place.middle.eq(middle),
                place.second.eq(second),
                place.ends_head.eq(ends_head),
                place.entry.eq(Mux(opens, 0, place.entry + 1)),
                place.first_address.eq(here),
                place.second_address.eq(here),
                beat_next.eq(Mux(head_starts, 1, beat_next + 1)),
            ]
            with m.If(split & opens):
                m.d.sync += place.second_address.eq(here + shape.half)
            with m.Elif(split):
                odd_entry = place.entry[0]
                m.d.sync += [
                    place.first_address.eq(place.first_address + odd_entry),
                    place.second_address.eq(place.second_address + (odd_entry ^ now.odd)),
                ]
            with m.If(take):
                m.d.sync += [
                    self.valid.eq(upcoming_valid),
                    self.token.eq(upcoming_token),
                    now.eq(upcoming),
                    rotates.eq(starting_rotates),
                    self.first_use.eq(upcoming_token.new_row),
                    head_next.eq(1),
                    repeats.eq(upcoming.repeat - 1),
                ]
            with m.Elif(place.ends_head):
                m.d.sync += [rotates.eq(following_rotates), head_next.eq(following + 1)]
                m.d.sync += repeats.eq(repeats - group_end)
                with m.If(rotates):
                    m.d.sync += self.first_use.eq(0)


def _kind_rotates(geometry, head: Value) -> Value:
    """Whether a group's head of this number is of a kind that rotates."""
    q, k, v = (geometry.rotated[i] for i in range(3))
    return Mux(head < geometry.q_end, q, Mux(head < geometry.k_end, k, v))
