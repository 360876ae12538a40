# SPDX-License-Identifier: Apache-2.0
"""A run of positions that are counted: base, base + 1 and so on, on every axis alike."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_parameters import CoreParameters

from .core_layouts import place_layout

__all__ = ["PositionCounter"]

COUNT_BITS = 32


class PositionCounter(wiring.Component):
    """Gives ``count`` positions from that of ``first`` on, each one more on every axis.

    A run is begun while none lasts, and then ``first`` and ``count`` are sampled. One that is
    stopped ends with the position that is on offer. Positions wrap at the core's bits. The first is
    offered in the clock after ``start``; one a clock.

    Ports
    -----
    first : In
        A position, its slot and flags.
    count : In
    start, stop : In
    left : Out
        Positions not taken yet; 0 where no run lasts.
    ended : Out
        For one clock: the last position has been taken.
    o : stream of positions
    """

    first: Signal
    count: Signal
    start: Signal
    stop: Signal
    left: Signal
    ended: Signal
    o: stream.Interface

    def __init__(self, p: CoreParameters):
        self._p = p
        super().__init__(
            {
                "first": In(place_layout(p)),
                "count": In(COUNT_BITS),
                "start": In(1),
                "stop": In(1),
                "left": Out(COUNT_BITS),
                "ended": Out(1),
                "o": Out(stream.Signature(place_layout(p))),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        place = self.o.payload
        taken, final, few = Signal(), Signal(), Signal()
        m.d.comb += taken.eq(self.o.valid & self.o.ready)
        m.d.sync += self.ended.eq(taken & final)
        # Fewer than 4 are left, told a clock late: soon enough for the last but one.
        m.d.sync += few.eq(~self.left[2:].any())
        with m.If(self.start & ~self.o.valid):
            m.d.sync += [
                place.eq(self.first),
                self.left.eq(self.count),
                final.eq(self.count == 1),
                few.eq(~self.count[2:].any()),
                self.o.valid.eq(self.count != 0),
            ]
        with m.Elif(taken):
            m.d.sync += [
                *(
                    place.position[axis].eq(place.position[axis] + 1)
                    for axis in range(self._p.axes)
                ),
                self.left.eq(Mux(final | self.stop, 0, self.left - 1)),
                final.eq(few & (self.left[:2] == 2)),
                self.o.valid.eq(~(final | self.stop)),
            ]
            with m.If(self.stop):
                m.d.sync += self.ended.eq(1)
        with m.Elif(self.stop & self.o.valid):
            m.d.sync += [final.eq(1), self.left.eq(1)]
        return m
