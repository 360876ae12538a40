# SPDX-License-Identifier: Apache-2.0
"""AXI4-Lite, signal by signal as Arm IHI 0022 names it, in front of registers."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .register_bus import answer_layout, request_layout
from .streams import pulse_stream

__all__ = ["AxiLite", "axi_lite_signature"]


def axi_lite_signature(address_bits: int) -> wiring.Signature:
    """A manager's five channels, with words of 32 bits."""
    return wiring.Signature(
        {
            "awaddr": Out(address_bits),
            "awprot": Out(3),
            "awvalid": Out(1),
            "awready": In(1),
            "wdata": Out(32),
            "wstrb": Out(4),
            "wvalid": Out(1),
            "wready": In(1),
            "bresp": In(2),
            "bvalid": In(1),
            "bready": Out(1),
            "araddr": Out(address_bits),
            "arprot": Out(3),
            "arvalid": Out(1),
            "arready": In(1),
            "rdata": In(32),
            "rresp": In(2),
            "rvalid": In(1),
            "rready": Out(1),
        }
    )


class AxiLite(wiring.Component):
    """A subordinate that makes one access of each address and answers it.

    A write's address and data come in either order. Reads and writes take turns where both wait,
    and neither waits for the other's response to be taken. Of each one is accepted while another's
    response waits. ``awprot`` and ``arprot`` do not matter.

    All outputs come from registers, so that nothing passes from one port to another within a clock.
    Latency 2 clocks and the registers' own from an address, or a write's data, to its response; an
    access in as many clocks.

    Ports
    -----
    s_axi : AXI4-Lite
    request, answer : streams, always ready
        As RegisterFile has them.
    """

    s_axi: wiring.PureInterface
    request: stream.Interface
    answer: stream.Interface

    def __init__(self, address_bits: int):
        self._address_bits = address_bits
        super().__init__(
            {
                "s_axi": In(axi_lite_signature(address_bits)),
                "request": Out(pulse_stream(request_layout(address_bits))),
                "answer": In(pulse_stream(answer_layout())),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        axi, request, answer = self.s_axi, self.request.payload, self.answer.payload
        write, read, waits, writes = Signal(), Signal(), Signal(), Signal()
        places, place_full = self._kept(m, axi.awaddr, axi.awvalid, axi.awready, write)
        word, word_full = self._kept(m, Cat(axi.wdata, axi.wstrb), axi.wvalid, axi.wready, write)
        source, source_full = self._kept(m, axi.araddr, axi.arvalid, axi.arready, read)

        # One access at a time. Its response bars its own direction for a clock, the other's turn.
        may_write, may_read = Signal(), Signal()
        m.d.comb += [
            may_write.eq(place_full & word_full & ~axi.bvalid & ~waits),
            may_read.eq(source_full & ~axi.rvalid & ~waits),
            write.eq(may_write),
            read.eq(may_read & ~write),
            self.request.valid.eq(write | read),
            request.write.eq(write),
            request.address.eq(Mux(write, places, source)),
            Cat(request.word, request.strobe).eq(word),
        ]
        with m.If(self.request.valid):
            m.d.sync += [waits.eq(1), writes.eq(write)]
        with m.Elif(self.answer.valid):
            m.d.sync += waits.eq(0)

        ended = self.answer.valid
        m.d.sync += [
            axi.bvalid.eq((axi.bvalid & ~axi.bready) | (ended & writes)),
            axi.rvalid.eq((axi.rvalid & ~axi.rready) | (ended & ~writes)),
        ]
        with m.If(ended & writes):
            m.d.sync += axi.bresp.eq(answer.code)
        with m.If(ended & ~writes):
            m.d.sync += [axi.rresp.eq(answer.code), axi.rdata.eq(answer.word)]
        return m

    def _kept(self, m, payload, valid, ready, taken) -> tuple[Signal, Signal]:
        """A channel's transfer, kept until it is ``taken``, and whether there is one."""
        kept, full = Signal.like(payload, reset_less=True, name="kept"), Signal(name="full")
        m.d.comb += ready.eq(~full)
        with m.If(~full):
            m.d.sync += [kept.eq(payload), full.eq(valid)]
        with m.Elif(taken):
            m.d.sync += full.eq(0)
        return kept, full
