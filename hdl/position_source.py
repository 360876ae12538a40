# SPDX-License-Identifier: Apache-2.0
"""Where tokens' positions come from: a stream, a counter, or the packets themselves."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_parameters import CoreParameters

from .core_layouts import beat_layout, place_layout
from .skid import Skid
from .streams import connect

__all__ = ["PositionSource", "placed_layout"]


def placed_layout(p: CoreParameters) -> data.StructLayout:
    """A beat of a packet, and a position that counts on its first."""
    return data.StructLayout({"beat": beat_layout(p), "place": place_layout(p)})


class PositionSource(wiring.Component):
    """One stream of positions from three, and the packets as they came.

    While ``carried``, a packet's first beat brings its position, and is given when that has been
    taken; all other positions wait. Else those of the counter come first, and then the stream's.

    Latency 1 clock for a position, none for a beat; one of each a clock, or a packet every 2 clocks
    while ``carried``.

    Ports
    -----
    i : stream of beats and the positions they bring
    i_position, i_counted : streams of positions
    carried : In
        Steady while packets are on their way.
    o : stream of beats
    o_position : stream of positions
    """

    i: stream.Interface
    i_position: stream.Interface
    i_counted: stream.Interface
    carried: Signal
    o: stream.Interface
    o_position: stream.Interface

    def __init__(self, p: CoreParameters):
        self._p = p
        place = stream.Signature(place_layout(p))
        super().__init__(
            {
                "i": In(stream.Signature(placed_layout(p))),
                "i_position": In(place),
                "i_counted": In(place),
                "carried": In(1),
                "o": Out(stream.Signature(beat_layout(p))),
                "o_position": Out(place),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.chosen = chosen = Skid(place_layout(self._p))
        connect(m, chosen.o, wiring.flipped(self.o_position))
        beat, begins, placed = self.i.payload.beat, Signal(init=1), Signal()

        brings = self.carried & begins & ~placed
        taken, goes = Signal(), Signal()
        with m.If(self.carried):
            m.d.comb += [
                chosen.i.valid.eq(self.i.valid & brings),
                chosen.i.payload.eq(self.i.payload.place),
                taken.eq(self.i.valid & brings & chosen.i.ready),
            ]
        with m.Elif(self.i_counted.valid):
            m.d.comb += [
                chosen.i.valid.eq(1),
                chosen.i.payload.eq(self.i_counted.payload),
                self.i_counted.ready.eq(chosen.i.ready),
            ]
        with m.Else():
            m.d.comb += [
                chosen.i.valid.eq(self.i_position.valid),
                chosen.i.payload.eq(self.i_position.payload),
                self.i_position.ready.eq(chosen.i.ready),
            ]

        m.d.comb += [
            self.o.payload.eq(beat),
            self.o.valid.eq(self.i.valid & ~brings),
            self.i.ready.eq(self.o.ready & ~brings),
            goes.eq(self.i.valid & self.i.ready),
        ]
        with m.If(taken):
            m.d.sync += placed.eq(1)
        with m.Elif(goes):
            m.d.sync += [placed.eq(0), begins.eq(beat.last)]
        return m
