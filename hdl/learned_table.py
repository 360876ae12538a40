# SPDX-License-Identifier: Apache-2.0
"""A learned table's geometry, and which of its rows each position takes."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import SCHEME_LEARNED

from .adder_layouts import ROW_NUMBER_BITS, place_layout, request_layout
from .image_reader import ImageReader, image_word_layout
from .position_gate import PositionGate
from .streams import connect

__all__ = ["LearnedTable"]

IMAGE_WORDS = 4


class LearnedTable(wiring.Component):
    """row = position + offset, checked against the table's rows, whatever the position.

    Latency 5 clocks from a position to its request; one every 4 clocks.

    Ports
    -----
    i : stream of positions
    i_load : stream of image words
        Scheme 2 of golden/additive.py; a barrier, see ImageReader.
    o : stream of requests
    final : Out
        The number of a row's last beat.
    last_row : Out
        The number of the table's last row.
    fits : In
        The source has room for the table; 5 clocks after ``final`` and ``last_row`` at the latest.
    barred : In
        No position may be accepted.
    finished : In
        For one clock: a token is done with.
    idle : Out
        All accepted tokens are.
    out_of_table, position : Out
        For one clock: this position has no row.
    loaded, malformed, fingerprint : Out
    """

    latency = 2 + 3

    def __init__(self, p: AdderParameters, max_rows: int):
        self._p, self._max_rows = p, min(max_rows, 1 << ROW_NUMBER_BITS)
        super().__init__(
            {
                "i": In(stream.Signature(place_layout(p))),
                "i_load": In(stream.Signature(image_word_layout())),
                "o": Out(stream.Signature(request_layout(p))),
                "final": Out(bits_for(p.max_beats)),
                "last_row": Out(ROW_NUMBER_BITS),
                "fits": In(1),
                "barred": In(1),
                "finished": In(1),
                "idle": Out(1),
                "out_of_table": Out(1),
                "position": Out(signed(p.position_bits)),
                "loaded": Out(1),
                "malformed": Out(1),
                "fingerprint": Out(64),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.reader = reader = ImageReader(SCHEME_LEARNED, IMAGE_WORDS)
        m.submodules.gate = gate = PositionGate(place_layout(p))
        connect(m, wiring.flipped(self.i_load), reader.i_load)
        connect(m, wiring.flipped(self.i), gate.i)
        rows, offset, width = (Signal(32, name=n) for n in ("rows", "offset", "width"))
        with m.If(reader.valid), m.Switch(reader.index):
            for number, field in enumerate((rows, offset, width), start=1):
                with m.Case(number):
                    m.d.sync += field.eq(reader.word)
        beat = exact_log2(p.beat_elements)
        fits, divides, near = Signal(), Signal(), Signal()
        m.d.sync += [
            fits.eq((rows != 0) & (rows <= self._max_rows) & (width <= p.max_width)),
            divides.eq((width[:beat] == 0) & (width != 0)),
            near.eq(~offset[p.position_bits - 1 :].any()),
            self.last_row.eq(rows - 1),
            self.final.eq((width >> beat) - 1),
        ]
        m.d.comb += [
            reader.expected.eq(IMAGE_WORDS),
            reader.served.eq(fits & divides & near & self.fits),
            reader.idle.eq(gate.idle),
            gate.closed.eq(reader.closed | self.barred),
            gate.finished.eq(self.finished),
            self.idle.eq(gate.idle),
            self.loaded.eq(reader.loaded),
            self.malformed.eq(reader.malformed),
            self.fingerprint.eq(reader.fingerprint),
        ]
        self._requests(m, gate.o, rows, offset[: p.position_bits - 1])
        return m

    def _requests(self, m, places, rows, offset):
        """One clock each: the sum, whether it is a row's number, and the request."""
        p, request = self._p, self.o.payload
        row, position = Signal(signed(p.position_bits + 1)), Signal(signed(p.position_bits))
        summed, below, judged = Signal(), Signal(), Signal()
        m.d.comb += places.ready.eq(~summed & ~judged & ~self.o.valid)
        with m.If(places.valid & places.ready):
            m.d.sync += [
                row.eq(places.payload.position + offset),
                position.eq(places.payload.position),
            ]
        m.d.sync += [
            summed.eq(places.valid & places.ready),
            judged.eq(summed),
            below.eq(row < rows.as_signed()),
        ]
        with m.If(judged):
            m.d.sync += [
                self.o.valid.eq(1),
                request.row.eq(row),
                request.good.eq(below & ~row[-1]),
                request.position.eq(position),
            ]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        m.d.sync += [
            self.out_of_table.eq(judged & ~(below & ~row[-1])),
            self.position.eq(position),
        ]
