# SPDX-License-Identifier: Apache-2.0
"""Adds rows to embeddings, a beat a clock, each element rounded once."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ropeway.golden.adder_parameters import AdderParameters

from .adder_lane import AdderLane
from .adder_layouts import embedding_layout, row_layout, scale_layout, sum_layout
from .fixed import counted
from .float_adder_lane import FloatAdderLane
from .packet_frame import PacketFrame
from .queue import Queue
from .streams import connect, delayed

__all__ = ["Adder"]

RESULTS = 32  # beats in the pipeline and behind it, at least
QUEUED = 2  # clocks through the queue of results
MARGIN = 4  # places that a beat every clock leaves unused, since their count is late


class Adder(wiring.Component):
    """element · scale + row word, beat by beat, each sum rounded once from an exact one.

    Fixed-point sums are saturated, floating-point ones become infinite. A row's beats say how long
    its token is. A packet that ends early is filled up with zeros, the rest of one that ends late
    is dropped; its last beat carries ``error`` and the next token is exact. A token whose row has
    ``error`` passes unchanged, every beat of it marked.

    Latency: see ``latency``, from a beat to its sum, its row waiting; one beat a clock.

    Parameters
    ----------
    p : the adder's
    row_bits, row_fraction_bits : of a row's words; without, they are words as embeddings are

    Ports
    -----
    i : stream of beats of embeddings
    i_row : stream of beats of rows
    o : stream of sums
    scale : In, with ``scaled``
        Steady while tokens are on their way.
    finished, misframed, saturated : Out
        For one clock each: a token's last beat has come in; its packet was malformed; a sum did not
        fit.
    """

    i: stream.Interface
    i_row: stream.Interface
    o: stream.Interface
    scale: data.View
    finished: Signal
    misframed: Signal
    saturated: Signal

    def __init__(
        self,
        p: AdderParameters,
        row_bits: int | None = None,
        row_fraction_bits: int | None = None,
    ):
        self._p = p
        row_bits = p.data_bits if row_bits is None else row_bits
        if p.floating:
            self._lanes = [
                FloatAdderLane(p, row_bits, row_fraction_bits) for _ in range(p.beat_elements)
            ]
        else:
            fraction_bits = p.fraction_bits if row_fraction_bits is None else row_fraction_bits
            self._lanes = [AdderLane(p, row_bits, fraction_bits) for _ in range(p.beat_elements)]
        super().__init__(
            {
                "i": In(stream.Signature(embedding_layout(p))),
                "i_row": In(stream.Signature(row_layout(p, row_bits))),
                "o": Out(stream.Signature(sum_layout(p))),
                "finished": Out(1),
                "misframed": Out(1),
                "saturated": Out(1),
            }
            | ({"scale": In(scale_layout())} if p.scaled else {})
        )

    @property
    def latency(self) -> int:
        """Clocks from a beat to its sum, with its row and room waiting."""
        return self._lanes[0].latency + QUEUED

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p, row = self._p, self.i_row.payload
        depth = max(RESULTS, 1 << bits_for(self.latency + MARGIN))
        m.submodules.results = results = Queue(sum_layout(p), depth, full_rate=True)
        m.submodules.frame = frame = PacketFrame()
        self._frame(m, frame, results, depth)

        # A beat's elements, 0 where its packet has ended, and its row.
        elements = Signal(data.ArrayLayout(signed(p.data_bits), p.beat_elements))
        with m.If(~frame.filling):
            m.d.comb += elements.eq(self.i.payload.data)
        for number, lane in enumerate(self._lanes):
            m.submodules[f"lane_{number}"] = lane
            m.d.comb += [
                lane.element.eq(elements[number]),
                lane.word.eq(row.data[number]),
                lane.passes.eq(row.error),
                results.i.payload.data[number].eq(lane.o),
            ]
            if p.scaled:
                m.d.comb += lane.scale.eq(self.scale)

        def waited(value, **options):
            return delayed(m, value, self.latency - QUEUED, name="waited", **options)

        gives = waited(frame.goes, reset_less=False)
        m.d.comb += [
            results.i.valid.eq(gives),
            results.i.payload.last.eq(waited(row.last)),
            results.i.payload.error.eq(waited(row.error | (row.last & frame.spoilt))),
            self.saturated.eq(gives & Cat(lane.saturated for lane in self._lanes).any()),
        ]
        connect(m, results.o, wiring.flipped(self.o))
        return m

    def _frame(self, m, frame, results, depth: int):
        """A beat goes when its row and a place for its sum are there."""
        places, room = Signal(bits_for(depth), init=depth - 1), Signal()
        taken, ends = results.o.valid & results.o.ready, frame.goes & self.i_row.payload.last
        m.d.comb += [
            frame.valid.eq(self.i.valid),
            frame.last.eq(self.i.payload.last),
            frame.present.eq(self.i_row.valid),
            frame.final.eq(self.i_row.payload.last),
            frame.room.eq(room),
            self.i.ready.eq(frame.ready),
            self.i_row.ready.eq(frame.goes),
        ]
        m.d.sync += [
            places.eq(counted(places, taken, frame.goes)),
            room.eq(places > 2),  # two clocks late
            self.finished.eq(ends),
            self.misframed.eq(ends & frame.spoilt),
        ]
