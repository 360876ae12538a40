# SPDX-License-Identifier: Apache-2.0
"""Wishbone B4, classic single cycles, in front of registers."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from .register_bus import Answer, answer_layout, request_layout
from .registers import BUS_BYTES
from .streams import pulse_stream

__all__ = ["Wishbone", "wishbone_signature"]

LANE_BITS = exact_log2(BUS_BYTES)  # of a byte's address within a word


def wishbone_signature(address_bits: int) -> wiring.Signature:
    """A manager's signals; ``adr`` counts words of 32 bits, ``address_bits`` are of bytes."""
    return wiring.Signature(
        {
            "cyc": Out(1),
            "stb": Out(1),
            "we": Out(1),
            "adr": Out(address_bits - LANE_BITS),
            "sel": Out(BUS_BYTES),
            "dat_w": Out(32),
            "dat_r": In(32),
            "ack": In(1),
            "err": In(1),
        }
    )


class Wishbone(wiring.Component):
    """A subordinate that makes one access of each cycle and ends it with ``ack`` or ``err``.

    A cycle that is given up before its end is made all the same; the next one begins after it.

    Latency 1 clock and the registers' own; all outputs come from registers.

    Ports
    -----
    bus : Wishbone
    request, answer : streams, always ready
        As RegisterFile has them.
    """

    bus: wiring.PureInterface
    request: stream.Interface
    answer: stream.Interface

    def __init__(self, address_bits: int):
        super().__init__(
            {
                "bus": In(wishbone_signature(address_bits)),
                "request": Out(pulse_stream(request_layout(address_bits))),
                "answer": In(pulse_stream(answer_layout())),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        bus, request, answer = self.bus, self.request.payload, self.answer.payload
        asked, waits, held = Signal(), Signal(), Signal()
        m.d.comb += [
            asked.eq(bus.cyc & bus.stb & ~bus.ack & ~bus.err),
            self.request.valid.eq(asked & ~waits),
            request.address.eq(Cat(C(0, LANE_BITS), bus.adr)),
            request.write.eq(bus.we),
            request.word.eq(bus.dat_w),
            request.strobe.eq(bus.sel),
        ]
        with m.If(self.request.valid):
            m.d.sync += [waits.eq(1), held.eq(1)]
        with m.Else():
            with m.If(self.answer.valid):
                m.d.sync += waits.eq(0)
            with m.If(~asked):
                m.d.sync += held.eq(0)

        ended, good = self.answer.valid & held & asked, answer.code == Answer.OKAY
        m.d.sync += [bus.ack.eq(ended & good), bus.err.eq(ended & ~good), bus.dat_r.eq(answer.word)]
        return m
