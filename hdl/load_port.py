# SPDX-License-Identifier: Apache-2.0
"""Images from a window of registers, word by word to the units that they are for."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from ropeway.golden.core_parameters import CoreParameters

from .core_registers import WINDOW_WORDS
from .image_reader import image_word_layout
from .layouts import load_layout

__all__ = ["LoadPort", "load_shapes"]

TARGET_BITS = 8
WORDS_BITS = 24


def load_shapes(p: CoreParameters) -> dict[str, ShapeLike]:
    """A word of an image as each unit takes it, by the unit's name."""
    return {u: load_layout(p.rope) if u == "rope" else image_word_layout() for u in p.units}


class LoadPort(wiring.Component):
    """One image at a time, whose words come in their order.

    A word waits in a register until its unit takes it, and nothing waits for that: until then the
    next one is refused. A unit that begins to take an image takes a word a clock, so it is enough
    to look after the first word. An image that is given up gets another word or two, the last of
    them marked so, and then has one word fewer or more than it was to have.

    A word is offered in the clock after ``write``. Whether something is refused shows in the clock
    after it stands there; what is not may come up to 2 clocks later, one write at a time.

    Ports
    -----
    begin, target, words : In
        An image of so many words begins; ``begin_refused`` while one is unfinished, and for what is
        no target, no words, or more than twice what any image has.
    write, number, word : In
        A word, and its number modulo 1024; ``write_refused`` out of order, and while one is
        pending.
    abort : In
        The image is given up.
    pending, unfinished : Out
        A word waits for its unit; words are still to be written.
    next : Out
        The number of the next word.
    o_<unit> : stream of words, one for each unit
    """

    begin: Signal
    target: Signal
    words: Signal
    begin_refused: Signal
    write: Signal
    number: Signal
    word: Signal
    write_refused: Signal
    abort: Signal
    pending: Signal
    unfinished: Signal
    next: Signal

    def __init__(self, p: CoreParameters):
        self._p = p
        super().__init__(
            {
                "begin": In(1),
                "target": In(TARGET_BITS),
                "words": In(WORDS_BITS),
                "begin_refused": Out(1),
                "write": In(1),
                "number": In(exact_log2(WINDOW_WORDS)),
                "word": In(32),
                "write_refused": Out(1),
                "abort": In(1),
                "pending": Out(1),
                "unfinished": Out(1),
                "next": Out(p.load_bits),
            }
            | {f"o_{u}": Out(stream.Signature(shape)) for u, shape in load_shapes(p).items()}
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        known, final, ends, aborting, taken = (Signal() for _ in range(5))
        target, left = Signal(p.target_bits), Signal(p.load_bits)
        fitting, beyond = self.words[: p.load_bits], self.words[p.load_bits :]
        m.d.comb += [
            known.eq(Cat(self.target == number for number in p.load_targets).any()),
            ends.eq(final ^ aborting),
        ]
        m.d.sync += [
            final.eq(left == 1),  # words are two clocks apart at least
            self.begin_refused.eq(self.unfinished | ~known | (fitting == 0) | beyond.any()),
            self.write_refused.eq(
                ~self.unfinished
                | aborting
                | self.pending
                | (self.number != self.next[: len(self.number)])
            ),
        ]

        # The word on offer, and whose it is; the next image may begin while it waits.
        word, last, whose = Signal(32, reset_less=True), Signal(), Signal.like(target)
        fills = Signal()
        m.d.comb += fills.eq(self.write | (aborting & ~self.pending))
        with m.If(fills):
            m.d.sync += [
                word.eq(Mux(aborting, 0, self.word)),
                last.eq(ends),
                whose.eq(target),
                self.pending.eq(1),
                self.next.eq(self.next + 1),
                left.eq(left - 1),
            ]
            with m.If(ends):
                m.d.sync += [self.unfinished.eq(0), aborting.eq(0)]
        with m.Elif(taken):
            m.d.sync += self.pending.eq(0)

        with m.If(self.begin):
            m.d.sync += [target.eq(self.target), left.eq(fitting)]
            m.d.sync += [self.next.eq(0), self.unfinished.eq(1)]
        with m.If(self.abort & self.unfinished & ~aborting):
            with m.If(self.next == 0):
                m.d.sync += self.unfinished.eq(0)
            with m.Else():
                m.d.sync += aborting.eq(1)

        for unit in p.units:
            o = getattr(self, f"o_{unit}")
            mine = Cat(whose == n for n, name in p.load_targets.items() if name == unit).any()
            m.d.comb += [
                o.valid.eq(self.pending & mine),
                o.payload.word.eq(word),
                o.payload.last.eq(last),
            ]
            if unit == "rope":
                m.d.comb += o.payload.slot.eq(whose)
            with m.If(mine):
                m.d.comb += taken.eq(self.pending & o.ready)
        return m
