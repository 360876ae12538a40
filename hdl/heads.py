# SPDX-License-Identifier: Apache-2.0
"""Names the heads of each token in their order: the geometry's head pattern, written out."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .layouts import HEAD_BITS, REPEAT_BITS, geometry_layout, head_layout, token_layout

__all__ = ["Heads"]

KINDS = 3  # query, key, value


class Heads(wiring.Component):
    """repeat × [n_q, n_k, n_v] heads of every token, and whether each rotates.

    Latency 3 clocks from a token to its first head, then one head a clock with no bubble between
    tokens of two heads or more.

    Ports
    -----
    i : stream of tokens
    slot : Out, geometry : In
        Look-up of the token's geometry, combinational.
    o : stream of heads
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        super().__init__(
            {
                "i": In(stream.Signature(token_layout(p))),
                "slot": Out(range(p.slots)),
                "geometry": In(geometry_layout(p)),
                "o": Out(stream.Signature(head_layout(p))),
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

        # Heads of one kind after another; a kind without heads is skipped.
        now, rotates, fresh = Signal.like(upcoming), Signal(), Signal()
        slot = Signal.like(token.slot)
        kind, left, repeats = Signal(KINDS), Signal(HEAD_BITS), Signal(REPEAT_BITS)
        valid, kind_ends, final_repeat = Signal(), Signal(), Signal()

        present, present_next = _present(now), _present(upcoming)
        q_follows = kind[0] & present[1]
        v_follows = (kind[0] & ~present[1] & present[2]) | (kind[1] & present[2])
        group_ends, step, ends = Signal(), Signal(), Signal()
        m.d.comb += [
            group_ends.eq(kind_ends & ~(q_follows | v_follows)),
            ends.eq(group_ends & final_repeat),
            step.eq(valid & (~self.o.valid | self.o.ready)),
            take.eq(~valid | (step & ends)),
        ]
        kind_next = Mux(q_follows, 0b010, Mux(v_follows, 0b100, _first_kind(present)))
        with m.If(step):
            m.d.sync += [left.eq(left - 1), kind_ends.eq(left == 2)]
            with m.If(kind_ends):
                m.d.sync += [
                    kind.eq(kind_next),
                    left.eq(_of_kind(now, kind_next)),
                    kind_ends.eq(_of_kind(now, kind_next) == 1),
                ]
            with m.If(group_ends):
                m.d.sync += [repeats.eq(repeats - 1), final_repeat.eq(repeats == 2)]
        with m.If(take):
            first = _first_kind(present_next)
            m.d.sync += [
                valid.eq(upcoming_valid),
                now.eq(upcoming),
                slot.eq(token.slot),
                rotates.eq(token.rotates & ~upcoming.empty),
                kind.eq(first),
                left.eq(_of_kind(upcoming, first)),
                kind_ends.eq(_of_kind(upcoming, first) == 1),
                repeats.eq(upcoming.repeat),
                final_repeat.eq(upcoming.repeat == 1),
            ]

        # The head's description, in a register.
        turns = Signal()
        m.d.comb += turns.eq(rotates & (kind & now.rotated).any())
        with m.If(take):
            m.d.sync += fresh.eq(token.new_row)
        with m.Elif(step & turns):
            m.d.sync += fresh.eq(0)
        head = self.o.payload
        with m.If(~self.o.valid | self.o.ready):
            m.d.sync += [
                self.o.valid.eq(valid),
                head.slot.eq(slot),
                head.turns.eq(turns),
                head.fresh.eq(turns & fresh),
                head.last.eq(ends),
                head.start_is_first.eq(now.start == 0),
                head.middle_is_first.eq(now.middle == 0),
                head.final_is_first.eq(now.final == 0),
                *(
                    head[name].eq(now[name])
                    for name in ("final", "start", "middle", "stop", "half", "odd", "half_split")
                ),
            ]
        return m


def _present(geometry) -> Value:
    """One bit a kind: whether a group has heads of it."""
    return Cat(count != 0 for count in (geometry.q, geometry.k, geometry.v))


def _first_kind(present: Value) -> Value:
    """The first kind present, one-hot."""
    return Mux(present[0], 0b001, Mux(present[1], 0b010, 0b100))


def _of_kind(geometry, kind: Value) -> Value:
    """The number of heads of a one-hot kind in a group."""
    return Mux(kind[0], geometry.q, Mux(kind[1], geometry.k, geometry.v))
