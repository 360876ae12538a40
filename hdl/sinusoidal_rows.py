# SPDX-License-Identifier: Apache-2.0
"""Sinusoidal rows made on the fly: a generator a lane, and a ring of rows to lay them out."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from ropeway.golden.adder_parameters import ROWS, AdderParameters
from ropeway.golden.generators import PIPELINED
from ropeway.golden.sincos import RAW_FRACTION_BITS
from ropeway.golden.sinusoidal import ROW_BITS, ROW_FRACTION_BITS
from ropeway.golden.table import INCREMENT_BITS

from .adder_layouts import place_layout, row_layout
from .fixed import counted, negated_if
from .phase_generator import PhaseGenerator
from .primitives import Ram
from .queue import Queue
from .sincos import SinCos
from .streams import connect, delayed

__all__ = ["SinusoidalRows", "shape_layout"]

BEATS = 16  # of rows, between the ring and the adder


def shape_layout(p: AdderParameters) -> data.StructLayout:
    """A row's shape: the number of its last beat, whether sines and cosines are in halves.

    ``cosine`` comes first where they are.
    """
    return data.StructLayout({"final": bits_for(p.max_beats), "halves": 1, "cosine": 1})


class SinusoidalRows(wiring.Component):
    """A row a position: sines and cosines of (position + offset) · increment, in their layout.

    ``lanes`` frequencies at once; a row is written whole, then read, while the next ones are made.
    Latency: ``latency`` clocks, and ``interval`` for every beat of the row but the first; a beat
    every ``interval`` clocks, with no bubble between rows.

    Ports
    -----
    i : stream of positions
    o : stream of beats of rows, words of 16 fraction bits
    shape, offset : In
        Steady while rows are on their way.
    write, write_number, write_increment : In
        Loads the increment of a frequency, in units of 2^-48 turn.
    """

    i: stream.Interface
    o: stream.Interface
    shape: data.View
    offset: Signal
    write: Signal
    write_number: Signal
    write_increment: Signal

    def __init__(self, p: AdderParameters):
        self._p = p
        self._tag = data.StructLayout({"last": 1})
        # So many that rows of 8 beats last from a row's beginning until it is read.
        self._rows = 2 * ROWS if p.generator == PIPELINED else ROWS
        self._phases = [
            PhaseGenerator(p.generator, p.position_bits, self._tag) for _ in range(p.lanes)
        ]
        self._sincos = [SinCos(p.generator, self._tag) for _ in range(p.lanes)]
        super().__init__(
            {
                "i": In(stream.Signature(place_layout(p))),
                "o": Out(stream.Signature(row_layout(p, ROW_BITS))),
                "shape": In(shape_layout(p)),
                "offset": In(p.position_bits - 1),
                "write": In(1),
                "write_number": In(range(p.max_frequencies)),
                "write_increment": In(INCREMENT_BITS),
            }
        )

    @property
    def interval(self) -> int:
        """Clocks a beat."""
        return self._phases[0].interval

    @property
    def latency(self) -> int:
        """Clocks from a position to its first beat, and ``interval`` for every further one."""
        generated = Ram.latency + self._phases[0].latency + self._sincos[0].latency
        return 1 + generated + 2 + 2 + Ram.latency + 2 + 2

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        released = Signal()
        # A row's last beat is known a beat ahead.
        single, penultimate = Signal(), Signal.like(self.shape.final)
        m.d.sync += [single.eq(self.shape.final == 0), penultimate.eq(self.shape.final - 1)]
        valid, last, words = self._generate(m, released, single, penultimate)
        row, entry = Signal(range(self._rows)), Signal(range(self._p.max_beats))
        with m.If(valid):
            m.d.sync += entry.eq(entry + 1)
            with m.If(last):
                m.d.sync += [entry.eq(0), row.eq(row + 1)]
        banks = self._banks(m, valid, Cat(entry[1:], row), entry[0], words)
        self._read(m, banks, valid & last, released, single, penultimate)
        return m

    def _generate(self, m, released, single, penultimate) -> tuple[Value, Value, list[Value]]:
        """Entries of ``lanes`` sines and cosines, one row after the other, as rows are free."""
        p = self._p
        free, entry = Signal(range(self._rows + 1), init=self._rows), Signal(range(p.max_beats))
        final, active, begins, ends, tick, spare = (Signal() for _ in range(6))
        operand = Signal(self._phases[0].i.payload.position.shape())
        if self.interval > 1:
            wait = Signal(range(self.interval))
            m.d.comb += tick.eq(wait == 0)
            with m.If(tick | ~active):
                m.d.sync += wait.eq(self.interval - 1)
            with m.Else():
                m.d.sync += wait.eq(wait - 1)
        else:
            m.d.comb += tick.eq(1)
        m.d.comb += [
            ends.eq(active & tick & final),
            self.i.ready.eq(spare & (~active | ends)),
            begins.eq(self.i.valid & self.i.ready),
        ]
        m.d.sync += [
            free.eq(counted(free, released, begins)),
            spare.eq((free != 0) & ~begins),
        ]
        with m.If(begins):
            m.d.sync += [
                active.eq(1),
                entry.eq(0),
                final.eq(single),
                operand.eq(self.i.payload.position + self.offset),
            ]
        with m.Elif(ends):
            m.d.sync += active.eq(0)
        with m.Elif(active & tick):
            m.d.sync += [entry.eq(entry + 1), final.eq(entry == penultimate)]

        lane_bits, words = exact_log2(p.lanes), []
        begun = begins | (active & tick & ~final)
        goes = delayed(m, begun, 1 + Ram.latency, reset_less=False, name="goes")
        last, position = (delayed(m, v, Ram.latency, name="waited") for v in (final, operand))
        for lane, (phase, sincos) in enumerate(zip(self._phases, self._sincos, strict=True)):
            m.submodules[f"increments_{lane}"] = ram = Ram(INCREMENT_BITS, p.max_beats)
            m.submodules[f"phase_{lane}"] = phase
            m.submodules[f"sincos_{lane}"] = sincos
            m.d.comb += [
                ram.write_enable.eq(self.write & (self.write_number[:lane_bits] == lane)),
                ram.write_address.eq(self.write_number[lane_bits:]),
                ram.write_data.eq(self.write_increment),
                ram.read_address.eq(entry),
                phase.i.valid.eq(goes),
                phase.i.payload.position.eq(position),
                phase.i.payload.increment.eq(ram.read_data),
                phase.i.payload.tag.last.eq(last),
            ]
            connect(m, phase.o, sincos.i)
            words.append(self._signed(m, sincos.o.payload))
        out = self._sincos[0].o
        return (
            delayed(m, out.valid, 2, reset_less=False, name="valid"),
            delayed(m, out.payload.tag.last, 2, name="last"),
            words,
        )

    def _signed(self, m, raw) -> Value:
        """Two clocks: sine and cosine rounded, then exchanged and negated by quadrant."""
        dropped = RAW_FRACTION_BITS - ROW_FRACTION_BITS
        sine, cosine = (Signal(ROW_FRACTION_BITS + 1, reset_less=True) for _ in range(2))
        for rounded, value in ((sine, raw.sin), (cosine, raw.cos)):
            m.d.sync += rounded.eq((value >> dropped) + value[dropped - 1])
        quadrant = delayed(m, raw.quadrant, 1, name="quadrant")
        odd = quadrant[0]
        out = Signal(data.ArrayLayout(signed(ROW_BITS), 2), reset_less=True)
        m.d.sync += [
            out[0].eq(negated_if(Mux(odd, cosine, sine), quadrant[1], ROW_BITS)),
            out[1].eq(negated_if(Mux(odd, sine, cosine), quadrant[0] ^ quadrant[1], ROW_BITS)),
        ]
        return out

    def _banks(self, m, valid, address, odd, words) -> list[Ram]:
        """The ring, even and odd entries apart, so that two can be read at once."""
        banks = []
        for bank in range(2):
            ram = Ram(len(Cat(map(Value.cast, words))), self._rows * -(-self._p.max_beats // 2))
            m.submodules[f"bank_{bank}"] = ram
            m.d.comb += [
                ram.write_enable.eq(valid & (odd == bank)),
                ram.write_address.eq(address),
                ram.write_data.eq(Cat(map(Value.cast, words))),
            ]
            banks.append(ram)
        return banks

    def _read(self, m, banks, written, released, single, penultimate):
        """Beats of whole rows in their layout, as far as there is room behind."""
        p = self._p
        m.submodules.beats = beats = Queue(row_layout(p, ROW_BITS), BEATS, full_rate=True)
        whole, row = Signal(range(self._rows + 1)), Signal(range(self._rows), init=self._rows - 1)
        beat, index, second = Signal(range(p.max_beats)), Signal(range(p.max_beats)), Signal()
        places, room = Signal(bits_for(BEATS), init=BEATS - 1), Signal()
        active, final, goes, ends, begins = (Signal() for _ in range(5))
        taken = beats.o.valid & beats.o.ready
        m.d.comb += [
            goes.eq(active & room),
            ends.eq(goes & final),
            begins.eq((~active | ends) & (whole != 0)),
            released.eq(ends),
        ]
        m.d.sync += [
            whole.eq(counted(whole, written, begins)),
            places.eq(counted(places, taken, goes)),
            room.eq(places > 2),  # two clocks late
        ]
        # In halves a beat takes two entries' sines, later their cosines; else one entry.
        with m.If(goes):
            turns = index == (self.shape.final >> 1)
            m.d.sync += [beat.eq(beat + 1), index.eq(index + 1), final.eq(beat == penultimate)]
            with m.If(self.shape.halves & turns):
                m.d.sync += [index.eq(0), second.eq(1)]
        with m.If(begins):
            m.d.sync += [active.eq(1), row.eq(row + 1), final.eq(single)]
            m.d.sync += [beat.eq(0), index.eq(0), second.eq(0)]
        with m.Elif(ends):
            m.d.sync += active.eq(0)
        entry = Mux(self.shape.halves, index, index >> 1)
        odd = delayed(m, index[0], Ram.latency + 1, name="odd")
        later = delayed(m, second ^ self.shape.cosine, Ram.latency + 1, name="later")

        for ram in banks:
            m.d.comb += ram.read_address.eq(Cat(entry[: len(index) - 1], row))
        # A register behind the memory's own, which lies far from the words.
        words = [delayed(m, ram.read_data, 1, name="read") for ram in banks]
        out = Signal(data.ArrayLayout(signed(ROW_BITS), p.beat_elements), reset_less=True)
        both = Cat(*words)
        with m.If(self.shape.halves):
            for number in range(p.beat_elements):
                sine, cosine = (both.word_select(2 * number + i, ROW_BITS) for i in range(2))
                m.d.sync += out[number].eq(Mux(later, cosine, sine))
        with m.Else():
            m.d.sync += Value.cast(out).eq(Mux(odd, words[1], words[0]))
        shown = Ram.latency + 2
        m.d.comb += [
            beats.i.valid.eq(delayed(m, goes, shown, reset_less=False, name="shown")),
            beats.i.payload.data.eq(out),
            beats.i.payload.last.eq(delayed(m, final, shown, name="final")),
        ]
        connect(m, beats.o, wiring.flipped(self.o))
