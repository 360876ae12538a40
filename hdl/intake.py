# SPDX-License-Identifier: Apache-2.0
"""Accepts positions: one a token, ahead of its data if the host likes."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .layouts import position_layout, token_layout

__all__ = ["Intake"]


class Intake(wiring.Component):
    """Samples a token's slot as its position is accepted, and keeps the slot busy until it is finished.

    A position is accepted when its slot is loaded and the queues have room, whatever the data do; one
    that names a slot not loaded, or being loaded, waits for the load. A token whose position, slot and
    flags are those of the rotated token before it shares that token's row.

    Latency none: positions pass in the clock they are accepted. One a clock.

    Ports
    -----
    i : stream of positions
    o_token, o_job : stream of tokens, and of positions whose row is to be made; both must be ready
    loaded, bypass : In, one bit a slot
    claiming, claimed_slot : In
        A load begins.
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
                "o_token": Out(stream.Signature(token_layout(p))),
                "o_job": Out(stream.Signature(position_layout(p))),
                "loaded": In(p.slots),
                "bypass": In(p.slots),
                "claiming": In(1),
                "claimed_slot": In(slot),
                "finished": In(1),
                "finished_slot": In(slot),
                "busy": Out(p.slots),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        position = self.i.payload
        slot = position.slot

        claimed, accepted = Signal(), Signal()
        m.d.comb += [
            claimed.eq(self.claiming & (self.claimed_slot == slot)),
            self.i.ready.eq(
                self.loaded.bit_select(slot, 1)
                & ~claimed
                & self.o_token.ready
                & self.o_job.ready
            ),
            accepted.eq(self.i.valid & self.i.ready),
        ]

        # A row is made once for all tokens in succession that need the same one.
        row, last_row = Signal(len(Value.cast(position))), Signal(len(Value.cast(position)))
        last_valid, rotates, new_row = Signal(), Signal(), Signal()
        m.d.comb += [
            row.eq(position),
            rotates.eq(~position.bypass & ~self.bypass.bit_select(slot, 1)),
            new_row.eq(rotates & ~(last_valid & (row == last_row))),
            self.o_token.valid.eq(accepted),
            self.o_token.payload.slot.eq(slot),
            self.o_token.payload.rotates.eq(rotates),
            self.o_token.payload.new_row.eq(new_row),
            self.o_job.valid.eq(accepted & new_row),
            Value.cast(self.o_job.payload).eq(position),
        ]
        last_slot = Signal.like(slot)
        with m.If(accepted & new_row):
            m.d.sync += [last_row.eq(row), last_slot.eq(slot), last_valid.eq(1)]
        with m.If(self.claiming & (self.claimed_slot == last_slot)):
            m.d.sync += last_valid.eq(0)

        for number in range(self._p.slots):
            unfinished = Signal(range(2 * self._p.tokens + 1), name=f"unfinished_{number}")
            begins = accepted & (slot == number)
            ends = self.finished & (self.finished_slot == number)
            m.d.sync += unfinished.eq(unfinished + begins - ends)
            m.d.comb += self.busy[number].eq(unfinished != 0)
        return m
