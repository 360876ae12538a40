# SPDX-License-Identifier: Apache-2.0
"""Accepts positions: one a token, ahead of its data if the host likes."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .fixed import counted, equal_pieces
from .layouts import context_layout, position_layout, token_layout
from .streams import delayed, pulse_stream
from .walker import buffer_depth

__all__ = ["Intake", "unfinished_limit"]

COMPARED = 12  # bits of a position word in one comparison


def unfinished_limit(p: RopeParameters) -> int:
    """More than there can be accepted tokens not yet finished.

    Those in their queue and a beat of each in either head buffer, and a few on the way.
    """
    return p.tokens + 2 * (buffer_depth(p) - p.max_head_beats) + 16


class Intake(wiring.Component):
    """Samples a token's slot with its position, and keeps the slot busy until it is finished.

    A position is accepted when its slot is loaded and the queues have room, whatever the data do;
    one that names a slot not loaded, or being loaded, waits for the load. A token whose position,
    slot and flags are those of the rotated token before it shares that token's row.

    Latency 1 clock; one position a clock.

    Ports
    -----
    i : stream of positions
    o_token, o_position : stream of tokens, and of positions of rows to be made; always ready
    room : In
        What these give in the next clock will be taken.
    context_slot : Out, context : In
        Look-up of a slot's trained context, combinational.
    beyond, beyond_position : Out
        For one clock: a token turns by a position outside its slot's trained context.
    loaded, bypass : In, one bit a slot
    claimed, claimed_slot : In
        A load is to change this slot.
    finished, finished_slot : In
        A token of that slot is done with.
    busy : Out, one bit a slot
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        slot = range(p.slots)
        super().__init__(
            {
                "i": In(stream.Signature(position_layout(p))),
                "o_token": Out(pulse_stream(token_layout(p))),
                "o_position": Out(pulse_stream(position_layout(p))),
                "room": In(1),
                "context_slot": Out(slot),
                "context": In(context_layout(p)),
                "beyond": Out(1),
                "beyond_position": Out(signed(p.position_bits)),
                "loaded": In(p.slots),
                "bypass": In(p.slots),
                "claimed": In(1),
                "claimed_slot": In(slot),
                "finished": In(1),
                "finished_slot": In(slot),
                "busy": Out(p.slots),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        held, held_valid, accepted = Signal(position_layout(self._p)), Signal(), Signal()
        slot = self.i.payload.slot
        offered, loaded = self.i.valid & self.room, self.loaded.bit_select(slot, 1)
        m.d.comb += [
            self.i.ready.eq(loaded & self.room),
            accepted.eq(offered & loaded),
        ]
        m.d.sync += held_valid.eq(accepted)

        # A token that repeats the position before it shares that token's row, unless the slot has
        # been loaded between them. (`held` also follows a position that waits for its slot; then
        # nothing is shared.)
        given, last = Value.cast(self.i.payload), Value.cast(held)
        unchanged, turns, new_row = Signal(), Signal(), Signal()
        turning = (self.loaded & ~self.bypass).bit_select(slot, 1)
        m.d.sync += turns.eq(offered & turning & ~self.i.payload.bypass)
        pieces = equal_pieces(given, last, COMPARED)
        shares = Signal(1 + len(pieces))
        with m.If(offered):
            m.d.sync += [
                held.eq(self.i.payload),
                unchanged.eq(loaded),
                shares.eq(Cat(unchanged, pieces)),
            ]
        own_row = ~shares.all()
        if self._p.temperature:
            # A tempered token's last row is not its queries', so it shares nothing.
            own_row |= Value.cast(held.temperature).any()
            m.d.comb += self.o_token.payload.temperature.eq(held.temperature)
        stale = Signal()
        m.d.sync += stale.eq(self.claimed & (self.claimed_slot == held.slot))
        with m.If(stale):
            m.d.sync += unchanged.eq(0)
        m.d.comb += [
            new_row.eq(turns & own_row),
            self.o_token.valid.eq(held_valid),
            self.o_token.payload.slot.eq(held.slot),
            self.o_token.payload.rotates.eq(turns),
            self.o_token.payload.new_row.eq(new_row),
            self.o_position.valid.eq(new_row),
            self.o_position.payload.eq(held),
            self.context_slot.eq(held.slot),
        ]

        # Any axis beyond the context counts, of a token that turns; one step a clock, and none to
        # look up an only slot.
        looked_up = 0 if self._p.slots == 1 else 1

        def waited(value, **options):
            return delayed(m, value, looked_up, name="waited", **options)

        turned = waited(turns, reset_less=False)
        context, position = waited(self.context), waited(held.position)
        within, limited = Signal(self._p.axes), Signal()
        m.d.sync += [
            self.beyond_position.eq(position[0]),
            limited.eq(turned & context.stated),
            *(
                within[axis].eq((position[axis] - context.tokens)[-1])
                for axis in range(self._p.axes)
            ),
        ]
        m.d.comb += self.beyond.eq(limited & ~within.all())

        # Counted from acceptance, two clocks late.
        for number in range(self._p.slots):
            begins, ends = Signal(name=f"begins_{number}"), Signal(name=f"ends_{number}")
            unfinished = Signal(range(unfinished_limit(self._p)), name=f"unfinished_{number}")
            m.d.sync += [
                begins.eq(held_valid & (held.slot == number)),
                ends.eq(self.finished & (self.finished_slot == number)),
                unfinished.eq(counted(unfinished, begins, ends)),
                self.busy[number].eq(unfinished != 0),
            ]
        return m
