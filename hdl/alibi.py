# SPDX-License-Identifier: Apache-2.0
"""The ALiBi unit: scores and what rows they are of in, biased scores out."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ropeway.golden.additive import SCHEME_ALIBI
from ropeway.golden.alibi_parameters import SCALE_FRACTION_BITS, AlibiParameters

from .alibi_beats import AlibiBeats
from .alibi_lanes import AlibiLanes
from .alibi_layouts import score_layout, scored_layout, segment_layout
from .alibi_starts import AlibiStarts
from .fixed import counted
from .image_reader import ImageReader, image_word_layout
from .queue import Queue
from .skid import Skid
from .sticky import keep_packets, packet_status_layout
from .streams import connect, delayed

__all__ = ["AlibiUnit"]

RESULTS = 32  # beats in the pipeline and behind it
HEADER_WORDS = 3


class AlibiUnit(wiring.Component):
    """Adds −slope · distance to attention scores as they stream by; no multiplier, no matrix.

    A segment is a run of consecutive keys of one row: a descriptor at ``i_segment``, ahead of its
    scores if the host likes, and one packet of scores. One beat a clock; a descriptor takes fewer
    clocks than a segment's beats unless the segment is very short, see AlibiStarts. Neither stream
    waits for more than the other's next item. Masked scores become −2^(data_bits − 1); lanes of the
    last beat that hold no key give 0.

    A packet that ends early is filled up with zeros, the rest of one that ends late is dropped;
    such a segment's last beat carries ``error``, and the next one is exact.

    Latency: ``latency`` clocks from a beat of scores to its result, its segment waiting.

    Ports
    -----
    i : stream of beats of scores
    i_segment : stream of segments
    i_load : stream of image words
        Scheme 1 of golden/additive.py; a barrier, see ImageReader.
    o : stream of beats of biased scores
    scale : In, units of 2^-17, with ``scaled``
    loaded, fingerprint : Out
    status : Out
    clear : In
        Clears the sticky flags.
    """

    i: stream.Interface
    i_segment: stream.Interface
    i_load: stream.Interface
    o: stream.Interface
    loaded: Signal
    fingerprint: Signal
    status: data.View
    clear: Signal
    scale: Signal

    def __init__(self, p: AlibiParameters):
        self.parameters = p
        self._lanes = AlibiLanes(p)
        super().__init__(
            {
                "i": In(stream.Signature(score_layout(p))),
                "i_segment": In(stream.Signature(segment_layout(p))),
                "i_load": In(stream.Signature(image_word_layout())),
                "o": Out(stream.Signature(scored_layout(p))),
                "loaded": Out(1),
                "fingerprint": Out(64),
                "status": Out(packet_status_layout()),
                "clear": In(1),
            }
            | ({"scale": In(SCALE_FRACTION_BITS + 1)} if p.scaled else {})
        )

    @property
    def latency(self) -> int:
        """Clocks from a beat of scores to its result, with its segment and room waiting."""
        return AlibiBeats.latency + self._lanes.latency + 2

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self.parameters
        m.submodules.reader = reader = ImageReader(SCHEME_ALIBI, HEADER_WORDS + 2 * p.max_heads)
        m.submodules.starts = starts = AlibiStarts(p)
        connect(m, wiring.flipped(self.i_load), reader.i_load)
        symmetric = self._slopes(m, reader, starts)

        # Segments, as long as there are slopes for them.
        m.submodules.segments = segments = Skid(segment_layout(p))
        accepted = Signal()
        m.d.comb += [
            segments.i.payload.eq(self.i_segment.payload),
            segments.i.valid.eq(self.i_segment.valid & ~reader.closed),
            self.i_segment.ready.eq(segments.i.ready & ~reader.closed),
            accepted.eq(segments.i.valid & segments.i.ready),
        ]
        connect(m, segments.o, starts.i)

        m.submodules.beats = beats = AlibiBeats(p)
        connect(m, starts.o, beats.i_segment)
        connect(m, wiring.flipped(self.i), beats.i)
        m.d.comb += beats.symmetric.eq(symmetric)
        self._results(m, beats)
        finished, unfinished, begun = beats.valid & beats.last, Signal(4), Signal()
        m.d.sync += [
            begun.eq(accepted),
            unfinished.eq(counted(unfinished, begun, finished)),
            reader.idle.eq(unfinished == 0),
        ]
        m.d.comb += [self.loaded.eq(reader.loaded), self.fingerprint.eq(reader.fingerprint)]
        keep_packets(
            m,
            self.status,
            self.clear,
            finished=finished,
            misframed=beats.valid & beats.error,
            saturated=self._lanes.saturated,
            malformed=reader.malformed,
        )
        return m

    def _slopes(self, m, reader, starts) -> Signal:
        """Slopes to their memory as they arrive; whether the table's form is the symmetric one."""
        p = self.parameters
        heads, fits, symmetric = Signal(32), Signal(), Signal(32)
        low, head = Signal(32), Signal(range(p.max_heads + 1))
        with m.If(reader.valid):
            m.d.sync += low.eq(reader.word)
            with m.Switch(reader.index):
                with m.Case(1):
                    m.d.sync += [heads.eq(reader.word), head.eq(0)]
                with m.Case(2):
                    m.d.sync += symmetric.eq(reader.word)
        second = reader.valid & ~reader.index[0] & (reader.index > HEADER_WORDS)
        m.d.sync += [
            starts.write.eq(second),
            starts.write_head.eq(head),
            starts.write_slope.eq(Cat(low, reader.word)),
            fits.eq((heads != 0) & (heads <= p.max_heads)),
            reader.expected.eq(HEADER_WORDS + 2 * heads),
            reader.served.eq(fits & ~symmetric[1:].any()),
        ]
        with m.If(second):
            m.d.sync += head.eq(head + 1)
        return symmetric[0]

    def _results(self, m, beats):
        """Beats through the lanes, as many as there are places for their results."""
        p = self.parameters
        m.submodules.lanes = lanes = self._lanes
        m.submodules.results = results = Queue(scored_layout(p), RESULTS, full_rate=True)
        places, taken = Signal(bits_for(RESULTS), init=RESULTS - 1), Signal()
        m.d.comb += taken.eq(results.o.valid & results.o.ready)
        m.d.sync += [
            places.eq(counted(places, taken, beats.valid)),
            beats.room.eq(places > 3),  # three clocks late
        ]

        def waited(value, **options):
            return delayed(m, value, lanes.latency, name="waited", **options)

        m.d.comb += [
            lanes.valid.eq(beats.valid),
            lanes.beat.eq(beats.beat),
            results.i.valid.eq(waited(beats.valid, reset_less=False)),
            results.i.payload.data.eq(lanes.scores),
            results.i.payload.last.eq(waited(beats.last)),
            results.i.payload.error.eq(waited(beats.error)),
        ]
        connect(m, results.o, wiring.flipped(self.o))
        if p.scaled:
            m.d.comb += lanes.scale.eq(self.scale)
