# SPDX-License-Identifier: Apache-2.0
"""Where tokens' positions come from: a stream, a counter, or the packets themselves."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_parameters import CoreParameters

from .core_layouts import beat_layout, place_layout
from .skid import Skid
from .stage import Stage
from .streams import connect

__all__ = ["PositionSource", "placed_layout"]


def placed_layout(p: CoreParameters) -> data.StructLayout:
    """A beat of a packet, and a position that counts on its first."""
    return data.StructLayout({"beat": beat_layout(p), "place": place_layout(p)})


class PositionSource(wiring.Component):
    """One stream of positions from up to three, and the packets as they came.

    While ``carried``, a packet's first beat brings its position, and is given when that has been
    taken; all other positions wait. Else those of the counter come first, and then the stream's.

    Latency 1 clock for a position, none for a beat; one of each a clock, or a packet every 2 clocks
    while ``carried``, or a position every 2 clocks where nothing is routed.

    Ports
    -----
    i_position : stream of positions
    i_counted : stream of positions, in a core with runs of them
    o_position : stream of positions

    Where positions may be carried by packets:

    i : stream of beats and the positions they bring
    carried : In
        Steady while packets are on their way.
    o : stream of beats
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
        ports: dict = {"i_position": In(place), "o_position": Out(place)}
        if p.runs:
            ports["i_counted"] = In(place)
        if p.carried:
            ports |= {
                "i": In(stream.Signature(placed_layout(p))),
                "carried": In(1),
                "o": Out(stream.Signature(beat_layout(p))),
            }
        super().__init__(ports)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        kind = Stage if self._p.direct else Skid
        m.submodules.chosen = chosen = kind(place_layout(self._p))
        connect(m, chosen.o, wiring.flipped(self.o_position))
        # What comes later goes before.
        m.d.comb += [
            chosen.i.valid.eq(self.i_position.valid),
            chosen.i.payload.eq(self.i_position.payload),
            self.i_position.ready.eq(chosen.i.ready),
        ]
        if self._p.runs:
            with m.If(self.i_counted.valid):
                m.d.comb += [
                    chosen.i.valid.eq(1),
                    chosen.i.payload.eq(self.i_counted.payload),
                    self.i_counted.ready.eq(chosen.i.ready),
                    self.i_position.ready.eq(0),
                ]
        if self._p.carried:
            self._carried(m, chosen)
        return m

    def _carried(self, m, chosen):
        """Positions that packets bring, while they do."""
        beat, begins, placed = self.i.payload.beat, Signal(init=1), Signal()
        brings = self.carried & begins & ~placed
        taken, goes = Signal(), Signal()
        with m.If(self.carried):
            m.d.comb += [
                chosen.i.valid.eq(self.i.valid & brings),
                chosen.i.payload.eq(self.i.payload.place),
                taken.eq(self.i.valid & brings & chosen.i.ready),
                self.i_position.ready.eq(0),
            ]
            if self._p.runs:
                m.d.comb += self.i_counted.ready.eq(0)
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
