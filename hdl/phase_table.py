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
    load_layout,
    pairs_layout,
    pattern_layout,
    shape_layout,
)
from .primitives import Ram
from .streams import delayed

__all__ = ["PhaseTable", "pair_layout"]
COUNTED = 7  # clocks from a load's offer until every position accepted before shows in `busy`
SETTLED = 4  # clocks from an image's last word until all of its header is judged


def pair_layout(p: RopeParameters) -> data.StructLayout:
    """What a slot holds of a pair: turns a position in 2^-48, and the axis it follows."""
    return data.StructLayout({"increment": INCREMENT_BITS, "axis": range(p.axes)})


class PhaseTable(wiring.Component):
    """N slots of one geometry each.

    An image of golden/table.py loads a slot in 8 + 2·pairs clocks, some clocks after it is offered,
    and is digested in eight times as many; the next load waits for that. From its offer to its last
    word the slot is not ``loaded``, so no position is accepted for it. A load of a slot that is
    ``busy``, used by an accepted token not yet finished, is swallowed whole and sets ``refused``;
    one that is no image this engine can serve leaves the slot unloaded and sets ``malformed``.

    Ports
    -----
    i_load : stream of words, ready from some clocks after the first word's offer to the last
    busy : In, one bit a slot
    loaded, holds, bypass : Out, one bit a slot
        Positions may be accepted for it; it has a geometry, be it that a load is offered which a
        busy slot will refuse; nothing of a token turns.
    claimed, claimed_slot : Out
        For one clock: a load is to change this slot.
    refused, malformed : Out
        For one clock each, when such a load ends.
    token_slot : In, pattern : Out
        A slot's head pattern, combinational.
    head_slot : In, shape : Out
        A slot's head shape, combinational.
    job_slot : In, pairs : Out
        How many pairs a slot has, if any; combinational.
    context_slot : In, context : Out
        Its trained context, combinational.
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
                "pattern": Out(pattern_layout()),
                "head_slot": In(slot),
                "shape": Out(shape_layout(p)),
                "job_slot": In(slot),
                "pairs": Out(pairs_layout(p)),
                "context_slot": In(slot),
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
        load = self.i_load.payload
        m.submodules.digest = digest = Digest(
            HEADER_WORDS + 2 * p.max_pairs,
            skipped=range(DIGESTED_HEADER_WORDS, HEADER_WORDS),
            registered=p.slots > 1,
        )
        slot, admitted, refusing = Signal(range(p.slots)), Signal(), Signal()
        digesting, slot_bit = Signal(), Signal(p.slots)
        m.d.comb += slot_bit.eq(1 << slot)

        # The slot closes when a load is offered. When all positions accepted until then have been
        # counted, a busy slot opens again and the load is refused.
        lead, decides, slot_busy = Signal(range(COUNTED + 1)), Signal(), Signal()
        closed = Signal(p.slots)
        m.d.comb += self.i_load.ready.eq(admitted)
        m.d.sync += [
            decides.eq(lead == COUNTED - 1),
            slot_busy.eq((self.busy & slot_bit).any()),
            self.claimed.eq(decides & ~slot_busy),
            self.claimed_slot.eq(slot),
        ]
        with m.If(decides):
            m.d.sync += [lead.eq(0), admitted.eq(1), refusing.eq(slot_busy)]
            with m.If(slot_busy):
                m.d.sync += closed.eq(0)
        with m.Elif(lead != 0):
            m.d.sync += [lead.eq(lead + 1), closed.eq(slot_bit)]
        with m.Elif(self.i_load.valid & ~admitted & ~digesting):
            m.d.sync += [lead.eq(1), slot.eq(load.slot)]

        # What is taken of a load that is not refused changes the slot. An only slot's engine, which
        # is to be small, spares two registers for a word and one for the verdict.
        late = int(p.slots > 1)
        settled = SETTLED + 2 * late

        def waited(value, **options):
            return delayed(m, value, late, name="waited", **options)

        word, last = waited(load.word), waited(load.last)
        taken, ends = Signal(), Signal()
        wrong, whole, strange = Signal(), Signal(), Signal(2)
        number, in_header = digest.number, Signal()
        m.d.comb += [
            ends.eq(self.i_load.valid & admitted & load.last),
            taken.eq(waited(self.i_load.valid & admitted & ~refusing, reset_less=False)),
        ]
        with m.If(decides):
            m.d.sync += in_header.eq(1)
        with m.Elif(taken & number[:3].all()):
            m.d.sync += in_header.eq(0)
        with m.If(ends):
            m.d.sync += [admitted.eq(0), digesting.eq(~refusing)]
        arriving = Signal(HEADER_WORDS)
        with m.If(taken & in_header):
            m.d.comb += arriving.eq(1 << number[:3])
        kept_word, odd = waited(word), waited(number[0])
        arrived = waited(arriving, reset_less=False)
        pairs = waited(taken & ~in_header, reset_less=False)
        header = self._header(m, arrived, kept_word)

        # An image so long that its words' count begins again is wrong.
        again, strays, half = Signal(), Signal(), len(number) // 2
        m.d.comb += again.eq(
            waited(taken & number[:half].all(), reset_less=False) & waited(number[half:].all())
        )
        m.d.comb += strays.eq(pairs & odd & waited(word[16:] >= p.axes))
        with m.If(decides):
            m.d.sync += wrong.eq(0)
        with m.Elif(again | strays):
            m.d.sync += wrong.eq(1)
        with m.If(arrived[0]):
            m.d.sync += [
                strange[0].eq(kept_word[:16] != (VERSION | SCHEME_ROPE << 8)),
                strange[1].eq(kept_word[16:] != MAGIC),
            ]
        pair_count = waited((digest.final >> 1) - (HEADER_WORDS // 2 - 1))
        m.d.sync += whole.eq(digest.final[0] & (pair_count == header.pairs))

        judged, good, store, served = Signal(), Signal(), Signal(), Signal()
        m.d.sync += served.eq(self._served(m, header))
        m.d.comb += [
            judged.eq(delayed(m, ends, settled, reset_less=False, name="ended")),
            good.eq(waited(whole & ~wrong & ~strange.any() & served)),
        ]
        m.d.sync += [
            store.eq(judged & good & ~refusing),
            self.refused.eq(judged & refusing),
            self.malformed.eq(judged & ~refusing & ~good),
        ]
        for each in range(p.slots):
            mine, held, passes = slot == each, self.holds[each], self.bypass[each]
            m.d.sync += [
                held.eq((held & ~(mine & self.claimed)) | (mine & store)),
                passes.eq(Mux(mine & store, ~header.rotates, passes)),
            ]
        with m.If(judged & ~refusing):
            m.d.sync += closed.eq(0)
        m.d.sync += self.loaded.eq(self.holds & ~closed)

        # The next load waits for this one's fingerprint.
        m.d.comb += [
            digest.valid.eq(taken),
            digest.word.eq(word),
            digest.last.eq(last),
        ]
        kept = Signal()
        with m.If(judged):
            m.d.sync += kept.eq(good)
        with m.If(digest.done):
            m.d.sync += digesting.eq(0)
        self._headers(m, store, slot, header)
        self._fingerprints(m, kept & digest.done, self.claimed, slot, digest.fingerprint)
        place = waited(((number >> 1) - HEADER_WORDS // 2)[: bits_for(p.max_pairs - 1)])
        self._pairs(m, pairs, odd, Cat(place, slot), kept_word)
        return m

    def _header(self, m, arriving, word):
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
                    "stop": bits_for(p.max_head_beats + p.max_pairs // p.lanes),
                    "context": context_layout(p),
                    "check": 16,
                    "rotates": 1,
                }
            )
        )

        far = Signal()

        def keep(name, start, width=16):
            field = header[name]
            m.d.sync += field.eq(word[start : start + width])
            m.d.sync += header[f"{name}_high"].eq(word[start + len(field) : start + width].any())

        with m.If(arriving[1]):
            keep("pairs", 0)
            keep("offset", 16)
        with m.If(arriving[2]):
            m.d.sync += [header.half_split.eq(word[0]), header.rotated.eq(word[1:4])]
        with m.If(arriving[3]):
            m.d.sync += header.amplitude.eq(word[:19])
        with m.If(arriving[4]):
            keep("head_dim", 0)
        with m.If(arriving[5]):
            # A context that no position reaches limits nothing.
            reach = p.position_bits - 1
            m.d.sync += [
                header.context.tokens.eq(word[:reach]),
                far.eq(word[reach:].any()),
            ]
        with m.If(arriving[6]):
            for kind in range(KINDS):
                count = word[10 * kind : 10 * kind + HEAD_BITS]
                m.d.sync += header.counts[kind].eq(count)
        with m.If(arriving[7]):
            m.d.sync += header.repeat.eq(word[:REPEAT_BITS])
        context, some = header.context, Signal(2)
        half = len(context.tokens) // 2
        m.d.sync += [
            some.eq(Cat(context.tokens[:half].any(), context.tokens[half:].any())),
            context.stated.eq(~far & some.any()),
        ]
        with m.If(arriving[DIGESTED_HEADER_WORDS:].any()):
            before = Mux(arriving[DIGESTED_HEADER_WORDS], 0, header.check)
            m.d.sync += header.check.eq(before ^ word[:16] ^ word[16:])
        beat = exact_log2(p.beat_elements)
        m.d.sync += header.stop.eq(header.offset[beat:] + header.pairs[beat - 1 :])
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
        fits, small, scales = Signal(), Signal(), Signal()
        # Each comparison is strict, one carry chain; where equality counts there is more behind it.
        m.d.sync += [
            fits.eq(~(header.head_dim[beat:] < header.stop)),
            small.eq(~(header.head_dim > p.max_head_dim)),
            scales.eq(~(header.amplitude.code > LARGEST_UNSCALED_CODE)),
        ]
        conditions = Cat(
            fits,
            small,
            ~(header.pairs_high | header.offset_high | header.head_dim_high),
            header.head_dim[:beat] == 0,
            header.offset[:beat] == 0,
            header.pairs[: beat - 1] == 0,
            header.head_dim != 0,
            header.present.any(),
            header.repeat != 0,
            header.check == 0,
            scales,
        )
        kept = Signal.like(conditions)
        m.d.sync += kept.eq(conditions)
        return kept.all()

    def _headers(self, m, store, slot, header):
        """Decoded headers, a word a slot, read where they are looked up."""
        p = self._p
        beat = exact_log2(p.beat_elements)
        shape, pattern = Signal(shape_layout(p)), Signal(pattern_layout())
        start, block = header.offset >> beat, header.pairs >> beat - 1
        m.d.comb += [
            shape.final.eq((header.head_dim >> beat) - 1),
            shape.start.eq(start),
            shape.middle.eq(start + (block >> 1)),
            shape.stop.eq(header.stop),
            shape.half.eq(block >> 1),
            shape.odd.eq(block[0]),
            shape.half_split.eq(header.half_split),
            shape.first.start.eq(start == 0),
            shape.first.middle.eq((start == 0) & (block[1:] == 0)),
            shape.first.final.eq(header.head_dim >> beat == 1),
            pattern.rotated.eq(header.rotated),
            pattern.counts.eq(header.counts),
            pattern.present.eq(header.present),
            *(pattern.single[kind].eq(header.counts[kind] == 1) for kind in range(KINDS)),
            pattern.repeat.eq(header.repeat),
        ]
        pairs = Signal(pairs_layout(p))
        m.d.comb += [
            pairs.final.eq(header.pairs - 1),
            pairs.single.eq(header.pairs == 1),
            pairs.double.eq(header.pairs == 2),
        ]
        if p.temperature:
            turning = header.present & header.rotated
            m.d.comb += [
                pairs.queries.eq(turning[0]),
                pairs.others.eq(turning[1:].any()),
                pairs.repeat.eq(header.repeat),
            ]

        for name, word, asked, out in (
            ("patterns", pattern, self.token_slot, self.pattern),
            ("shapes", shape, self.head_slot, self.shape),
            ("counts", pairs, self.job_slot, self.pairs),
            ("amplitudes", header.amplitude, self.amplitude_slot, self.amplitude),
            ("contexts", header.context, self.context_slot, self.context),
        ):
            value, found = Value.cast(word), Value.cast(out)
            if p.slots == 1:
                # No load changes the header of a slot in use, so it needs no copy.
                m.d.comb += found.eq(value)
                continue
            kept = Signal.like(value, name=f"{name}_word", reset_less=True)
            m.d.sync += kept.eq(value)
            m.d.comb += found.eq(self._slots(m, name, store, slot, kept, asked))

    def _slots(self, m, name, enable, slot, value, asked) -> Value:
        """What stands for the slot that is ``asked`` for; a word a slot."""
        memory = Memory(shape=len(value), depth=max(self._p.slots, 4), init=[])
        m.submodules[name] = memory
        write, read = memory.write_port(), memory.read_port(domain="comb")
        m.d.comb += [
            write.en.eq(enable),
            write.addr.eq(slot),
            write.data.eq(value),
            read.addr.eq(asked),
        ]
        return read.data

    def _fingerprints(self, m, digested, claimed, slot, fingerprint):
        """A word a slot, 0 from a load until its image is digested."""
        if self._p.slots == 1:
            known = Signal()
            m.d.sync += known.eq((known | digested) & ~claimed)
            m.d.comb += self.fingerprint.eq(Mux(known, fingerprint, 0))
            return
        value = Mux(digested, fingerprint, 0)
        found = self._slots(
            m, "fingerprints", digested | claimed, slot, value, self.fingerprint_slot
        )
        m.d.comb += self.fingerprint.eq(found)

    def _pairs(self, m, arriving, half, address, word):
        """Increments and axes: the two words of a pair in a memory each."""
        p = self._p
        size, depth = pair_layout(p).size, p.slots << bits_for(p.max_pairs - 1)
        for name, number, width in (("low", 0, 32), ("high", 1, size - 32)):
            m.submodules[f"pairs_{name}"] = memory = Ram(width, depth)
            m.d.comb += [
                memory.write_enable.eq(arriving & (half == number)),
                memory.write_address.eq(address),
                memory.write_data.eq(word[:width]),
                memory.read_address.eq(Cat(self.pair_number, self.pair_slot)),
                Value.cast(self.pair)[32 * number :][:width].eq(memory.read_data),
            ]
