# SPDX-License-Identifier: Apache-2.0
"""The AXI4-Stream ports of scores: packets of scores, what rows they are of, and results."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_parameters import CoreParameters

from .alibi_layouts import score_layout, scored_layout, segment_layout
from .axi_stream import WORD, axi_stream_signature, packed, unpacked
from .skid import Skid
from .streams import connect

__all__ = ["ScorePort", "score_signatures"]

HEAD_BITS = 16
SEGMENT_WORDS = 5


def score_signatures(p: CoreParameters) -> dict[str, wiring.Member]:
    """The ports of scores as members of a signature.

    A segment's words of 32 bits: the head in 16, ``key_only`` and ``causal``; the query's position;
    the first key's; the number of keys less one; the window. Scores are packed as vectors are; a
    result's ``tuser`` is ``error``.
    """
    beat = 8 * p.score_bytes * p.score_lanes
    return {
        "s_axis_score": In(axi_stream_signature(beat)),
        "s_axis_segment": In(axi_stream_signature(WORD * SEGMENT_WORDS, last=False)),
        "m_axis_score": Out(axi_stream_signature(beat, user_bits=1)),
    }


class ScorePort(wiring.Component):
    """Scores and segments from AXI4-Stream, biased scores to it.

    Latency 1 clock for scores, none for segments and results; a beat a clock.

    Ports
    -----
    s_axis_score, s_axis_segment, m_axis_score : AXI4-Stream, see score_signatures
    o : stream of scores, o_segment : stream of segments
    i : stream of biased scores
    """

    s_axis_score: wiring.PureInterface
    s_axis_segment: wiring.PureInterface
    m_axis_score: wiring.PureInterface
    o: stream.Interface
    o_segment: stream.Interface
    i: stream.Interface

    def __init__(self, p: CoreParameters):
        self._p = p
        super().__init__(
            {
                **score_signatures(p),
                "o": Out(stream.Signature(score_layout(p.alibi))),
                "o_segment": Out(stream.Signature(segment_layout(p.alibi))),
                "i": In(stream.Signature(scored_layout(p.alibi))),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.scores = scores = Skid(score_layout(p.alibi))
        connect(m, scores.o, wiring.flipped(self.o))
        given = self.s_axis_score
        m.d.comb += [
            scores.i.valid.eq(given.tvalid),
            given.tready.eq(scores.i.ready),
            *unpacked(given.tdata, scores.i.payload.data, p.score_bytes),
            scores.i.payload.last.eq(given.tlast),
        ]

        given, segment = self.s_axis_segment, self.o_segment.payload
        head, query, key, final, window = (
            given.tdata.word_select(number, WORD) for number in range(SEGMENT_WORDS)
        )
        m.d.comb += [
            self.o_segment.valid.eq(given.tvalid),
            given.tready.eq(self.o_segment.ready),
            segment.head.eq(head[:HEAD_BITS]),
            segment.key_only.eq(head[HEAD_BITS]),
            segment.mask.causal.eq(head[HEAD_BITS + 1]),
            segment.query.eq(query),
            segment.key.eq(key),
            segment.final.eq(final),
            segment.mask.window.eq(window),
        ]

        out, result = self.m_axis_score, self.i.payload
        m.d.comb += [
            out.tvalid.eq(self.i.valid),
            self.i.ready.eq(out.tready),
            out.tdata.eq(packed(result.data, p.score_bytes)),
            out.tlast.eq(result.last),
            out.tuser.eq(result.error),
        ]
        return m
