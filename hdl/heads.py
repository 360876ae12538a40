# SPDX-License-Identifier: Apache-2.0
"""Names the heads of each token in their order: the geometry's head pattern, written out."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

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

    A kind takes one clock and one more a head, a token one clock besides: latency 4 clocks from a
    token to its first head where that is a query.

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

        # One at a time: taking a token, turning to its next kind, naming that kind's heads.
        taking, turning, naming = Signal(init=1), Signal(), Signal()
        step, kind_done, token_done, absent = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            self.slot.eq(self.i.payload.slot),
            self.i.ready.eq(taking),
            absent.eq(~(geometry.present & kind).any()),
            step.eq(naming & self.room),
            kind_done.eq((turning & absent) | (step & kind_ends)),
            token_done.eq(kind_done & kind[-1] & repeat_ends),
        ]
        m.d.sync += [
            taking.eq((taking & ~self.i.valid) | token_done),
            turning.eq((taking & self.i.valid) | (kind_done & ~token_done)),
            naming.eq((turning & ~absent) | (naming & ~kind_done)),
        ]

        with m.If(taking):
            m.d.sync += [
                token.eq(self.i.payload),
                geometry.eq(self.geometry),
                repeats.eq(self.geometry.repeat),
                fresh.eq(self.i.payload.new_row),
            ]
        with m.If(turning):
            m.d.sync += [
                left.eq(_of_kind(geometry.counts, kind)),
                kind_ends.eq((geometry.single & kind).any()),
                turns.eq(token.rotates & (geometry.rotated & kind).any()),
                last_kind.eq(kind == _last(geometry.present)),
            ]
        with m.Elif(step):
            m.d.sync += [left.eq(left - 1), kind_ends.eq(left == 2), fresh.eq(fresh & ~turns)]
        with m.If(kind_done):
            m.d.sync += kind.eq(kind.rotate_left(1))
            with m.If(kind[-1]):
                m.d.sync += repeats.eq(repeats - 1)
        # Settled whenever it is asked for, two clocks or more after the count of groups has
        # changed.
        m.d.sync += repeat_ends.eq(repeats == 1)
        return self._describe(
            m, token, geometry, step, turns, fresh, kind_ends & last_kind & repeat_ends
        )

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


def _of_kind(values, kind: Value) -> Value:
    """The one of three values that a one-hot ``kind`` selects."""
    return Mux(kind[0], values[0], Mux(kind[1], values[1], values[2]))
