# SPDX-License-Identifier: Apache-2.0
"""A learned table in block RAM: rows by number, loaded at run time."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ropeway.golden.adder_parameters import AdderParameters

from .adder_layouts import ROW_NUMBER_BITS, embedding_layout, request_layout, row_layout
from .banked_ram import BankedRam
from .multipliers import Multiplier
from .queue import Queue
from .row_reader import RowReader, order_layout
from .streams import connect, delayed

__all__ = ["LearnedRam"]

ORDERS = 16
QUEUED = 2  # clocks through the queue of orders


class LearnedRam(wiring.Component):
    """Rows of a table of up to ``depth`` beats, one after the other from address 0.

    Latency: see ``latency``, from a request to its row's first beat; a beat a clock with no bubble
    between rows of two beats or more; one multiplier finds the rows.

    Parameters
    ----------
    p : the adder's
    depth : beats that fit, at most 65536; more than 1024 take a clock more

    Ports
    -----
    i : stream of requests
    o : stream of beats of rows
    i_table : stream of beats, always ready
        The table from row 0 on; ``last`` makes the next one begin there again. Beats that do not
        fit are dropped.
    final : In
        The number of a row's last beat.
    last_row : In
        The number of the table's last row; it shows in ``fits`` while nothing is asked for.
    fits : Out
        All the table's rows do; 5 clocks after ``final`` and ``last_row``.
    dropped : Out
        For one clock: a beat of a table was.
    """

    i: stream.Interface
    o: stream.Interface
    i_table: stream.Interface
    final: Signal
    last_row: Signal
    fits: Signal
    dropped: Signal

    def __init__(self, p: AdderParameters, depth: int):
        p.check_depth(depth)
        self._p, self.depth = p, depth
        self._table = BankedRam(p.data_bits * p.beat_elements, depth)
        self._first = Multiplier(ROW_NUMBER_BITS, bits_for(p.max_beats))
        self._reader = RowReader(p, bits_for(depth - 1), self._table.latency)
        super().__init__(
            {
                "i": In(stream.Signature(request_layout(p))),
                "o": Out(stream.Signature(row_layout(p, p.data_bits))),
                "i_table": In(stream.Signature(embedding_layout(p), always_ready=True)),
                "final": In(bits_for(p.max_beats)),
                "last_row": In(ROW_NUMBER_BITS),
                "fits": Out(1),
                "dropped": Out(1),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a request to its row's first beat."""
        return self._first.latency + QUEUED + self._reader.latency

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p, reader, table, first = self._p, self._reader, self._table, self._first
        m.submodules.reader = reader
        m.submodules.table = table
        m.submodules.first = first
        m.submodules.orders = orders = Queue(order_layout(bits_for(self.depth - 1)), ORDERS)
        self._writes(m, table)

        # Two clocks: where a row begins, or the last one while none is asked for.
        good, beats = self.i.payload.good, Signal(bits_for(p.max_beats))
        deepest = Signal(len(first.p) + 1)
        m.d.sync += [
            beats.eq(self.final + 1),
            deepest.eq(first.p.as_unsigned() + self.final),
            self.fits.eq(deepest < self.depth),
        ]
        m.d.comb += [
            self.i.ready.eq(orders.room),
            first.a.eq(Mux(self.i.valid, self.i.payload.row, self.last_row)),
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

    def _writes(self, m, table):
        """A table's beats to its addresses, as far as they fit; a clock after they came."""
        write, full, valid = Signal(range(self.depth)), Signal(), Signal()
        beat = Signal.like(self.i_table.payload, reset_less=True)
        m.d.sync += [valid.eq(self.i_table.valid), beat.eq(self.i_table.payload)]
        with m.If(valid):
            m.d.sync += [
                write.eq(Mux(beat.last, 0, write + 1)),
                full.eq(~beat.last & (full | (write == self.depth - 1))),
            ]
        m.d.sync += self.dropped.eq(valid & full)
        m.d.comb += [
            table.write_enable.eq(valid & ~full),
            table.write_address.eq(write),
            table.write_data.eq(beat.data),
        ]
