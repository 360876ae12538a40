# SPDX-License-Identifier: Apache-2.0
"""Takes each token's result from the unit that it passed, in the tokens' order."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_parameters import CoreParameters

from .core_layouts import passages, result_layout, ticket_layout

__all__ = ["ResultMerger", "unit_result_layout"]


def unit_result_layout(p: CoreParameters) -> data.StructLayout:
    """A beat of a result as every unit gives it."""
    elements = data.ArrayLayout(signed(p.output_bits), p.beat_elements)
    return data.StructLayout({"data": elements, "last": 1, "error": 1})


class ResultMerger(wiring.Component):
    """One stream of results from all passages', tagged with each token's ticket.

    A result's last beat waits for the verdict on its packet, which has come by then unless the
    packet is longer than its geometry. It has ``error`` where its unit says so or the verdict does.

    Latency none; a beat a clock.

    Ports
    -----
    i_<passage> : stream of results, one for each
    i_ticket, i_verdict : streams
    o : stream of results
    finished : Out
        A token's last beat leaves.
    """

    i_ticket: stream.Interface
    i_verdict: stream.Interface
    o: stream.Interface
    finished: Signal

    def __init__(self, p: CoreParameters):
        self._p, self._passages = p, passages(p)
        super().__init__(
            {
                "i_ticket": In(stream.Signature(ticket_layout(p))),
                "i_verdict": In(stream.Signature(1)),
                "o": Out(stream.Signature(result_layout(p))),
                "finished": Out(1),
            }
            | {f"i_{name}": In(stream.Signature(unit_result_layout(p))) for name in self._passages}
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        ticket, out = self.i_ticket.payload, self.o.payload
        beat, valid, judged = Signal(unit_result_layout(self._p)), Signal(), Signal()
        m.d.comb += judged.eq(self.i_ticket.valid & (self.i_verdict.valid | ~beat.last))
        for number, name in enumerate(self._passages):
            result = getattr(self, f"i_{name}")
            with m.If(ticket.passage == number):
                m.d.comb += [
                    beat.eq(result.payload),
                    valid.eq(result.valid),
                    result.ready.eq(self.o.ready & judged),
                ]

        ends = self.o.valid & self.o.ready & beat.last
        m.d.comb += [
            self.o.valid.eq(valid & judged),
            out.data.eq(beat.data),
            out.last.eq(beat.last),
            out.error.eq(beat.error | (beat.last & self.i_verdict.payload)),
            out.slot.eq(ticket.slot),
            out.epoch.eq(ticket.epoch),
            self.i_ticket.ready.eq(ends),
            self.i_verdict.ready.eq(ends),
            self.finished.eq(ends),
        ]
        return m
