# SPDX-License-Identifier: Apache-2.0
"""Words that a host writes and reads, as a core's streams of vectors, positions and results."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.hosted_parameters import WORD_BITS, HostedParameters

from .block_fifo import BlockFifo
from .core_layouts import EPOCH_BITS
from .stage import Stage
from .streams import connect, pulse_stream
from .vector_port import SLOT_BYTE, vector_signatures
from .word_gather import WordGather
from .word_spread import WordSpread

__all__ = ["HostPort"]

BEATS_BITS = 16


class HostPort(wiring.Component):
    """FIFOs of 32-bit words; of whole beats or positions the lowest word comes and goes first.

    What there is no space for is lost, and what follows then stands in the wrong places: it is for
    the host to look first. Results wait in the core while their FIFO is full.

    Latency: 3 clocks from a word to the core, and from a result to being ready.

    Ports
    -----
    packet_beats : In
        Beats that make up a packet, 0 for 65,536; steady while there are words.
    vectors, positions : streams of words, always ready
    vector_space, position_space : Out
        Words that there is space for.
    results : stream of words
    result_words : Out
        Words that wait.
    overrun, error : Out
        For one clock: a word is lost; a result came with its mark of an error.
    o, o_position : AXI4-Stream
        To the core's ``s_axis`` and ``s_axis_position``.
    i : AXI4-Stream
        From its ``m_axis``.
    """

    packet_beats: Signal
    vectors: stream.Interface
    positions: stream.Interface
    vector_space: Signal
    position_space: Signal
    results: stream.Interface
    result_words: Signal
    overrun: Signal
    error: Signal
    o: wiring.PureInterface
    o_position: wiring.PureInterface
    i: wiring.PureInterface

    def __init__(self, p: HostedParameters):
        self._p = p
        ports = vector_signatures(p.core)
        super().__init__(
            {
                "packet_beats": In(BEATS_BITS),
                "vectors": In(pulse_stream(WORD_BITS)),
                "positions": In(pulse_stream(WORD_BITS)),
                "vector_space": Out(range(p.vector_words + 1)),
                "position_space": Out(range(p.position_words + 1)),
                "results": Out(stream.Signature(WORD_BITS)),
                "result_words": Out(range(p.result_words + 1)),
                "overrun": Out(1),
                "error": Out(1),
                "o": ports["s_axis"].flip(),
                "o_position": ports["s_axis_position"].flip(),
                "i": ports["m_axis"].flip(),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        beat = self._into(m, "vector", self.vectors, p.vector_words, p.beat_words)
        place = self._into(m, "position", self.positions, p.position_words, p.place_words)
        m.d.comb += [
            self.overrun.eq(
                Cat(
                    given.valid & (space == 0)
                    for given, space in (
                        (self.vectors, self.vector_space),
                        (self.positions, self.position_space),
                    )
                ).any()
            ),
            self.o_position.tvalid.eq(place.valid),
            place.ready.eq(self.o_position.tready),
            self.o_position.tdata.eq(place.payload),
            self.o.tvalid.eq(beat.valid),
            beat.ready.eq(self.o.tready),
            self.o.tdata.eq(beat.payload),
        ]
        if p.core.keep:
            m.d.comb += self.o.tkeep.eq(-1)
        number = Signal(BEATS_BITS, init=1)
        m.d.comb += self.o.tlast.eq(number == self.packet_beats)
        with m.If(beat.valid & beat.ready):
            m.d.sync += number.eq(Mux(self.o.tlast, 1, number + 1))
        self._results(m)
        return m

    def _into(self, m, name: str, given, depth: int, words: int) -> stream.Interface:
        """A FIFO of words, or a register of one, and what they make up."""
        fifo = BlockFifo(WORD_BITS, depth) if depth > 1 else Stage(WORD_BITS)
        m.submodules[f"{name}_words"] = fifo
        m.submodules[name] = gather = WordGather(WORD_BITS, words)
        connect(m, fifo.o, gather.i)
        m.d.comb += [
            fifo.i.valid.eq(given.valid),
            fifo.i.payload.eq(given.payload),
            getattr(self, f"{name}_space").eq(depth - fifo.level if depth > 1 else fifo.i.ready),
        ]
        return gather.o

    def _results(self, m):
        """Beats of results, as words."""
        p = self._p
        m.submodules.spread = spread = WordSpread(WORD_BITS, p.result_beat_words)
        m.submodules.result_fifo = fifo = BlockFifo(WORD_BITS, p.result_words)
        given = self.i
        m.d.comb += [
            spread.i.valid.eq(given.tvalid),
            spread.i.payload.eq(given.tdata),
            given.tready.eq(spread.i.ready),
            spread.o.ready.eq(~fifo.full),
            fifo.i.valid.eq(spread.o.valid & spread.o.ready),
            fifo.i.payload.eq(spread.o.payload),
            self.result_words.eq(fifo.level),
            self.error.eq(given.tvalid & given.tready & given.tuser[SLOT_BYTE + EPOCH_BITS]),
        ]
        connect(m, fifo.o, wiring.flipped(self.results))
