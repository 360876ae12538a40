# SPDX-License-Identifier: Apache-2.0
"""A learned table in external memory: rows read ahead over AXI4, as positions are known."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from ropeway.golden.adder_parameters import AdderParameters

from .adder_layouts import request_layout, row_layout
from .axi_layouts import OKAY_MASK, axi_read_signature
from .banked_ram import BankedRam
from .fixed import counted
from .queue import Queue
from .row_bursts import STRIDE_BITS, RowBursts
from .row_reader import RowReader
from .streams import connect

__all__ = ["LearnedMemory"]

SLOTS = 4  # rows in the buffer
ORDERS = 16
GATHERING = 2  # from a row's last word until it is ordered
TURNING = 8  # from the end of a row in a slot until the next one's address, and a page's end


class LearnedMemory(wiring.Component):
    """Reads the rows that are asked for, in their order, and gives each one when it is whole.

    A row's place in the buffer is reserved before its first burst goes out, so ``rready`` never
    falls and up to four rows are on their way at once. Nothing is read but what a position has
    asked for. A row with a bad response is given with ``error``, as is one that does not exist,
    for which nothing is read.

    Latency: the memory's for a whole row, and ``overhead`` clocks. A beat a clock with no bubble
    where rows have 8 beats or more and the memory's latency is no more than ``hidden_latency``,
    which counts from an address's acceptance to its first word; its channels must not pause. One
    multiplier finds the rows.

    Parameters
    ----------
    p : the adder's
    data_bits : of the bus, a beat or a power of two beats, at most 1024
    address_bits : of the bus, from 12 to 64

    Raises InputError where one is out of range.

    Ports
    -----
    i : stream of requests
    o : stream of beats of rows
    m_axi : Out
        The bus's read channels; one identifier, incrementing bursts of up to 256 beats within 4 KB.
    base : In
        The table's first byte, a multiple of the bus's bytes. The table must end within the
        address space.
    stride : In
        From row to row in words of the bus. Both are steady while tokens are on their way.
    final : In
        The number of a row's last beat.
    bus_error, position : Out
        For one clock: the row of this position met a bad response.
    """

    i: stream.Interface
    o: stream.Interface
    m_axi: wiring.PureInterface
    base: Signal
    stride: Signal
    final: Signal
    bus_error: Signal
    position: Signal

    def __init__(self, p: AdderParameters, data_bits: int = 128, address_bits: int = 32):
        p.check_bus(data_bits, address_bits)
        self._p, self.data_bits, self.address_bits = p, data_bits, address_bits
        self._beats = data_bits // (p.data_bits * p.beat_elements)  # in a word of the bus
        words = -(-p.max_beats // self._beats)
        self._row_bits = bits_for(words - 1)
        self._bursts = RowBursts(address_bits, data_bits, words)
        self._buffer = BankedRam(data_bits, SLOTS << self._row_bits)
        address = exact_log2(SLOTS) + self._row_bits
        self._reader = RowReader(p, address, self._buffer.latency, self._beats)
        super().__init__(
            {
                "i": In(stream.Signature(request_layout(p))),
                "o": Out(stream.Signature(row_layout(p, p.data_bits))),
                "m_axi": Out(axi_read_signature(address_bits, data_bits)),
                "base": In(address_bits),
                "stride": In(STRIDE_BITS),
                "final": In(bits_for(p.max_beats)),
                "bus_error": Out(1),
                "position": Out(signed(p.position_bits)),
            }
        )

    @property
    def overhead(self) -> int:
        """Clocks from a request to its row's first beat, beyond the memory's for a whole row."""
        return RowBursts.latency + GATHERING + self._reader.latency

    def hidden_latency(self, width: int) -> int:
        """The memory's latency in clocks that costs rows of ``width`` no bubble.

        A row's slot is taken while its first word is awaited, its words come, and its beats go; the
        beats of as many rows as there are slots must last so long.
        """
        self._p.check_serves(width)
        beats = width // self._p.beat_elements
        return (SLOTS - 1) * beats - -(-beats // self._beats) - TURNING

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.reader = reader = self._reader
        m.submodules.buffer = buffer = self._buffer
        # Requests in their order: what the reader gives, and whether it waits for a row.
        asked = data.StructLayout({"good": 1, "position": signed(p.position_bits)})
        m.submodules.asked = order = Queue(asked, ORDERS)
        whole, finished = Signal(range(SLOTS + 1)), Signal()
        released = Signal()
        accepted = self._addresses(m, order, released)
        m.d.comb += [
            order.i.valid.eq(accepted),
            order.i.payload.good.eq(self.i.payload.good),
            order.i.payload.position.eq(self.i.payload.position),
        ]
        failed = self._responses(m, buffer, finished)

        # The reader takes the next request when it has no row, or when that is whole.
        slot, given = Signal(range(SLOTS)), Signal()
        good = order.o.payload.good
        m.d.comb += [
            reader.i.valid.eq(order.o.valid & (~good | (whole != 0))),
            order.o.ready.eq(reader.i.ready & reader.i.valid),
            given.eq(order.o.ready & good),
            reader.i.payload.address.eq(Cat(C(0, self._row_bits), slot)),
            reader.i.payload.error.eq(~good | failed.bit_select(slot, 1)),
            reader.final.eq(self.final),
            buffer.read_address.eq(reader.address),
            reader.word.eq(buffer.read_data),
        ]
        m.d.sync += [
            whole.eq(counted(whole, finished, given)),
            self.bus_error.eq(given & failed.bit_select(slot, 1)),
            self.position.eq(order.o.payload.position),
        ]
        # A slot is free when its last beat has been read; rows that are none had no slot.
        holds = Signal()
        m.d.comb += released.eq(reader.done & holds)
        with m.If(order.o.ready):
            m.d.sync += [holds.eq(good), slot.eq(slot + good)]
        connect(m, reader.o, wiring.flipped(self.o))
        return m

    def _addresses(self, m, order, released) -> Value:
        """Requests to bursts; whether a request is accepted in this clock."""
        axi, bursts = self.m_axi, self._bursts
        m.submodules.bursts = bursts
        free, accepted = Signal(range(SLOTS + 1), init=SLOTS), Signal()
        may, good = self.i.valid & order.room, self.i.payload.good
        m.d.comb += [
            bursts.i.valid.eq(may & good),
            bursts.i.payload.eq(self.i.payload.row),
            bursts.base.eq(self.base),
            bursts.stride.eq(self.stride),
            bursts.words.eq((self.final >> exact_log2(self._beats)) + 1),
            bursts.free.eq(free != 0),
            self.i.ready.eq(bursts.i.ready & order.room),
            accepted.eq(may & bursts.i.ready),
            axi.arvalid.eq(bursts.o.valid),
            bursts.o.ready.eq(axi.arready),
            axi.araddr.eq(bursts.o.payload.address),
            axi.arlen.eq(bursts.o.payload.length),
            axi.arsize.eq(exact_log2(self.data_bits // 8)),
            axi.arburst.eq(1),  # incrementing
            axi.arcache.eq(0b0011),  # normal, non-cacheable, bufferable
        ]
        m.d.sync += free.eq(counted(free, released, bursts.reserves))
        return accepted

    def _responses(self, m, buffer, finished) -> Signal:
        """Words into the buffer, row after row; one bit a slot of those that failed."""
        axi = self.m_axi
        final = self.final >> exact_log2(self._beats)
        slot, word = Signal(range(SLOTS)), Signal(self._row_bits)
        failed, ends = Signal(SLOTS), Signal()
        bad = axi.rvalid & axi.rresp[exact_log2(OKAY_MASK)]
        m.d.comb += [
            axi.rready.eq(1),  # there is a place for every word that was asked for
            ends.eq(axi.rvalid & (word == final)),
            buffer.write_enable.eq(axi.rvalid),
            buffer.write_address.eq(Cat(word, slot)),
            buffer.write_data.eq(axi.rdata),
        ]
        m.d.sync += finished.eq(ends)
        for number in range(SLOTS):
            with m.If(axi.rvalid & (slot == number)):
                m.d.sync += failed[number].eq(bad | (failed[number] & (word != 0)))
        with m.If(axi.rvalid):
            m.d.sync += word.eq(Mux(ends, 0, word + 1))
            m.d.sync += slot.eq(slot + ends)
        return failed
