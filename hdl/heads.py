# SPDX-License-Identifier: Apache-2.0
"""Names the heads of each token in their order: the geometry's head pattern, written out."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .layouts import HEAD_BITS, KINDS, REPEAT_BITS, geometry_layout, head_layout, token_layout
from .streams import pulse_stream

__all__ = ["Heads"]


class Heads(wiring.Component):
    """repeat × [query, key, value heads] of every token, and whether each rotates.

    Latency 3 clocks from a token to its first head, then one head a clock while there is room, with
    no bubble between tokens.

    Ports
    -----
    i : stream of tokens
    slot : Out, geometry : In
        Look-up of the token's geometry, combinational.
    room : In
        This head and the next two will be taken.
    o : stream of heads
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        super().__init__(
            {
                "i": In(stream.Signature(token_layout(p))),
                "slot": Out(range(p.slots)),
                "geometry": In(geometry_layout(p)),
                "room": In(1),
                "o": Out(pulse_stream(head_layout(p))),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()

        # The token after the present one, with its geometry.
        token, upcoming = Signal(token_layout(self._p)), Signal(geometry_layout(self._p))
        upcoming_valid, take = Signal(), Signal()
        m.d.comb += self.slot.eq(self.i.payload.slot)
        m.d.comb += self.i.ready.eq(~upcoming_valid | take)
        with m.If(self.i.ready):
            m.d.sync += [upcoming_valid.eq(self.i.valid), token.eq(self.i.payload)]
            m.d.sync += upcoming.eq(self.geometry)

        # Heads of one kind after another, group after group; a kind without heads is skipped.
        now, valid, step = Signal.like(upcoming), Signal(), Signal()
        kind, left, kind_ends = Signal(KINDS), Signal(HEAD_BITS), Signal()
        repeats, repeat_ends = Signal(REPEAT_BITS), Signal()
        first = _following(upcoming.present, Const(0, KINDS))
        following = _following(now.present, kind)
        group_ends, ends = Signal(), Signal()
        m.d.comb += [
            group_ends.eq(kind_ends & (kind == _last(now.present))),
            ends.eq(group_ends & repeat_ends),
            step.eq(valid & self.room),
            take.eq(~valid | (self.room & ends)),
        ]
        with m.If(take):
            m.d.sync += [
                valid.eq(upcoming_valid),
                now.eq(upcoming),
                kind.eq(first),
                left.eq(_of_kind(upcoming.counts, first)),
                kind_ends.eq((upcoming.single & first).any()),
                repeats.eq(upcoming.repeat),
                repeat_ends.eq(~upcoming.repeats),
            ]
        with m.Elif(step):
            m.d.sync += [left.eq(left - 1), kind_ends.eq(left == 2)]
            with m.If(kind_ends):
                m.d.sync += [
                    kind.eq(following),
                    left.eq(_of_kind(now.counts, following)),
                    kind_ends.eq((now.single & following).any()),
                ]
            with m.If(group_ends):
                m.d.sync += [repeats.eq(repeats - 1), repeat_ends.eq(repeats == 2)]

        # The first head that turns is the first to use its token's row.
        turns, slot = Signal(), Signal.like(token.slot)
        rotates, fresh = Signal(), Signal()
        m.d.comb += turns.eq(rotates & (kind & now.rotated).any())
        with m.If(take):
            m.d.sync += [rotates.eq(token.rotates), fresh.eq(token.new_row), slot.eq(token.slot)]
        with m.Elif(step & turns):
            m.d.sync += fresh.eq(0)

        head = self.o.payload
        m.d.sync += [
            self.o.valid.eq(step),
            head.slot.eq(slot),
            head.turns.eq(turns),
            head.fresh.eq(turns & fresh),
            head.last.eq(ends),
            head.splits.eq(turns & now.half_split),
            head.start_is_first.eq(turns & now.start_is_first),
            head.middle_is_first.eq(turns & now.middle_is_first),
            head.final_is_first.eq(now.final_is_first),
            *(
                head[name].eq(now[name])
                for name in ("final", "start", "middle", "stop", "half", "odd", "half_split")
            ),
        ]
        return m


def _last(present: Value) -> Value:
    """The last kind that is present, one-hot."""
    return Mux(present[2], 0b100, Mux(present[1], 0b010, 0b001))


def _following(present: Value, kind: Value) -> Value:
    """The kind after a one-hot ``kind`` that is present, one-hot; the first after none or the last."""
    first = Mux(present[0], 0b001, Mux(present[1], 0b010, 0b100))
    after_query = kind[0] & (present[1] | present[2])
    return Mux(
        after_query,
        Mux(present[1], 0b010, 0b100),
        Mux(kind[1] & present[2], 0b100, first),
    )


def _of_kind(values, kind: Value) -> Value:
    """The one of three values that a one-hot ``kind`` selects."""
    return Mux(kind[0], values[0], Mux(kind[1], values[1], values[2]))
