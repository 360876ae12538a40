# SPDX-License-Identifier: Apache-2.0
"""The phase table: the slots that hold every geometry in use, loaded while others run."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import (
    DIGESTED_HEADER_WORDS,
    HEADER_WORDS,
    INCREMENT_BITS,
    LARGEST_UNSCALED_CODE,
    MAGIC,
    SCHEME_ROPE,
    VERSION,
)

from .digest import Digest
from .layouts import (
    HEAD_BITS,
    KINDS,
    REPEAT_BITS,
    amplitude_layout,
    context_layout,
    geometry_layout,
    load_layout,
    pairs_layout,
)
from .primitives import Ram
from .streams import delayed

__all__ = ["PhaseTable", "pair_layout"]
COUNTED = 6  # clocks from a slot's closing until every position accepted before shows in `busy`


def pair_layout(p: RopeParameters) -> data.StructLayout:
    """What a slot holds of a pair: turns a position in 2^-48, and the axis it follows."""
    return data.StructLayout({"increment": INCREMENT_BITS, "axis": range(p.axes)})


class PhaseTable(wiring.Component):
    """N slots of one geometry each.

    An image of golden/table.py loads a slot in 8 + 2·pairs clocks, and is digested in eight times
    as many; the next load waits for that. From its first word to its last
    the slot is not ``loaded``, so no position is accepted for it. A load of a slot that is
    ``busy``, used by an accepted token not yet finished, is swallowed whole and sets ``refused``;
    one that is no image this engine can serve leaves the slot unloaded and sets ``malformed``.

    Ports
    -----
    i_load : stream of words, ready but for some clocks after an image
    busy : In, one bit a slot
    loaded, holds, bypass : Out, one bit a slot
        Positions may be accepted for it; it has a geometry, be it that a load has begun which a
        busy slot will refuse; nothing of a token turns.
    claimed, claimed_slot : Out
        For one clock: a load is to change this slot.
    refused, malformed : Out
        For one clock each, when such a load ends.
    token_slot : In, geometry : Out
        A slot's head shape and pattern, combinational.
    job_slot : In, pairs, context : Out
        How many pairs a slot has, if any, and its trained context; combinational.
    fingerprint_slot : In, fingerprint : Out
        The CRC-64 of the image a slot was loaded with, 0 until digested; combinational.
    amplitude_slot : In, amplitude : Out
        A slot's amplitude, combinational.
    pair_slot, pair_number : In, pair : Out
        A pair's increment and axis, 2 clocks later.
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        slot = range(p.slots)
        super().__init__(
            {
                "i_load": In(stream.Signature(load_layout(p))),
                "busy": In(p.slots),
                "loaded": Out(p.slots),
                "holds": Out(p.slots),
                "bypass": Out(p.slots),
                "claimed": Out(1),
                "claimed_slot": Out(slot),
                "refused": Out(1),
                "malformed": Out(1),
                "token_slot": In(slot),
                "geometry": Out(geometry_layout(p)),
                "job_slot": In(slot),
                "pairs": Out(pairs_layout(p)),
                "context": Out(context_layout(p)),
                "fingerprint_slot": In(slot),
                "fingerprint": Out(64),
                "amplitude_slot": In(slot),
                "amplitude": Out(amplitude_layout()),
                "pair_slot": In(slot),
                "pair_number": In(range(p.max_pairs)),
                "pair": Out(pair_layout(p)),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p

        # A word, and which of its image it is; `expected` is the last one's number. The slot is the
        # first word's.
        load, slot, arriving = Signal(load_layout(p)), Signal(range(p.slots)), Signal()
        begins, taken, field = Signal(init=1), Signal(), Signal(HEADER_WORDS)
        index = Signal(range(HEADER_WORDS + 2 * p.max_pairs + 1))
        m.d.comb += taken.eq(self.i_load.valid & self.i_load.ready)
        m.d.sync += arriving.eq(taken)
        with m.If(taken):
            m.d.sync += [load.eq(self.i_load.payload), begins.eq(self.i_load.payload.last)]
            m.d.sync += field.eq(Mux(begins, 1, field << 1))
            with m.If(begins):
                m.d.sync += slot.eq(self.i_load.payload.slot)
        header = self._header(m, arriving, field, load.word)
        expected, first = Signal.like(index), Signal()
        m.d.sync += [
            expected.eq(HEADER_WORDS - 1 + 2 * header.pairs),
            first.eq(taken & begins),
        ]
        ends, wrong, whole = Signal(), Signal(), Signal()
        m.d.comb += ends.eq(arriving & load.last)
        with m.If(arriving):
            m.d.sync += index.eq(index + 1)
            with m.If(first):
                m.d.sync += wrong.eq(0)
            with m.Elif(index.all()):
                m.d.sync += wrong.eq(1)  # so long that the count begins again
            with m.If(load.last):
                m.d.sync += [index.eq(0), whole.eq(index == expected)]

        strange = Signal(2)
        m.d.sync += [
            strange[0].eq(load.word[:16] != (VERSION | SCHEME_ROPE << 8)),
            strange[1].eq(load.word[16:] != MAGIC),
        ]
        axis, names_axis = Signal(16), Signal()
        m.d.sync += [
            axis.eq(load.word[16:]),
            names_axis.eq(arriving & (index >= HEADER_WORDS) & index[0]),
        ]
        with m.If(delayed(m, first, 1, reset_less=False, name="read") & strange.any()):
            m.d.sync += wrong.eq(1)
        with m.If(names_axis & (axis >= p.axes)):
            m.d.sync += wrong.eq(1)

        # The slot closes at the first word. When all positions accepted until then have been
        # counted, a busy slot opens again and the load is refused.
        slot_bit, slot_busy = Signal(p.slots), Signal()
        closed, refusing, closing, counted = Signal(p.slots), Signal(), Signal(), Signal()
        m.d.sync += [
            slot_bit.eq(1 << slot),
            slot_busy.eq((self.busy & slot_bit).any()),
            closing.eq(first),
            counted.eq(delayed(m, closing, COUNTED, reset_less=False, name="counted")),
            self.claimed.eq(counted & ~slot_busy),
            self.claimed_slot.eq(slot),
        ]
        with m.If(closing):
            m.d.sync += [closed.eq(slot_bit), refusing.eq(0)]
        with m.If(counted):
            m.d.sync += refusing.eq(slot_busy)
            with m.If(slot_busy):
                m.d.sync += closed.eq(0)

        # After the last word, as long again: the header has settled, and a short load been refused.
        settling = Signal(COUNTED + 4)
        judged, good, store, served = Signal(), Signal(), Signal(), Signal()
        m.d.sync += served.eq(self._served(m, header))
        m.d.sync += [
            settling.eq(Cat(ends, settling)),
            store.eq(judged & good),
            self.refused.eq(judged & refusing),
            self.malformed.eq(judged & ~refusing & ~good),
        ]
        m.d.comb += [
            judged.eq(settling[-1]),
            good.eq(whole & ~wrong & ~refusing & served),
        ]

        # The next load waits for this one's fingerprint.
        m.submodules.digest = digest = Digest(
            HEADER_WORDS + 2 * p.max_pairs, skipped=range(DIGESTED_HEADER_WORDS, HEADER_WORDS)
        )
        kept, between = Signal(), Signal()
        m.d.comb += [
            digest.valid.eq(arriving),
            digest.word.eq(load.word),
            digest.index.eq(index),
            digest.last.eq(load.last),
            self.i_load.ready.eq(~between),
        ]
        with m.If(judged):
            m.d.sync += kept.eq(good)
        with m.If(taken & self.i_load.payload.last):
            m.d.sync += between.eq(1)
        with m.Elif(digest.done):
            m.d.sync += between.eq(0)

        with m.If(self.claimed):
            m.d.sync += self.holds.eq(self.holds & ~slot_bit)
        with m.If(store):
            m.d.sync += [self.holds.eq(self.holds | slot_bit), closed.eq(0)]
            m.d.sync += self.bypass.eq(
                Mux(header.rotates, self.bypass & ~slot_bit, self.bypass | slot_bit)
            )
        with m.If(self.malformed):
            m.d.sync += closed.eq(0)
        m.d.sync += self.loaded.eq(self.holds & ~closed)
        self._headers(m, store, slot, header)
        self._fingerprints(m, kept & digest.done, store, slot, digest.fingerprint)
        self._pairs(m, arriving & ~refusing, index, load.word, slot)
        return m

    def _header(self, m, arriving, field, word):
        """The header's fields, each kept as its word arrives."""
        p = self._p
        header = Signal(
            data.StructLayout(
                {
                    "pairs": bits_for(p.max_pairs),
                    "pairs_high": 1,  # more than fit
                    "offset": bits_for(p.max_head_dim),
                    "offset_high": 1,
                    "half_split": 1,
                    "rotated": 3,
                    "amplitude": amplitude_layout(),
                    "head_dim": bits_for(p.max_head_dim),
                    "head_dim_high": 1,
                    "counts": data.ArrayLayout(HEAD_BITS, KINDS),
                    "repeat": REPEAT_BITS,
                    "present": KINDS,
                    "context": context_layout(p),
                    "check": 16,
                    "rotates": 1,
                }
            )
        )

        def keep(name, start, width=16):
            field = header[name]
            m.d.sync += field.eq(word[start : start + width])
            m.d.sync += header[f"{name}_high"].eq(word[start + len(field) : start + width].any())

        with m.If(arriving & field[1]):
            keep("pairs", 0)
            keep("offset", 16)
        with m.If(arriving & field[2]):
            m.d.sync += [header.half_split.eq(word[0]), header.rotated.eq(word[1:4])]
        with m.If(arriving & field[3]):
            m.d.sync += header.amplitude.eq(word[:19])
        with m.If(arriving & field[4]):
            keep("head_dim", 0)
        far = Signal()
        with m.If(arriving & field[5]):
            # A context that no position reaches limits nothing.
            reach = p.position_bits - 1
            m.d.sync += [header.context.tokens.eq(word[:reach]), far.eq(word[reach:].any())]
        m.d.sync += header.context.stated.eq(~far & (header.context.tokens != 0))
        with m.If(arriving & field[6]):
            for kind in range(KINDS):
                m.d.sync += header.counts[kind].eq(word[10 * kind : 10 * kind + HEAD_BITS])
        with m.If(arriving & field[7]):
            m.d.sync += header.repeat.eq(word[:REPEAT_BITS])
        with m.If(arriving & field[5:].any()):
            before = Mux(field[5], 0, header.check)
            m.d.sync += header.check.eq(before ^ word[:16] ^ word[16:])
        present = Cat(header.counts[kind] != 0 for kind in range(KINDS))
        m.d.sync += [
            header.present.eq(present),
            header.rotates.eq((header.present & header.rotated).any() & (header.pairs != 0)),
        ]
        return header

    def _served(self, m, header) -> Value:
        """Whether this engine can stream the geometry (RopeParameters.check_serves is the twin)."""
        p = self._p
        beat = exact_log2(p.beat_elements)
        rotary = Signal(range(2 * p.max_head_dim + 2 * p.max_pairs + 1))
        m.d.sync += rotary.eq(header.offset + (header.pairs << 1))
        conditions = Cat(
            ~(header.pairs_high | header.offset_high | header.head_dim_high),
            header.head_dim[:beat] == 0,
            header.offset[:beat] == 0,
            header.pairs[: beat - 1] == 0,
            header.head_dim != 0,
            header.head_dim <= p.max_head_dim,
            rotary <= header.head_dim,
            header.present.any(),
            header.repeat != 0,
            header.check == 0,
            header.amplitude.code <= LARGEST_UNSCALED_CODE,
        )
        kept = Signal.like(conditions)
        m.d.sync += kept.eq(conditions)
        return kept.all()

    def _headers(self, m, store, slot, header):
        """Decoded headers, a word a slot, read where they are looked up."""
        p = self._p
        beat = exact_log2(p.beat_elements)
        geometry = Signal(geometry_layout(p))
        start, block = header.offset >> beat, header.pairs >> beat - 1
        m.d.comb += [
            geometry.final.eq((header.head_dim >> beat) - 1),
            geometry.start.eq(start),
            geometry.middle.eq(start + (block >> 1)),
            geometry.stop.eq(start + block),
            geometry.half.eq(block >> 1),
            geometry.odd.eq(block[0]),
            geometry.half_split.eq(header.half_split),
            geometry.rotated.eq(header.rotated),
            geometry.counts.eq(header.counts),
            geometry.present.eq(header.present),
            *(geometry.single[kind].eq(header.counts[kind] == 1) for kind in range(KINDS)),
            geometry.repeat.eq(header.repeat),
        ]
        pairs = Signal(pairs_layout(p))
        m.d.comb += [pairs.final.eq(header.pairs - 1), pairs.single.eq(header.pairs == 1)]
        if p.temperature:
            turning = header.present & header.rotated
            m.d.comb += [
                pairs.queries.eq(turning[0]),
                pairs.others.eq(turning[1:].any()),
                pairs.repeat.eq(header.repeat),
            ]

        for name, word, asked, out in (
            ("geometries", geometry, self.token_slot, self.geometry),
            ("counts", pairs, self.job_slot, self.pairs),
            ("amplitudes", header.amplitude, self.amplitude_slot, self.amplitude),
            ("contexts", header.context, self.job_slot, self.context),
        ):
            value = Value.cast(word)
            kept = Signal.like(value, name=f"{name}_word", reset_less=True)
            m.d.sync += kept.eq(value)
            memory = Memory(shape=len(value), depth=max(p.slots, 4), init=[])
            m.submodules[name] = memory
            write = memory.write_port()
            m.d.comb += [write.en.eq(store), write.addr.eq(slot), write.data.eq(kept)]
            read = memory.read_port(domain="comb")
            m.d.comb += [read.addr.eq(asked), Value.cast(out).eq(read.data)]

    def _fingerprints(self, m, digested, store, slot, fingerprint):
        """A word a slot, 0 from a load until its image is digested."""
        m.submodules.fingerprints = memory = Memory(
            shape=len(fingerprint), depth=max(self._p.slots, 4), init=[]
        )
        write, read = memory.write_port(), memory.read_port(domain="comb")
        m.d.comb += [
            write.en.eq(digested | store),
            write.addr.eq(slot),
            write.data.eq(Mux(digested, fingerprint, 0)),
            read.addr.eq(self.fingerprint_slot),
            self.fingerprint.eq(read.data),
        ]

    def _pairs(self, m, arriving, index, word, slot):
        """Increments and axes: a pair's two words are written at its second."""
        p = self._p
        pair_bits = bits_for(p.max_pairs - 1)
        m.submodules.pairs = pairs = Ram(pair_layout(p).size, p.slots << pair_bits)
        low = Signal(32, reset_less=True)
        with m.If(arriving):
            m.d.sync += low.eq(word)
        number = ((index - HEADER_WORDS) >> 1)[:pair_bits]
        enable, address = Signal(), Signal(range(p.slots << pair_bits))
        axis_bits = pair_layout(p).size - INCREMENT_BITS
        pair = Signal(pair_layout(p).size, reset_less=True)
        m.d.sync += [
            enable.eq(arriving & (index >= HEADER_WORDS) & index[0]),
            address.eq(Cat(number, slot)),
            pair.eq(Cat(low, word[: 16 + axis_bits])),
        ]
        m.d.comb += [
            pairs.write_enable.eq(enable),
            pairs.write_address.eq(address),
            pairs.write_data.eq(pair),
            pairs.read_address.eq(Cat(self.pair_number, self.pair_slot)),
            Value.cast(self.pair).eq(pairs.read_data),
        ]
