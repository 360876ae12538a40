# SPDX-License-Identifier: Apache-2.0
"""Fits packets to their geometry: what goes on is exactly one token's beats, whatever came in."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .fixed import counted
from .layouts import beat_layout, exit_layout, step_layout
from .skid import Skid
from .streams import delayed
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
    blank : Out, with distant lanes only
        The words are to be zeros: not blanked here, where all of them would wait for it.
    step, exit : Out
        What its operation, and what the reading of its result is to know.
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
                "step": Out(step_layout(p)),
                "exit": Out(exit_layout(p)),
                "consumed": In(1),
                "judged": Out(1),
                "bad": Out(1),
            }
            | ({"blank": Out(1)} if p.distant else {})
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.walker = walker = self.walker
        step, exit_ = walker.step, walker.exit
        goes, spacious, written = Signal(), Signal(), self.write
        if p.relayed:
            # What comes in does not reach the walker within a clock. The slice's ready, which moves
            # many registers on, is here once more.
            advance = Signal(init=1)
            written = delayed(m, self.write, 1, reset_less=False, name="written")
            said = data.StructLayout({"step": step.shape(), "exit": exit_.shape()})
            m.submodules.ahead = ahead = Skid(said)
            m.d.comb += [
                ahead.i.valid.eq(walker.valid),
                ahead.i.payload.step.eq(walker.step),
                ahead.i.payload.exit.eq(walker.exit),
                walker.advance.eq(advance),
                ahead.o.ready.eq(self.write),
            ]
            comes, stays = ahead.i.valid | ~ahead.i.ready, ahead.o.valid & ~self.write
            m.d.sync += [advance.eq(~(comes & stays)), goes.eq((comes | stays) & spacious)]
            step, exit_ = ahead.o.payload.step, ahead.o.payload.exit
        else:
            m.d.comb += [
                goes.eq(walker.valid & spacious),
                walker.advance.eq(self.write | ~walker.valid),
            ]
        last, bad = exit_.last, Signal()

        # Within a head operations may lag behind or run ahead, so a head's room stays unused.
        depth = buffer_depth(p) - p.max_head_beats
        room = Signal(range(depth + 1), init=depth)
        m.d.sync += room.eq(counted(room, self.consumed, written))
        # It is two clocks late, or three, and so far on the safe side.
        m.d["comb" if p.relayed else "sync"] += spacious.eq(room > 2 + p.relayed)
        if p.relayed:
            before = Signal.like(self.address)
            m.d.comb += self.address.eq(before + written)
            m.d.sync += before.eq(self.address)
        else:
            m.d.sync += self.address.eq(self.address + self.write)

        # A packet is fed beat by beat; a short one is then padded, of a long one the rest is
        # dropped.
        padding, dropping, feeding = Signal(), Signal(), Signal()
        given = self.i.payload
        m.d.comb += [
            feeding.eq(~padding & ~dropping),
            self.i.ready.eq(dropping | (goes & ~padding)),
            self.write.eq(goes & (padding | (~dropping & self.i.valid))),
            bad.eq(padding | ~given.last),
        ]
        feeds, drops = goes & feeding & self.i.valid, dropping & self.i.valid
        m.d.sync += [
            padding.eq((padding & ~(goes & last)) | (feeds & given.last & ~last)),
            dropping.eq((dropping & ~(drops & given.last)) | (feeds & ~given.last & last)),
        ]

        beat = Value.cast(given.data)
        if p.distant:
            m.d.comb += self.blank.eq(padding)
        else:
            beat &= ~padding.replicate(len(beat))
        width = p.lanes * p.data_bits
        m.d.comb += [
            self.words[0].eq(beat[:width]),
            self.words[1].eq(beat[width:]),
            self.exchanged.eq(exit_.exchanged),
            self.step.eq(step),
            self.exit.eq(exit_),
            self.exit.bad.eq(last & bad),
        ]
        m.d.sync += [self.judged.eq(self.write & last), self.bad.eq(bad)]
        return m
