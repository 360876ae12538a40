# SPDX-License-Identifier: Apache-2.0
"""Gives each token's packet to the unit that has its position."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_parameters import CoreParameters

from .core_layouts import EPOCH_BITS, beat_layout, order_layout, passages, ticket_layout
from .streams import pulse_stream

__all__ = ["BeatRouter", "unit_beat_layout"]


def unit_beat_layout(p: CoreParameters) -> data.StructLayout:
    """A beat as every unit takes it."""
    elements = data.ArrayLayout(signed(p.data_bits), p.beat_elements)
    return data.StructLayout({"data": elements, "last": 1})


class BeatRouter(wiring.Component):
    """A packet goes, beat by beat, to where the next token of the order passes.

    Data wait for their token. Its ticket goes with the first beat: the unit has accepted the
    position, and as long as a token is unfinished its slot cannot be loaded anew, so the epoch is
    that of the geometry in use. Its verdict goes with the last beat: whether any was partial, or
    its slot does not exist.

    Latency none; a beat a clock.

    Ports
    -----
    i : stream of beats
    i_order : stream of tokens
    o_<passage> : stream of beats, one for each
    o_ticket : stream of tickets, always ready; room : In
        What it gives in this clock will be taken.
    o_verdict : stream of one bit, always ready
    epochs : In, 8 bits a slot
    incomplete : Out
        For one clock: a packet has gone of which a beat was partial.
    """

    i: stream.Interface
    i_order: stream.Interface
    o_ticket: stream.Interface
    o_verdict: stream.Interface
    room: Signal
    epochs: data.View
    incomplete: Signal

    def __init__(self, p: CoreParameters):
        self._p, self._passages = p, passages(p)
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(p))),
                "i_order": In(stream.Signature(order_layout(p))),
                "o_ticket": Out(pulse_stream(ticket_layout(p))),
                "o_verdict": Out(pulse_stream(1)),
                "room": In(1),
                "epochs": In(data.ArrayLayout(EPOCH_BITS, len(p.slots))),
                "incomplete": Out(1),
            }
            | {f"o_{name}": Out(stream.Signature(unit_beat_layout(p))) for name in self._passages}
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        beat, order = self.i.payload, self.i_order.payload
        begins, partial, ready = Signal(init=1), Signal(), Signal()
        # What has been offered stays on offer: only what is taken fills the queue of tickets.
        offers, held = Signal(), Signal()
        m.d.comb += offers.eq(self.i_order.valid & (self.room | ~begins | held))
        m.d.sync += held.eq(offers & self.i.valid & ~ready)
        for number, name in enumerate(self._passages):
            out = getattr(self, f"o_{name}")
            named = order.passage == number
            m.d.comb += [
                out.payload.data.eq(beat.data),
                out.payload.last.eq(beat.last),
                out.valid.eq(self.i.valid & offers & named),
            ]
            with m.If(named):
                m.d.comb += ready.eq(out.ready)

        goes = self.i.valid & self.i.ready
        m.d.comb += [
            self.i.ready.eq(offers & ready),
            self.i_order.ready.eq(goes & beat.last),
            self.o_ticket.valid.eq(goes & begins),
            self.o_ticket.payload.passage.eq(order.passage),
            self.o_ticket.payload.slot.eq(order.slot),
            self.o_ticket.payload.epoch.eq(self.epochs[order.slot]),
            self.o_verdict.valid.eq(goes & beat.last),
            self.o_verdict.payload.eq(partial | beat.partial | order.unknown),
            self.incomplete.eq(goes & beat.last & (partial | beat.partial)),
        ]
        with m.If(goes):
            m.d.sync += [begins.eq(beat.last), partial.eq(~beat.last & (partial | beat.partial))]
        return m
