# SPDX-License-Identifier: Apache-2.0
"""Adds rows to embeddings, a beat a clock, each element rounded once."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ropeway.golden.adder import EXPONENT_BITS, SCALE_FRACTION_BITS, spare_bits
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.fixed import limits

from .adder_layouts import embedding_layout, row_layout, sum_layout
from .fixed import counted, overflows
from .primitives import Multiplier
from .queue import Queue
from .streams import connect, delayed

__all__ = ["Adder", "scale_layout"]

RESULTS = 32  # beats in the pipeline and behind it


def scale_layout() -> data.StructLayout:
    """What embeddings are multiplied by: code · 2^(exponent − 17)."""
    return data.StructLayout({"code": SCALE_FRACTION_BITS + 1, "exponent": EXPONENT_BITS})


class Adder(wiring.Component):
    """saturate(round half up(element · scale + row word)), from exact products and sums.

    A row's beats say how long its token is. A packet that ends early is filled up with zeros, the
    rest of one that ends late is dropped; its last beat carries ``error`` and the next token is
    exact. A token whose row has ``error`` passes unchanged, every beat of it marked.

    Latency: see ``latency``, from a beat to its sum, its row waiting; one beat a clock.

    Parameters
    ----------
    p : the adder's
    row_bits, row_fraction_bits : of a row's words

    Ports
    -----
    i : stream of beats of embeddings
    i_row : stream of beats of rows
    o : stream of sums
    scale : In, with ``scaled``
        Steady while tokens are on their way.
    finished, misframed, saturated : Out
        For one clock each: a token's last beat has come in; its packet was malformed; a sum did not
        fit.
    """

    i: stream.Interface
    i_row: stream.Interface
    o: stream.Interface
    scale: data.View
    finished: Signal
    misframed: Signal
    saturated: Signal

    def __init__(self, p: AdderParameters, row_bits: int, row_fraction_bits: int):
        self._p, self._row_bits = p, row_bits
        self._spare = spare_bits(p, row_fraction_bits)
        self._row_shift = self._spare + p.fraction_bits - row_fraction_bits
        self._multipliers = [
            Multiplier(signed(p.data_bits), SCALE_FRACTION_BITS + 1)
            for _ in range(p.beat_elements if p.scaled else 0)
        ]
        super().__init__(
            {
                "i": In(stream.Signature(embedding_layout(p))),
                "i_row": In(stream.Signature(row_layout(p, row_bits))),
                "o": Out(stream.Signature(sum_layout(p))),
                "finished": Out(1),
                "misframed": Out(1),
                "saturated": Out(1),
            }
            | ({"scale": In(scale_layout())} if p.scaled else {})
        )

    @property
    def _scaling(self) -> int:
        """Clocks from a beat until it is scaled."""
        return self._multipliers[0].latency + 1 if self._p.scaled else 1

    @property
    def latency(self) -> int:
        """Clocks from a beat to its sum, with its row and room waiting."""
        return self._scaling + 3 + 2

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.results = results = Queue(sum_layout(p), RESULTS, full_rate=True)
        goes, spoilt, filling = self._frame(m, results)

        # A beat's elements, 0 where its packet has ended, and its row.
        beat = data.ArrayLayout(signed(p.data_bits), p.beat_elements)
        elements = Signal(beat)
        with m.If(~filling):
            m.d.comb += elements.eq(self.i.payload.data)
        row = self.i_row.payload
        over = Signal(p.beat_elements)
        for number in range(p.beat_elements):
            m.d.comb += results.i.payload.data[number].eq(
                self._sum(m, number, elements[number], row.data[number], row.error, over)
            )

        def waited(value, **options):
            return delayed(m, value, self.latency - 2, name="waited", **options)

        gives = waited(goes, reset_less=False)
        m.d.comb += [
            results.i.valid.eq(gives),
            results.i.payload.last.eq(waited(row.last)),
            results.i.payload.error.eq(waited(row.error | (row.last & spoilt))),
            self.saturated.eq(gives & over.any()),
        ]
        connect(m, results.o, wiring.flipped(self.o))
        return m

    def _frame(self, m, results) -> tuple[Value, Value, Value]:
        """Whether a beat goes, whether its packet is spoilt, and whether it is filled up."""
        filling, dropping = Signal(), Signal()
        places, room = Signal(bits_for(RESULTS), init=RESULTS - 1), Signal()
        goes, may, spoilt = Signal(), Signal(), Signal()
        last, ends = self.i.payload.last, Signal()
        taken = results.o.valid & results.o.ready
        m.d.comb += [
            may.eq(self.i_row.valid & room & ~dropping),
            goes.eq(may & (self.i.valid | filling)),
            self.i_row.ready.eq(room & ~dropping & (self.i.valid | filling)),
            self.i.ready.eq((may & ~filling) | dropping),
            spoilt.eq(filling | ~last),
            ends.eq(goes & self.i_row.payload.last),
        ]
        m.d.sync += [
            places.eq(counted(places, taken, goes)),
            room.eq(places > 2),  # two clocks late
            self.finished.eq(ends),
            self.misframed.eq(ends & spoilt),
        ]
        with m.If(goes):
            m.d.sync += filling.eq(~self.i_row.payload.last & (filling | last))
        with m.If(ends & ~filling & ~last):
            m.d.sync += dropping.eq(1)
        with m.Elif(self.i.valid & last):
            m.d.sync += dropping.eq(0)
        return goes, spoilt, filling

    def _sum(self, m, number, element, word, passes, over) -> Value:
        """One element's sum; bit ``number`` of ``over`` beside it."""
        p, spare, clocks = self._p, self._spare, self._scaling

        def waited(value, clocks):
            return delayed(m, value, clocks, name=f"waited_{number}")

        # The element in the sum's units, and the row with the half that rounds.
        if p.scaled:
            multiplier = self._multipliers[number]
            m.submodules[f"product_{number}"] = multiplier
            m.d.comb += [multiplier.a.eq(element), multiplier.b.eq(self.scale.code)]
            wide = spare - SCALE_FRACTION_BITS
            width = len(multiplier.p) + (1 << EXPONENT_BITS) - 1
            scaled = Signal(signed(width + wide), reset_less=True, name=f"scaled_{number}")
            shifted = (multiplier.p << self.scale.exponent) << wide
            m.d.sync += scaled.eq(shifted)
        else:
            scaled = Cat(C(0, spare), waited(element, clocks)).as_signed()
        half = 1 << spare - 1 if spare else 0
        addend = Cat(C(0, self._row_shift), word).as_signed()
        width = max(len(addend), spare) + 1
        row = Signal(signed(width), reset_less=True, name=f"row_{number}")
        m.d.sync += row.eq(addend + half)
        total = Signal(
            signed(max(len(scaled), len(row)) + 1), reset_less=True, name=f"total_{number}"
        )
        m.d.sync += total.eq(scaled + waited(row, clocks - 1))

        # Whether it fits, and what is given.
        rounded = total[spare:].as_signed()
        held = Signal(signed(p.data_bits), reset_less=True, name=f"held_{number}")
        out = Signal(signed(p.data_bits), reset_less=True, name=f"out_{number}")
        wrong, negative = Signal(reset_less=True), Signal(reset_less=True)
        passed = waited(passes, clocks + 1)
        low, high = limits(p.data_bits)
        m.d.sync += [
            held.eq(Mux(passed, waited(element, clocks + 1), rounded)),
            wrong.eq(overflows(rounded, p.data_bits) & ~passed),
            negative.eq(rounded[-1]),
            out.eq(Mux(wrong, Mux(negative, low, high), held)),
            over[number].eq(wrong),
        ]
        return out
