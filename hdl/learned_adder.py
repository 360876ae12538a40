# SPDX-License-Identifier: Apache-2.0
"""The learned-table adder: embeddings and positions in, embeddings with their rows out."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.adder_parameters import AdderParameters

from .adder import Adder
from .adder_layouts import ROW_NUMBER_BITS, embedding_layout, place_layout, sum_layout
from .axi_layouts import axi_read_signature
from .image_reader import image_word_layout
from .learned_memory import LearnedMemory
from .learned_ram import LearnedRam
from .learned_table import LearnedTable
from .sticky import keep_first, keep_packets, stick
from .streams import connect, delayed

__all__ = ["LearnedAdder", "learned_status_layout"]

SETTLED = 4  # clocks from barring positions until what was accepted shows in `idle`


def learned_status_layout(p: AdderParameters) -> data.StructLayout:
    """Sticky: a sum saturated, a load was malformed, a packet misframed.

    A table's load is malformed where it has more beats than fit, which are dropped.
    ``out_of_table``: a position had no row; ``bus_error``: a row could not be read; each with the
    first such position. ``first_bad`` is the number, from reset, of the first misframed token.
    """
    flags = ("saturated", "malformed", "misframed", "out_of_table", "bus_error")
    position = signed(p.position_bits)
    first = {"first_bad": 32, "first_out_of_table": position, "first_bus_error": position}
    return data.StructLayout(dict.fromkeys(flags, 1) | first)


class LearnedAdder(wiring.Component):
    """x + P[position + offset], from a table on chip or in external memory.

    Every token takes one position and one packet, in the same order; either may run ahead. One beat
    a clock with no bubble between tokens of 4 beats or more, as far as the source keeps up. A
    token whose position has no row, or whose row could not be read, passes unchanged and every beat
    of it carries ``error``.

    Latency from a position to the first sum, data waiting: ``latency`` clocks from block RAM; from
    external memory as long as the row takes.

    Parameters
    ----------
    p : without ``scaled``
    source : LearnedRam or LearnedMemory of the same parameters

    Ports
    -----
    i : stream of beats of embeddings
    i_position : stream of positions
    i_load : stream of image words
        Scheme 2 of golden/additive.py; a barrier, see ImageReader.
    i_table : stream of beats, with LearnedRam
        The table from row 0 on, taken when no token is unfinished; from the first beat until
        ``last`` no position is accepted. One shorter than the geometry's table leaves its further
        rows as they were.
    o : stream of sums
    m_axi, base, stride : with LearnedMemory, as there
    loaded, fingerprint : Out
    status : Out
    clear : In
        Clears the sticky flags.
    """

    i: stream.Interface
    i_position: stream.Interface
    i_load: stream.Interface
    i_table: stream.Interface
    o: stream.Interface
    m_axi: wiring.PureInterface
    base: Signal
    stride: Signal
    loaded: Signal
    fingerprint: Signal
    status: data.View
    clear: Signal

    def __init__(self, p: AdderParameters, source: LearnedRam | LearnedMemory):
        self.parameters, self._source = p, source
        self._adder = Adder(p)
        ports: dict = {
            "i": In(stream.Signature(embedding_layout(p))),
            "i_position": In(stream.Signature(place_layout(p))),
            "i_load": In(stream.Signature(image_word_layout())),
            "o": Out(stream.Signature(sum_layout(p))),
            "loaded": Out(1),
            "fingerprint": Out(64),
            "status": Out(learned_status_layout(p)),
            "clear": In(1),
        }
        self._rows = 1 << ROW_NUMBER_BITS
        if isinstance(source, LearnedRam):
            ports["i_table"] = In(stream.Signature(embedding_layout(p)))
            self._rows = source.depth
        else:
            ports["m_axi"] = Out(axi_read_signature(source.address_bits, source.data_bits))
            ports["base"] = In(source.base.shape())
            ports["stride"] = In(source.stride.shape())
        super().__init__(ports)

    @property
    def latency(self) -> int:
        """Clocks from a position to the first sum, with the table in block RAM."""
        return LearnedTable.latency + self._source.latency + self._adder.latency

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p, source = self.parameters, self._source
        m.submodules.table = table = LearnedTable(p, self._rows)
        m.submodules.source = source
        m.submodules.adder = adder = self._adder
        connect(m, wiring.flipped(self.i_load), table.i_load)
        connect(m, wiring.flipped(self.i_position), table.i)
        connect(m, table.o, source.i)
        connect(m, source.o, adder.i_row)
        connect(m, wiring.flipped(self.i), adder.i)
        connect(m, adder.o, wiring.flipped(self.o))
        m.d.comb += [
            source.final.eq(table.final),
            table.finished.eq(adder.finished),
            self.loaded.eq(table.loaded),
            self.fingerprint.eq(table.fingerprint),
        ]
        bus_error, position, dropped = C(0), C(0), C(0)
        if isinstance(source, LearnedRam):
            self._fill(m, table, source)
            dropped = source.dropped
            m.d.comb += [source.last_row.eq(table.last_row), table.fits.eq(source.fits)]
        else:
            m.d.comb += table.fits.eq(1)
            wiring.connect(m, source.m_axi, wiring.flipped(self.m_axi))
            m.d.comb += [source.base.eq(self.base), source.stride.eq(self.stride)]
            bus_error, position = source.bus_error, source.position
        self._status(m, table, adder, bus_error, position, dropped)
        return m

    def _fill(self, m, table, source):
        """The table is written while nothing is on its way, and nothing comes until it is whole."""
        offered, filling, taken = self.i_table.valid, Signal(), Signal()
        barred = Signal()
        settled = Cat(
            delayed(m, barred, clocks, reset_less=False, name=f"barred_{clocks}")
            for clocks in range(1, SETTLED + 1)
        )
        m.d.sync += barred.eq(offered | filling)
        m.d.comb += [
            table.barred.eq(barred | filling),
            self.i_table.ready.eq(filling | (barred & settled.all() & table.idle)),
            taken.eq(offered & self.i_table.ready),
            source.i_table.valid.eq(taken),
            source.i_table.payload.eq(self.i_table.payload),
        ]
        with m.If(taken):
            m.d.sync += filling.eq(~self.i_table.payload.last)

    def _status(self, m, table, adder, bus_error, position, dropped):
        status = self.status
        keep_packets(
            m,
            status,
            self.clear,
            finished=adder.finished,
            misframed=adder.misframed,
            saturated=adder.saturated,
            malformed=table.malformed | dropped,
        )
        for flag, event, first, value in (
            (
                status.out_of_table,
                table.out_of_table,
                status.first_out_of_table,
                table.position,
            ),
            (status.bus_error, bus_error, status.first_bus_error, position),
        ):
            stick(m, flag, event, self.clear)
            keep_first(m, first, value, flag, event, self.clear)
