# SPDX-License-Identifier: Apache-2.0
"""Reads rows beat by beat from a memory, as far as there is room behind."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from ropeway.golden.adder_parameters import AdderParameters

from .adder_layouts import row_layout
from .fixed import counted
from .queue import Queue
from .streams import connect, delayed

__all__ = ["RowReader", "order_layout"]

BEATS = 16  # between the memory and the adder


def order_layout(address_bits: int) -> data.StructLayout:
    """A row to read: the address of its first word, or none and an ``error``."""
    return data.StructLayout({"address": address_bits, "error": 1})


class RowReader(wiring.Component):
    """Turns rows in a memory of words of ``words`` beats each into a stream of their beats.

    Latency: see ``latency``, from an order to its first beat; a beat a clock, no bubble between
    rows.

    Parameters
    ----------
    p : the adder's
    address_bits : of the memory
    memory_latency : of the memory, at most 6 clocks
    words : beats in a word of the memory, a power of two

    Ports
    -----
    i : stream of orders
    o : stream of beats
    final : In
        The number of a row's last beat, steady while rows are on their way.
    address : Out, word : In
        The memory's, ``memory_latency`` clocks later.
    done : Out
        For one clock: an order's last beat has been read.
    """

    i: stream.Interface
    o: stream.Interface
    final: Signal
    address: Signal
    word: Signal
    done: Signal

    def __init__(self, p: AdderParameters, address_bits: int, memory_latency: int, words: int = 1):
        self._p, self._memory_latency, self._words = p, memory_latency, words
        super().__init__(
            {
                "i": In(stream.Signature(order_layout(address_bits))),
                "o": Out(stream.Signature(row_layout(p, p.data_bits))),
                "final": In(bits_for(p.max_beats)),
                "address": Out(address_bits),
                "word": In(p.data_bits * p.beat_elements * words),
                "done": Out(1),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from an order to its first beat."""
        return 1 + self._memory_latency + 2

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p, shift = self._p, exact_log2(self._words)
        m.submodules.beats = beats = Queue(row_layout(p, p.data_bits), BEATS, full_rate=True)
        beat, places = Signal(bits_for(p.max_beats)), Signal(bits_for(BEATS), init=BEATS - 1)
        order, active, goes, ends = Signal(self.i.payload.shape()), Signal(), Signal(), Signal()
        room, final, single, penultimate = Signal(), Signal(), Signal(), Signal.like(self.final)
        taken = beats.o.valid & beats.o.ready
        m.d.comb += [
            goes.eq(active & room),
            ends.eq(goes & final),
            self.i.ready.eq(~active | ends),
            self.done.eq(ends),
            self.address.eq(order.address),
        ]
        m.d.sync += [
            places.eq(counted(places, taken, goes)),
            room.eq(places > 2),  # two clocks late
            single.eq(self.final == 0),
            penultimate.eq(self.final - 1),
        ]
        with m.If(goes):
            m.d.sync += [beat.eq(beat + 1), final.eq(beat == penultimate)]
            with m.If(beat[:shift].all() if shift else C(1)):
                m.d.sync += order.address.eq(order.address + 1)
        with m.If(self.i.ready):
            m.d.sync += [active.eq(self.i.valid), order.eq(self.i.payload)]
            m.d.sync += [beat.eq(0), final.eq(single)]

        def waited(value, **options):
            return delayed(m, value, self._memory_latency, name="waited", **options)

        width = p.data_bits * p.beat_elements
        m.d.comb += [
            beats.i.valid.eq(waited(goes, reset_less=False)),
            beats.i.payload.last.eq(waited(ends)),
            beats.i.payload.error.eq(waited(order.error)),
            Value.cast(beats.i.payload.data).eq(
                self.word.word_select(waited(beat[:shift]), width) if shift else self.word
            ),
        ]
        connect(m, beats.o, wiring.flipped(self.o))
        return m
