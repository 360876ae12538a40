# SPDX-License-Identifier: Apache-2.0
"""A learned table in block RAM: rows by number, loaded at run time."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ropeway.golden.adder_parameters import AdderParameters

from .adder_layouts import ROW_NUMBER_BITS, embedding_layout, request_layout, row_layout
from .primitives import Multiplier, Ram
from .queue import Queue
from .row_reader import RowReader, order_layout
from .streams import connect, delayed

__all__ = ["LearnedRam"]

ORDERS = 16


class LearnedRam(wiring.Component):
    """Rows of a table of up to ``depth`` beats, one after the other from address 0.

    Latency 9 clocks from a request to its row's first beat; a beat a clock with no bubble between
    rows of two beats or more; one multiplier finds the rows.

    Parameters
    ----------
    p : the adder's
    depth : beats that fit

    Ports
    -----
    i : stream of requests
    o : stream of beats of rows
    i_table : stream of beats, always ready
        The table from row 0 on; ``last`` makes the next one begin there again.
    final : In
        The number of a row's last beat.
    """

    i: stream.Interface
    o: stream.Interface
    i_table: stream.Interface
    final: Signal

    latency = 2 + 2 + RowReader.latency

    def __init__(self, p: AdderParameters, depth: int):
        self._p, self.depth = p, depth
        self._reader = RowReader(p, bits_for(depth - 1))
        super().__init__(
            {
                "i": In(stream.Signature(request_layout(p))),
                "o": Out(stream.Signature(row_layout(p, p.data_bits))),
                "i_table": In(stream.Signature(embedding_layout(p), always_ready=True)),
                "final": In(bits_for(p.max_beats)),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p, reader = self._p, self._reader
        m.submodules.reader = reader
        m.submodules.table = table = Ram(p.data_bits * p.beat_elements, self.depth)
        m.submodules.first = first = Multiplier(ROW_NUMBER_BITS, bits_for(p.max_beats))
        m.submodules.orders = orders = Queue(order_layout(bits_for(self.depth - 1)), ORDERS)

        write = Signal(range(self.depth))
        beat = self.i_table
        with m.If(beat.valid):
            m.d.sync += write.eq(Mux(beat.payload.last, 0, write + 1))
        m.d.comb += [
            table.write_enable.eq(beat.valid),
            table.write_address.eq(write),
            table.write_data.eq(beat.payload.data),
        ]

        # Two clocks: where a row begins.
        good, beats = self.i.payload.good, Signal(bits_for(p.max_beats))
        m.d.sync += beats.eq(self.final + 1)
        m.d.comb += [
            self.i.ready.eq(orders.room),
            first.a.eq(self.i.payload.row),
            first.b.eq(beats),
            orders.i.valid.eq(
                delayed(m, self.i.valid & orders.room, first.latency, reset_less=False)
            ),
            orders.i.payload.address.eq(first.p.as_unsigned()),
            orders.i.payload.error.eq(delayed(m, ~good, first.latency)),
            reader.final.eq(self.final),
            table.read_address.eq(reader.address),
            reader.word.eq(table.read_data),
        ]
        connect(m, orders.o, reader.i)
        connect(m, reader.o, wiring.flipped(self.o))
        return m
