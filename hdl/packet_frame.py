# SPDX-License-Identifier: Apache-2.0
"""Fits packets to the beats that they go with, whenever their ``last`` comes."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["PacketFrame"]


class PacketFrame(wiring.Component):
    """Lets a beat go when its partner, itself and room for its result are there.

    The partners say where a packet ends. One that ends early is filled up, the rest of one that
    ends late is dropped; the next is a packet of its own. Latency none; a beat a clock.

    Ports
    -----
    valid, last : In
        A beat of a packet is offered, and it says that it is the last.
    ready : Out
        It is taken, if there is one.
    present, final : In
        There is a partner, and it is a packet's last.
    room : In
    goes : Out
        The partner's beat goes in this clock.
    filling : Out
        It is none of the packet's, which has ended.
    spoilt : Out
        With a final partner: the packet was too short or is too long.
    """

    valid: Signal
    last: Signal
    ready: Signal
    present: Signal
    final: Signal
    room: Signal
    goes: Signal
    filling: Signal
    spoilt: Signal

    def __init__(self):
        inputs = dict.fromkeys(("valid", "last", "present", "final", "room"), In(1))
        outputs = dict.fromkeys(("ready", "goes", "filling", "spoilt"), Out(1))
        super().__init__(inputs | outputs)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        dropping, may, ends = Signal(), Signal(), Signal()
        m.d.comb += [
            may.eq(self.present & self.room & ~dropping),
            self.goes.eq(may & (self.valid | self.filling)),
            self.ready.eq((may & ~self.filling) | dropping),
            self.spoilt.eq(self.filling | ~self.last),
            ends.eq(self.goes & self.final),
        ]
        with m.If(self.goes):
            m.d.sync += self.filling.eq(~self.final & (self.filling | self.last))
        with m.If(ends & ~self.filling & ~self.last):
            m.d.sync += dropping.eq(1)
        with m.Elif(self.valid & self.last):
            m.d.sync += dropping.eq(0)
        return m
