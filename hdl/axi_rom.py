# SPDX-License-Identifier: Apache-2.0
"""A memory behind AXI4's read channels, for simulating what reads tables from one."""

from collections.abc import Sequence

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In
from amaranth.utils import exact_log2

from .axi_layouts import axi_read_signature

__all__ = ["AxiRom"]

DECERR = 0b11
ADDRESSES = 8  # that wait


class AxiRom(wiring.Component):
    """Answers incrementing bursts of whole words, in order; a word a clock.

    Beyond its ``words`` it answers DECERR.

    Ports
    -----
    axi : AXI4's read channels
    """

    def __init__(self, address_bits: int, data_bits: int, words: Sequence[int]):
        self._address_bits, self._data_bits, self._words = address_bits, data_bits, words
        super().__init__({"axi": In(axi_read_signature(address_bits, data_bits))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        bus = self.axi
        unit = exact_log2(self._data_bits // 8)
        number_bits = self._address_bits - unit
        m.submodules.asked = asked = SyncFIFOBuffered(width=number_bits + 8, depth=ADDRESSES)
        m.submodules.memory = memory = Memory(
            shape=self._data_bits, depth=len(self._words), init=self._words
        )
        read = memory.read_port(domain="comb")
        number, left, active = Signal(number_bits), Signal(8), Signal()
        ends = bus.rvalid & bus.rready & bus.rlast
        m.d.comb += [
            asked.w_en.eq(bus.arvalid),
            bus.arready.eq(asked.w_rdy),
            asked.w_data.eq(Cat(bus.araddr[unit:], bus.arlen)),
            asked.r_en.eq(~active | ends),
            bus.rvalid.eq(active),
            bus.rlast.eq(left == 0),
            bus.rid.eq(0),
            read.addr.eq(number),
            bus.rdata.eq(read.data),
            bus.rresp.eq(Mux(number < len(self._words), 0, DECERR)),
        ]
        with m.If(~active | ends):
            m.d.sync += [
                active.eq(asked.r_rdy),
                Cat(number, left).eq(asked.r_data),
            ]
        with m.Elif(bus.rvalid & bus.rready):
            m.d.sync += [number.eq(number + 1), left.eq(left - 1)]
        return m
