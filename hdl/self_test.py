# SPDX-License-Identifier: Apache-2.0
"""Runs tokens through a core at full speed, and makes a signature of what comes out."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.self_test import LEAP, MOST_BEATS, MOST_TOKENS, lane_seeds

from .core_layouts import EPOCH_BITS
from .vector_port import SLOT_BYTE, vector_signatures

__all__ = ["SelfTest", "lanes_of"]

CLOCK_BITS = 32
LANE_BITS = 32


def lanes_of(p: CoreParameters) -> int:
    """Lanes of a beat, two elements each; a signature has a word for each."""
    return p.beat_elements // 2


class SelfTest(wiring.Component):
    """A generator before a core and a signature register behind it, while no host streams.

    golden/self_test.py says what is streamed, and what the signature is. From ``start`` on a beat
    is offered in every clock, and every result taken as it comes; positions are the core's own
    counted ones. The test ends with the last beat of as many results; it matches where the
    signature is as expected and no result had the mark of an error.

    ``done`` comes in the clock after the last beat, ``matched`` in the next one.

    Ports
    -----
    start : In
        Ignored while ``busy``.
    tokens, beats : In
        How many tokens, and a token's beats; steady from a clock before ``start`` on while
        ``busy``. 0 is all and one more.
    seed : In
    expect, expected_number, expected : In
        Keep a word of what the signature is to be.
    busy, done, matched : Out
    clocks : Out
        From that in which the first beat was taken to that of the last result, modulo 2^32.
    signature_number : In, signature_word : Out
        A word of the signature, at most a clock later.
    o : AXI4-Stream
        To the core's ``s_axis``.
    i : AXI4-Stream
        From its ``m_axis``.
    """

    start: Signal
    tokens: Signal
    beats: Signal
    seed: Signal
    expect: Signal
    expected_number: Signal
    expected: Signal
    busy: Signal
    done: Signal
    matched: Signal
    clocks: Signal
    signature_number: Signal
    signature_word: Signal
    o: wiring.PureInterface
    i: wiring.PureInterface

    def __init__(self, p: CoreParameters):
        self._p = p
        ports = vector_signatures(p)
        number = range(lanes_of(p))
        super().__init__(
            {
                "start": In(1),
                "tokens": In(range(MOST_TOKENS + 1)),
                "beats": In(range(MOST_BEATS + 1)),
                "seed": In(LANE_BITS),
                "expect": In(1),
                "expected_number": In(number),
                "expected": In(LANE_BITS),
                "busy": Out(1),
                "done": Out(1),
                "matched": Out(1),
                "clocks": Out(CLOCK_BITS),
                "signature_number": In(number),
                "signature_word": Out(LANE_BITS),
                "o": ports["s_axis"].flip(),
                "i": ports["m_axis"].flip(),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        begins = Signal()
        m.d.comb += begins.eq(self.start & ~self.busy)
        with m.If(begins):
            m.d.sync += [self.busy.eq(1), self.done.eq(0)]
        ended = Signal()
        taken = self._offer(m, begins, ended)
        self._take(m, begins, ended)
        with m.If(ended):
            m.d.sync += [self.busy.eq(0), self.done.eq(1)]

        timed = Signal()
        with m.If(begins):
            m.d.sync += [timed.eq(0), self.clocks.eq(0)]
        with m.Elif(self.busy):
            m.d.sync += [timed.eq(timed | taken), self.clocks.eq(self.clocks + timed)]
        return m

    def _offer(self, m, begins: Value, ended: Value) -> Signal:
        """Beats, from when it begins; whether one is taken."""
        taken, last = Signal(), self.o.tlast
        # Of the next beat; what is counted up from a constant takes half the logic.
        beat, single = Signal.like(self.beats), Signal()
        m.d.comb += taken.eq(self.o.tvalid & self.o.tready)
        m.d.sync += single.eq(self.beats == 1)
        with m.If(begins | (taken & last)):
            m.d.sync += [beat.eq(2), last.eq(single)]
        with m.Elif(taken):
            m.d.sync += [beat.eq(beat + 1), last.eq(beat == self.beats)]
        final = self._final(m, begins | (taken & last), ended, "offered")
        with m.If(begins):
            m.d.sync += self.o.tvalid.eq(1)
        with m.Elif(taken & last):
            m.d.sync += self.o.tvalid.eq(~final)

        seeds = lane_seeds(lanes_of(self._p), 0).tolist()
        width = self._p.data_bits
        elements = []
        for lane, apart in enumerate(seeds):
            word = Signal(LANE_BITS, name=f"stimulus_{lane}", reset_less=True)
            with m.If(begins):
                m.d.sync += word.eq(self.seed ^ apart)
            with m.Elif(taken):
                m.d.sync += word.eq(_stepped(word, LEAP))
            elements += [word[:width], word[-width:]]
        container = 8 * self._p.element_bytes
        m.d.comb += [
            self.o.tdata.eq(Cat(Cat(e, C(0, container - width)) for e in elements)),
        ]
        if self._p.keep:
            m.d.comb += self.o.tkeep.eq(-1)
        return taken

    def _final(self, m, follows: Value, ended: Value, name: str) -> Signal:
        """Whether a token is the last, where ``follows`` says that one follows.

        That is decided as it begins: a comparison of all bits is far from what it decides.
        """
        token, final = Signal.like(self.tokens, init=1, name=name), Signal(name=f"{name}_final")
        with m.If(ended):
            m.d.sync += token.eq(1)
        with m.Elif(follows):
            m.d.sync += [token.eq(token + 1), final.eq(token == self.tokens)]
        return final

    def _take(self, m, begins: Value, ended: Signal):
        """Results, into the signature; and whether the last one ends."""
        given, wrong = Signal(), Signal()
        final = self._final(m, begins | (given & self.i.tlast), ended, "taken")
        m.d.comb += [
            self.i.tready.eq(self.busy),
            given.eq(self.i.tvalid & self.busy),
            ended.eq(given & self.i.tlast & final),
        ]
        with m.If(begins):
            m.d.sync += wrong.eq(0)
        with m.Elif(given):
            m.d.sync += wrong.eq(wrong | self.i.tuser[SLOT_BYTE + EPOCH_BITS])

        lanes, width = lanes_of(self._p), self._p.output_bits
        words = Signal(data.ArrayLayout(LANE_BITS, lanes))
        wanted = Signal.like(words)
        for lane in range(lanes):
            first, second = (
                self.i.tdata.word_select(2 * lane + n, 8 * self._p.output_bytes)[:width]
                for n in range(2)
            )
            with m.If(begins):
                m.d.sync += words[lane].eq(0)
            with m.Elif(given):
                taken_in = first ^ Cat(C(0, LANE_BITS - width), second)
                m.d.sync += words[lane].eq(_stepped(words[lane], 1) ^ taken_in)
        with m.If(self.expect):
            m.d.sync += wanted[self.expected_number].eq(self.expected)
        same = words.as_value() == wanted.as_value()
        m.d.sync += self.matched.eq(self.done & ~wrong & same)
        chosen = m.d.sync if lanes > 1 else m.d.comb
        chosen += self.signature_word.eq(words[self.signature_number])


def _stepped(word: Value, bits: int) -> Value:
    """golden.self_test.step of a signal."""
    fed = word[:bits] ^ word[2 : bits + 2] ^ word[6 : bits + 6] ^ word[7 : bits + 7]
    return Cat(word[bits:], fed)
