# SPDX-License-Identifier: Apache-2.0
"""Words joined into something wider, the first one lowest."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["WordGather"]


class WordGather(wiring.Component):
    """Latency none from the last word; a word a clock.

    Parameters
    ----------
    bits : of a word
    count : words that make up one item

    Ports
    -----
    i : stream of words
        Its last word stays on offer while the item does.
    o : stream of items
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, bits: int, count: int):
        self._bits, self._count = bits, count
        super().__init__(
            {"i": In(stream.Signature(bits)), "o": Out(stream.Signature(bits * count))}
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        kept, number = Signal(self._bits * (self._count - 1)), Signal(range(self._count))
        last, taken = Signal(), Signal()
        m.d.comb += [
            last.eq(number == self._count - 1),
            self.o.valid.eq(self.i.valid & last),
            self.o.payload.eq(Cat(kept, self.i.payload)),
            self.i.ready.eq(~last | self.o.ready),
            taken.eq(self.i.valid & self.i.ready),
        ]
        with m.If(taken):
            m.d.sync += [
                number.eq(Mux(last, 0, number + 1)),
                kept.eq(Cat(kept, self.i.payload)[self._bits :]),
            ]
        return m
