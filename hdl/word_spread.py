# SPDX-License-Identifier: Apache-2.0
"""Something wide as words, its lowest one first."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["WordSpread"]


class WordSpread(wiring.Component):
    """Latency none; a word a clock.

    Parameters
    ----------
    bits : of a word
    count : words that make up one item

    Ports
    -----
    i : stream of items
        Taken with its last word.
    o : stream of words
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, bits: int, count: int):
        self._bits, self._count = bits, count
        super().__init__(
            {"i": In(stream.Signature(bits * count)), "o": Out(stream.Signature(bits))}
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        number, last = Signal(range(self._count)), Signal()
        m.d.comb += [
            last.eq(number == self._count - 1),
            self.o.valid.eq(self.i.valid),
            self.o.payload.eq(self.i.payload.word_select(number, self._bits)),
            self.i.ready.eq(self.o.ready & last),
        ]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += number.eq(Mux(last, 0, number + 1))
        return m
