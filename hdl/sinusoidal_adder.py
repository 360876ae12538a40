# SPDX-License-Identifier: Apache-2.0
"""The sinusoidal adder: embeddings and positions in, embeddings with their rows out."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from ropeway.golden.adder import LARGEST_EXPONENT, SCALE_FRACTION_BITS, SCALE_ONE
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import LAYOUTS, SCHEME_SINUSOIDAL
from ropeway.golden.sinusoidal import ROW_BITS, ROW_FRACTION_BITS

from .adder import Adder
from .adder_layouts import embedding_layout, place_layout, sum_layout
from .image_reader import ImageReader, image_word_layout
from .position_gate import PositionGate
from .sinusoidal_rows import SinusoidalRows
from .sticky import keep_packets, packet_status_layout
from .streams import connect

__all__ = ["SinusoidalAdder"]

HEADER_WORDS = 5


class SinusoidalAdder(wiring.Component):
    """x · scale + PE(position), PE made from a table of increments at any position.

    Every token takes one position and one packet, in the same order; either may run ahead. One beat
    a clock with no bubble between tokens of 8 beats or more, or one every interval of the
    generators.

    Latency from a position to the first sum, data waiting: ``latency`` clocks and ``interval`` for
    every beat of the row but the first, since rows are laid out when they are whole.

    Ports
    -----
    i : stream of beats of embeddings
    i_position : stream of positions
    i_load : stream of image words
        Scheme 3 of golden/additive.py; a barrier, see ImageReader.
    o : stream of sums
    loaded, fingerprint : Out
    status : Out
    clear : In
        Clears the sticky flags.
    """

    i: stream.Interface
    i_position: stream.Interface
    i_load: stream.Interface
    o: stream.Interface
    loaded: Signal
    fingerprint: Signal
    status: data.View
    clear: Signal

    def __init__(self, p: AdderParameters):
        self.parameters = p
        self._rows = SinusoidalRows(p)
        self._adder = Adder(p, ROW_BITS, ROW_FRACTION_BITS)
        super().__init__(
            {
                "i": In(stream.Signature(embedding_layout(p))),
                "i_position": In(stream.Signature(place_layout(p))),
                "i_load": In(stream.Signature(image_word_layout())),
                "o": Out(stream.Signature(sum_layout(p))),
                "loaded": Out(1),
                "fingerprint": Out(64),
                "status": Out(packet_status_layout()),
                "clear": In(1),
            }
        )

    @property
    def interval(self) -> int:
        """Clocks a beat."""
        return self._rows.interval

    @property
    def latency(self) -> int:
        """Clocks from a position to the first sum, and ``interval`` for every further beat."""
        return 2 + self._rows.latency + self._adder.latency

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self.parameters
        m.submodules.reader = reader = ImageReader(
            SCHEME_SINUSOIDAL, HEADER_WORDS + 2 * p.max_frequencies
        )
        m.submodules.gate = gate = PositionGate(place_layout(p))
        m.submodules.rows = rows = self._rows
        m.submodules.adder = adder = self._adder
        connect(m, wiring.flipped(self.i_load), reader.i_load)
        connect(m, wiring.flipped(self.i_position), gate.i)
        connect(m, gate.o, rows.i)
        connect(m, rows.o, adder.i_row)
        connect(m, wiring.flipped(self.i), adder.i)
        connect(m, adder.o, wiring.flipped(self.o))
        m.d.comb += [
            gate.closed.eq(reader.closed),
            gate.finished.eq(adder.finished),
            reader.idle.eq(gate.idle),
            self.loaded.eq(reader.loaded),
            self.fingerprint.eq(reader.fingerprint),
        ]
        self._table(m, reader, rows, adder)

        keep_packets(
            m,
            self.status,
            self.clear,
            finished=adder.finished,
            misframed=adder.misframed,
            saturated=adder.saturated,
            malformed=reader.malformed,
        )
        return m

    def _table(self, m, reader, rows, adder):
        """The header's fields and the increments, each kept as its word arrives."""
        p = self.parameters
        width, layout, offset, scale, low = (Signal(32) for _ in range(5))
        number = Signal(range(p.max_frequencies))
        # Which word it is takes a clock to see.
        word, arrived, begins, second = Signal(32, reset_less=True), Signal(), Signal(), Signal()
        m.d.sync += [
            word.eq(reader.word),
            arrived.eq(reader.valid),
            begins.eq(reader.valid & (reader.index == 0)),
            second.eq(reader.valid & ~reader.index[0] & (reader.index > HEADER_WORDS)),
        ]
        for index, field in enumerate((width, layout, offset, scale), start=1):
            present = Signal(name=f"field_{index}")
            m.d.sync += present.eq(reader.valid & (reader.index == index))
            with m.If(present):
                m.d.sync += field.eq(word)
        with m.If(arrived):
            m.d.sync += low.eq(word)
        m.d.sync += [
            rows.write.eq(second),
            rows.write_increment.eq(Cat(low, word)),
            rows.write_number.eq(number),
        ]
        with m.If(begins):
            m.d.sync += number.eq(0)
        with m.Elif(second):
            m.d.sync += number.eq(number + 1)

        # AdderParameters.check_serves is the twin.
        beat = exact_log2(p.beat_elements)
        halves = layout != LAYOUTS.index("interleaved")
        code, exponent = scale[: SCALE_FRACTION_BITS + 1], scale[SCALE_FRACTION_BITS + 1 :]
        if p.scaled:
            m.d.comb += [adder.scale.code.eq(code), adder.scale.exponent.eq(exponent)]
            scales = code[-1] & (exponent <= LARGEST_EXPONENT)
        else:
            scales = scale == SCALE_ONE
        fits, divides, known, near = Signal(), Signal(), Signal(), Signal()
        m.d.sync += [
            fits.eq((width != 0) & (width <= p.max_width)),
            divides.eq((width[:beat] == 0) & ~(halves & width[beat])),
            known.eq((layout < len(LAYOUTS)) & scales),
            near.eq(~offset[len(rows.offset) :].any()),
            reader.expected.eq(HEADER_WORDS + width),
            reader.served.eq(fits & divides & known & near),
        ]
        m.d.sync += [
            rows.offset.eq(offset),
            rows.shape.final.eq((width >> beat) - 1),
            rows.shape.halves.eq(halves),
            rows.shape.cosine.eq(layout == LAYOUTS.index("cos-sin")),
        ]
