# SPDX-License-Identifier: Apache-2.0
"""Fits packets to their geometry: what goes on is exactly one token's beats, whatever came in."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .fixed import counted
from .layouts import beat_layout
from .skid import Skid
from .walker import Walker, buffer_depth

__all__ = ["Framer"]


class Framer(wiring.Component):
    """Takes a packet for each token and writes its beats, in natural order, to a head buffer.

    A packet whose ``last`` comes early is filled up with zeros; of one whose ``last`` comes late
    the rest is dropped. Either is a framing error of that token alone: the next packet starts
    afresh. Data wait for their token's position.

    Latency none to ``write``; one beat a clock.

    Ports
    -----
    i : stream of beats
    write, address : Out
        The beat's ``words`` are written in this clock.
    words : Out, two of ``lanes`` elements
    exchanged : Out
        The first word goes to bank 1.
    consumed : In
        For one clock: an operation has read a beat's worth.
    judged, bad : Out
        For one clock, after a token's last beat: whether its framing was wrong.
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        self.walker = Walker(p)
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(p))),
                "write": Out(1),
                "address": Out(range(buffer_depth(p))),
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

        # The next beat's place; within a head operations may lag behind or run ahead, so a head's
        # room stays unused.
        place = data.StructLayout({"address": self.address.shape(), "exchanged": 1, "last": 1})
        m.submodules.steps = steps = Skid(place)
        depth = buffer_depth(p) - p.max_head_beats
        room, spacious = Signal(range(depth + 1), init=depth), Signal()
        m.d.sync += [
            room.eq(counted(room, self.consumed, self.write)),
            spacious.eq(room > 3),  # `open_` is three clocks late, and so far on the safe side
        ]
        valid, open_, moves, present = Signal(), Signal(), Signal(), Signal(place)
        m.d.comb += [
            walker.advance.eq(steps.i.ready),
            steps.i.valid.eq(walker.valid),
            steps.i.payload.address.eq(walker.place.address),
            steps.i.payload.exchanged.eq(
                walker.place.split & walker.place.second & ~walker.head.odd
            ),
            steps.i.payload.last.eq(walker.last),
            moves.eq(self.write | ~valid),
            steps.o.ready.eq(moves),
            self.address.eq(present.address),
            self.exchanged.eq(present.exchanged),
        ]
        with m.If(moves):
            m.d.sync += [valid.eq(steps.o.valid), present.eq(steps.o.payload)]
        m.d.sync += open_.eq(Mux(moves, steps.o.valid, 1) & spacious)
        last = present.last

        # A packet is fed beat by beat; a short one is then padded, of a long one the rest is
        # dropped.
        feeding, padding, dropping = Signal(init=1), Signal(), Signal()
        given = self.i.payload
        m.d.comb += [
            self.i.ready.eq(dropping | (open_ & feeding)),
            self.write.eq(open_ & (padding | (feeding & self.i.valid))),
        ]
        with m.If(self.write & feeding & (given.last != last)):
            m.d.sync += [feeding.eq(0), padding.eq(given.last), dropping.eq(last)]
        with m.If((self.write & padding & last) | (dropping & self.i.valid & given.last)):
            m.d.sync += [feeding.eq(1), padding.eq(0), dropping.eq(0)]

        beat = Value.cast(given.data) & feeding.replicate(len(Value.cast(given.data)))
        width = p.lanes * p.data_bits
        m.d.comb += [self.words[0].eq(beat[:width]), self.words[1].eq(beat[width:])]
        m.d.sync += [
            self.judged.eq(self.write & last),
            self.bad.eq(padding | ~given.last),
        ]
        return m
