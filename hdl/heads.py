# SPDX-License-Identifier: Apache-2.0
"""Names the heads of each token in their order: the geometry's head pattern, written out."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import AMPLITUDE_BITS

from .layouts import HEAD_BITS, KINDS, REPEAT_BITS, head_layout, pattern_layout, token_layout

__all__ = ["Heads"]


class Heads(wiring.Component):
    """repeat × [query, key, value heads] of every token, and whether each rotates.

    A kind takes one clock and one more a head, a token one clock besides. Latency 2 clocks from a
    token to its first head where that is a query.

    Ports
    -----
    i : stream of tokens
    slot : Out, pattern : In
        Look-up of the pattern of the token at ``i``, combinational.
    o : stream of heads
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        super().__init__(
            {
                "i": In(stream.Signature(token_layout(p))),
                "slot": Out(range(p.slots)),
                "pattern": In(pattern_layout()),
                "o": Out(stream.Signature(head_layout(p))),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        token, pattern = Signal.like(self.i.payload), Signal(pattern_layout())
        head = self.o.payload
        # `kind` is the next one to turn to.
        kind, left, turns = Signal(KINDS, init=1), Signal(HEAD_BITS), Signal()
        kind_ends, last_kind, used = Signal(), Signal(), Signal()

        # A token is kept, and its pattern; an only one stands as long as it is in use.
        known, token_done = Signal(), Signal()
        m.d.comb += [self.slot.eq(self.i.payload.slot), self.i.ready.eq(~known)]
        if self._p.slots == 1:
            m.d.comb += pattern.eq(self.pattern)
        with m.If(known):
            m.d.sync += known.eq(~token_done)
        with m.Else():
            m.d.sync += [known.eq(self.i.valid), token.eq(self.i.payload)]
            if self._p.slots > 1:
                m.d.sync += pattern.eq(self.pattern)

        # Turning to a kind of heads, then naming them.
        turning, naming, here, step = Signal(), self.o.valid, Signal(), Signal()
        group, last_group = Signal(REPEAT_BITS, init=1), Signal()
        m.d.comb += [
            turning.eq(known & ~naming),
            here.eq((pattern.present & kind).any()),
            step.eq(naming & self.o.ready),
            token_done.eq(step & head.last),
        ]
        m.d.sync += naming.eq((turning & here) | (naming & ~(step & kind_ends)))
        with m.If(turning):
            m.d.sync += [
                left.eq(_of(kind, pattern.counts)),
                kind_ends.eq(_of(kind, pattern.single)),
                turns.eq(token.rotates & _of(kind, pattern.rotated)),
                last_kind.eq(kind == _last(pattern.present)),
                kind.eq(kind.rotate_left(1)),
            ]
        with m.Elif(step):
            m.d.sync += [left.eq(left - 1), kind_ends.eq(left == 2), used.eq(used | turns)]
        # Whether this group is the last one is known when its first kind is named.
        with m.If(turning & kind[0]):
            m.d.sync += [last_group.eq(group == pattern.repeat), group.eq(group + 1)]
        if self._p.temperature:
            # Queries have a row, and the other heads of a group another.
            queries_turn = token.rotates & (pattern.present & pattern.rotated)[0]
            tempered = self._temper(m, token, kind[1])
            with m.If(tempered & queries_turn & turning & (kind[0] | kind[1])):
                m.d.sync += used.eq(0)
        with m.If(~known):
            m.d.sync += [kind.eq(1), group.eq(1), used.eq(0)]

        m.d.comb += [
            head.slot.eq(token.slot),
            head.turns.eq(turns),
            head.fresh.eq(turns & token.new_row & ~used),
            head.last.eq(kind_ends & last_kind & last_group),
        ]
        return m

    def _temper(self, m, token, is_query) -> Value:
        """How the head is multiplied where it does not turn; whether the token is tempered."""
        given, scaled = token.temperature, self.o.payload.scaled
        dropped = AMPLITUDE_BITS - self._p.fraction_bits
        one = (1 << AMPLITUDE_BITS) + (1 << dropped - 1)
        tempered = Value.cast(given).any()
        m.d.comb += [
            scaled.tempered.eq(tempered & is_query),
            scaled.cos.eq((given.code + one) >> dropped),
            scaled.scale.eq(given.scale),
        ]
        return tempered


def _of(kind: Value, each) -> Value:
    """What there is for a kind, one-hot."""
    return Mux(kind[2], each[2], Mux(kind[1], each[1], each[0]))


def _last(present: Value) -> Value:
    """The last kind that is present, one-hot."""
    return Mux(present[2], 0b100, Mux(present[1], 0b010, 0b001))
