# SPDX-License-Identifier: Apache-2.0
"""Names the heads of each token in their order: the geometry's head pattern, written out."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import AMPLITUDE_BITS

from .layouts import (
    HEAD_BITS,
    KINDS,
    MARKS,
    REPEAT_BITS,
    geometry_layout,
    head_layout,
    token_layout,
)
from .streams import pulse_stream

__all__ = ["Heads"]


class Heads(wiring.Component):
    """repeat × [query, key, value heads] of every token, and whether each rotates.

    A kind takes one clock and one more a head, a token one clock besides; it ends with its last
    head. Latency 4 clocks from a token to its first head where that is a query.

    Ports
    -----
    i : stream of tokens
    slot : Out, geometry : In
        Look-up of the token's geometry, combinational.
    room : In
        This head and the next two will be taken.
    o : stream of heads, always ready
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
        token, geometry = Signal(token_layout(self._p)), Signal(geometry_layout(self._p))
        kind, left, turns = Signal(KINDS, init=1), Signal(HEAD_BITS), Signal()
        repeats, repeat_ends = Signal(REPEAT_BITS), Signal()
        kind_ends, last_kind, fresh = Signal(), Signal(), Signal()

        # What there is of the present kind is first; the kinds go round.
        counts, present, single, rotated = (
            Signal.like(geometry[name], name=name)
            for name in ("counts", "present", "single", "rotated")
        )

        # One at a time: taking a token, turning to its next kind, naming that kind's heads.
        taking, turning, naming = Signal(init=1), Signal(), Signal()
        step, kind_done, token_done, group_done = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            self.slot.eq(self.i.payload.slot),
            self.i.ready.eq(taking),
            step.eq(naming & self.room),
            kind_done.eq((turning & ~present[0]) | (step & kind_ends)),
            token_done.eq(step & kind_ends & last_kind & repeat_ends),
        ]
        m.d.sync += [
            taking.eq((taking & ~self.i.valid) | token_done),
            turning.eq((taking & self.i.valid) | (kind_done & ~token_done)),
            naming.eq((turning & present[0]) | (naming & ~kind_done)),
        ]

        with m.If(taking):
            m.d.sync += [
                token.eq(self.i.payload),
                geometry.eq(self.geometry),
                counts.eq(self.geometry.counts),
                present.eq(self.geometry.present),
                single.eq(self.geometry.single),
                rotated.eq(self.geometry.rotated),
                kind.eq(1),
                repeats.eq(self.geometry.repeat),
                fresh.eq(self.i.payload.new_row),
            ]
        with m.Elif(kind_done):
            m.d.sync += [
                Value.cast(counts).eq(Value.cast(counts).rotate_right(HEAD_BITS)),
                present.eq(present.rotate_right(1)),
                single.eq(single.rotate_right(1)),
                rotated.eq(rotated.rotate_right(1)),
                kind.eq(kind.rotate_left(1)),
            ]
        with m.If(turning):
            m.d.sync += [
                left.eq(counts[0]),
                kind_ends.eq(single[0]),
                turns.eq(token.rotates & rotated[0]),
                last_kind.eq(kind == _last(geometry.present)),
            ]
        with m.Elif(step):
            m.d.sync += [left.eq(left - 1), kind_ends.eq(left == 2), fresh.eq(fresh & ~turns)]
        if self._p.temperature:
            # Queries have a row, and the other heads of a group another.
            queries_turn = token.rotates & (geometry.present & geometry.rotated)[0]
            tempered = self._temper(m, token, kind[0])
            with m.If(tempered & queries_turn & kind_done & (kind[0] | kind[-1])):
                m.d.sync += fresh.eq(1)
        # Groups are counted a clock late, and whether one is the last is known as soon as before.
        m.d.sync += [
            group_done.eq(kind_done & kind[-1]),
            repeat_ends.eq(repeats == Mux(group_done, 2, 1)),
        ]
        with m.If(group_done & ~taking):
            m.d.sync += repeats.eq(repeats - 1)
        return self._describe(
            m, token, geometry, step, turns, fresh, kind_ends & last_kind & repeat_ends
        )

    def _temper(self, m, token, is_query) -> Value:
        """How the head is multiplied where it does not turn; whether the token is tempered."""
        given, scaled = token.temperature, self.o.payload.scaled
        dropped = AMPLITUDE_BITS - self._p.fraction_bits
        one = (1 << AMPLITUDE_BITS) + (1 << dropped - 1)
        tempered = Value.cast(given).any()
        m.d.sync += [
            scaled.tempered.eq(tempered & is_query),
            scaled.cos.eq((given.code + one) >> dropped),
            scaled.scale.eq(given.scale),
        ]
        return tempered

    def _describe(self, m, token, geometry, step, turns, fresh, last):
        """The head's description, in a register."""
        head = self.o.payload
        m.d.sync += [
            self.o.valid.eq(step),
            head.slot.eq(token.slot),
            head.turns.eq(turns),
            head.splits.eq(turns & geometry.half_split),
            head.fresh.eq(turns & fresh),
            head.last.eq(last),
            *(
                head[number][mark].eq((geometry[mark] == beat) & (turns | (mark == "final")))
                for beat, number in enumerate(("first", "second"))
                for mark in MARKS
            ),
            *(
                head[name].eq(geometry[name])
                for name in ("final", "start", "middle", "stop", "half", "odd")
            ),
        ]
        return m


def _last(present: Value) -> Value:
    """The last kind that is present, one-hot."""
    return Mux(present[2], 0b100, Mux(present[1], 0b010, 0b001))
