# SPDX-License-Identifier: Apache-2.0
"""Fits packets to their geometry: what goes on is exactly one token's beats, whatever came in."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .layouts import beat_layout
from .walker import Walker, buffer_depth

__all__ = ["Framer"]


class Framer(wiring.Component):
    """Takes a packet for each token and writes its beats, in natural order, to a head buffer.

    A packet whose ``last`` comes early is filled up with zeros; of one whose ``last`` comes late the
    rest is dropped. Either is a framing error of that token alone: the next packet starts afresh. Data
    wait for their token's position.

    Latency none to ``write``; one beat a clock.

    Ports
    -----
    i : stream of beats
    write : Out
        The beat of ``walker.place``, ``words``, is written in this clock.
    words : Out, two of ``lanes`` elements
    exchanged : Out
        The first word goes to bank 1.
    consumed : In
        For one clock: an operation has read a beat's worth.
    judged, bad : Out
        For one clock, with a token's last beat: whether its framing was wrong.
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        self.walker = Walker(p)
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(p))),
                "write": Out(1),
                "words": Out(p.lanes * p.data_bits).array(2),
                "exchanged": Out(1),
                "consumed": In(1),
                "judged": Out(1),
                "bad": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.walker = walker = self.walker

        # Within a head operations may lag behind or run ahead, so a head's room stays unused.
        depth = buffer_depth(p) - p.max_head_beats
        room = Signal(range(depth + 1), init=depth)
        spacious = Signal(init=1)
        m.d.sync += [room.eq(room - self.write + self.consumed), spacious.eq(room > 1)]

        padding, dropping, open_ = Signal(), Signal(), Signal()
        m.d.comb += [
            open_.eq(walker.valid & spacious),
            self.i.ready.eq(dropping | (open_ & ~padding)),
            self.write.eq(open_ & (padding | (self.i.valid & ~dropping))),
            walker.advance.eq(self.write),
        ]

        late = walker.last & ~self.i.payload.last
        with m.If(self.write):
            with m.If(padding):
                m.d.sync += padding.eq(~walker.last)
            with m.Else():
                m.d.sync += [
                    padding.eq(self.i.payload.last & ~walker.last),
                    dropping.eq(late),
                ]
        with m.If(dropping & self.i.valid & self.i.payload.last):
            m.d.sync += dropping.eq(0)

        beat = Mux(padding, 0, Value.cast(self.i.payload.data))
        width = p.lanes * p.data_bits
        place = walker.place
        m.d.comb += [
            self.words[0].eq(beat[:width]),
            self.words[1].eq(beat[width:]),
            self.exchanged.eq(place.split & place.second & ~walker.head.odd),
            self.judged.eq(self.write & walker.last),
            self.bad.eq(padding | late),
        ]
        return m
