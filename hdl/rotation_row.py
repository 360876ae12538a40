# SPDX-License-Identifier: Apache-2.0
"""Rows of coefficients: written a pair at a time, read a beat's pairs at a time."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from ropeway.golden.parameters import RopeParameters

from .fixed import equal_pieces
from .layouts import coefficient_layout
from .primitives import Ram
from .streams import delayed, held, pulse_stream, strobes

__all__ = ["RotationRow", "notice"]

COMPARED = 2  # bits of an address in one comparison


def notice(p: RopeParameters) -> int:
    """Clocks ahead that a row is told of its pairs."""
    return 1 + RotationRow.latency * p.forwarded


class RotationRow(wiring.Component):
    """A ring of ``rows`` rows; each is read as often as its token has rotated heads.

    Pair i stands in entry i div lanes, lane i mod lanes. Latency 2 clocks from ``row`` and
    ``entry`` to ``coefficients``; a pair written and an entry read every clock. An entry may be
    read from the clock after its ``written``. Where rows are ``forwarded`` that is as early as its
    coefficients can be there, two clocks before its last pair is in the memory: the last pairs
    written are at hand.

    Ports
    -----
    i : stream of {coefficients, last}, always ready
        Pairs in order; ``last`` ends a row.
    soon : In
        A pair comes at ``i`` ``notice(p)`` clocks later.
    written : Out
        For one clock: an entry may be read from the next clock on.
    row, entry : In
    coefficients : Out, one a lane
    """

    latency = 2

    def __init__(self, p: RopeParameters):
        self._p = p
        pair = data.StructLayout({"coefficients": coefficient_layout(p), "last": 1})
        super().__init__(
            {
                "i": In(pulse_stream(pair)),
                "soon": In(1),
                "written": Out(1),
                "row": In(range(p.rows)),
                "entry": In(range(p.max_head_beats)),
                "coefficients": Out(data.ArrayLayout(coefficient_layout(p), p.lanes)),
            }
        )

    @staticmethod
    def wait(p: RopeParameters) -> int:
        """Clocks from an entry's last pair until it may be read, negative where that is before."""
        return 2 - notice(p) + p.distant

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        row = Signal(range(p.rows))
        pair = Signal(range(p.max_pairs))
        lane_bits = exact_log2(p.lanes)
        entry_bits = len(self.entry)
        depth = p.rows << entry_bits
        with m.If(self.i.valid):
            m.d.sync += pair.eq(pair + 1)
            with m.If(self.i.payload.last):
                m.d.sync += [pair.eq(0), row.eq(row + 1)]

        address = Signal(range(depth))
        m.d.comb += address.eq(Cat((pair >> lane_bits)[:entry_bits], row))
        # Known ahead, and so a register; a row is a whole number of entries.
        lane = Signal(range(p.lanes))
        coming = Signal(p.lanes)
        m.d.sync += [
            lane.eq(lane + self.soon),
            coming.eq(Mux(self.soon, 1 << lane, 0)),
        ]
        complete = self.soon & (lane == p.lanes - 1)
        m.d.comb += self.written.eq(
            delayed(m, complete, 1 + p.distant, reset_less=False, name="complete")
        )
        enables = delayed(m, coming, notice(p) - 1, reset_less=False, name="enables")
        # Of distant lanes the upper half is told a clock after the lower.
        word = Value.cast(self.i.payload.coefficients)
        lower = enables, address, word
        upper = (
            delayed(m, enables, int(p.distant), reset_less=False, name="upper"),
            delayed(m, address, int(p.distant), name="upper_address"),
            delayed(m, word, int(p.distant), name="upper_words"),
        )
        read_address = Cat(self.entry[:entry_bits], self.row)
        # Compared in two steps, for the memories are far.
        pieces = equal_pieces(upper[1], read_address, COMPARED)
        same = Signal(len(pieces))
        m.d.sync += same.eq(pieces)
        for lane in range(p.lanes):
            enables, address, word = lower if 2 * lane < p.lanes else upper
            memory = Ram(coefficient_layout(p).size, depth)
            m.submodules[f"lane_{lane}"] = memory
            m.d.comb += [
                memory.write_enable.eq(enables[lane]),
                memory.write_address.eq(address),
                memory.write_data.eq(word),
                memory.read_address.eq(read_address),
            ]
            read = memory.read_data
            later = p.lanes - 1 - lane  # clocks by which the entry's last pair comes later, or more
            if p.forwarded and later < self.latency:
                read = self._forwarded(m, read, enables[lane], word, same.all(), later)
            m.d.comb += Value.cast(self.coefficients[lane]).eq(read)
        return m

    def _forwarded(
        self, m, read: Value, written: Value, word: Value, collides: Value, later: int
    ) -> Value:
        """What is read; where the entry is being written, what has been written of it since."""
        since = strobes(m, written, 1)[later:]  # in the clock after the reading, and in that
        kept = held(m, word, written, name="kept")
        chosen = Signal(name="chosen")
        m.d.sync += chosen.eq(collides & Cat(since).any())
        return Mux(chosen, kept, read)
