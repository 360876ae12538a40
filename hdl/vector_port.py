# SPDX-License-Identifier: Apache-2.0
"""The AXI4-Stream ports of vectors: packets, positions and results."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_parameters import CoreParameters

from .axi_stream import WORD, axi_stream_signature, packed, unpacked
from .core_layouts import EPOCH_BITS, beat_layout, place_layout, result_layout, slot_number
from .position_source import PositionSource, placed_layout
from .skid import Skid
from .streams import connect

__all__ = ["SLOT_BYTE", "VectorPort", "place_bits", "vector_signatures"]

SLOT_BYTE = 8  # bits that a slot's number takes
FLAGS = ("conjugate", "pure", "bypass")


def place_bits(p: CoreParameters) -> int:
    """Bits of a position's word: 32 an axis, 32 for slot and flags, 32 for a temperature."""
    tempered = p.rope is not None and p.rope.temperature
    return WORD * (p.axes + 1 + tempered)


def vector_signatures(p: CoreParameters) -> dict[str, wiring.Member]:
    """The ports of vectors as members of a signature.

    Element 0 of a beat is lowest in ``tdata``, each element in ``element_bytes`` or, of a result,
    ``output_bytes``. A position's word has the positions from bit 0 on, 32 bits each; then the
    slot's number in 8 bits, ``conjugate``, ``pure`` and ``bypass``, and from the next multiple of
    32 on the temperature, if any. (Without a bypass only as many bits of a slot's number count as
    slots need.) The word is ``tdata`` of the positions' stream, or ``tuser`` of a packet's first
    beat in a core where they may be ``carried``. A result's ``tuser`` is the slot in 8 bits, its
    epoch in 8, and ``error``. There is ``tkeep`` in a core with ``keep``.
    """
    beat, result = (8 * p.beat_elements * n for n in (p.element_bytes, p.output_bytes))
    user, tag = place_bits(p), SLOT_BYTE + EPOCH_BITS + 1
    brought = user if p.carried else 0
    return {
        "s_axis": In(axi_stream_signature(beat, keep=p.keep, user_bits=brought)),
        "s_axis_position": In(axi_stream_signature(user, last=False)),
        "m_axis": Out(axi_stream_signature(result, keep=p.keep, user_bits=tag)),
    }


class VectorPort(wiring.Component):
    """Packets and positions from AXI4-Stream, results to it.

    Nothing passes from one port to another within a clock, but beats where nothing is routed and no
    position is carried. A beat of which any byte is not kept is ``partial``. Latency 1 clock for
    beats, or then none; 1 for positions, none for results, which come from registers; a beat a
    clock, or with positions in ``tuser`` a packet every 2 clocks.

    Ports
    -----
    s_axis, s_axis_position, m_axis : AXI4-Stream, see vector_signatures
    o : stream of beats, o_position : stream of positions
    i : stream of results
    i_counted : stream of positions, in a core with runs of them
        Before those of ``s_axis_position``.
    carried : In, in a core where they may be
        Positions are in ``tuser``, and nowhere else.
    """

    s_axis: wiring.PureInterface
    s_axis_position: wiring.PureInterface
    m_axis: wiring.PureInterface
    o: stream.Interface
    o_position: stream.Interface
    i: stream.Interface
    i_counted: stream.Interface
    carried: Signal

    def __init__(self, p: CoreParameters):
        self._p = p
        place = stream.Signature(place_layout(p))
        ports: dict = {
            **vector_signatures(p),
            "o": Out(stream.Signature(beat_layout(p))),
            "o_position": Out(place),
            "i": In(stream.Signature(result_layout(p))),
        }
        if p.runs:
            ports["i_counted"] = In(place)
        if p.carried:
            ports["carried"] = In(1)
        super().__init__(ports)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.source = source = PositionSource(p)
        connect(m, source.o_position, wiring.flipped(self.o_position))
        if p.runs:
            connect(m, wiring.flipped(self.i_counted), source.i_counted)
        (taken, beat), given = self._beats(m, source), self.s_axis
        m.d.comb += [
            taken.valid.eq(given.tvalid),
            given.tready.eq(taken.ready),
            *unpacked(given.tdata, beat.data, p.element_bytes),
            beat.last.eq(given.tlast),
        ]
        if p.keep:
            m.d.comb += beat.partial.eq(~given.tkeep.all())
        given = self.s_axis_position
        m.d.comb += [
            source.i_position.valid.eq(given.tvalid),
            given.tready.eq(source.i_position.ready),
        ]
        self._place(m, source.i_position.payload, given.tdata)

        out, result = self.m_axis, self.i.payload
        m.d.comb += [
            out.tvalid.eq(self.i.valid),
            self.i.ready.eq(out.tready),
            out.tdata.eq(packed(result.data, p.output_bytes)),
            out.tlast.eq(result.last),
            out.tuser.eq(
                Cat(result.slot, C(0, SLOT_BYTE - p.slot_bits), result.epoch, result.error)
            ),
        ]
        if p.keep:
            m.d.comb += out.tkeep.eq(-1)
        return m

    def _beats(self, m, source):
        """The stream that takes packets, and where in its payload their beats are."""
        p = self._p
        if p.carried:
            m.submodules.beats = beats = Skid(placed_layout(p))
            connect(m, beats.o, source.i)
            connect(m, source.o, wiring.flipped(self.o))
            m.d.comb += source.carried.eq(self.carried)
            self._place(m, beats.i.payload.place, self.s_axis.tuser)
            return beats.i, beats.i.payload.beat
        if p.direct:
            return self.o, self.o.payload
        m.submodules.beats = beats = Skid(beat_layout(p))
        connect(m, beats.o, wiring.flipped(self.o))
        return beats.i, beats.i.payload

    def _place(self, m, place, word: Value):
        """A position from its word."""
        p = self._p
        for axis in range(p.axes):
            m.d.comb += place.position[axis].eq(word.word_select(axis, WORD))
        use = word.word_select(p.axes, WORD)
        slot = use[:SLOT_BYTE]
        m.d.comb += place.slot.eq(slot_number(p, slot))
        m.d.comb += [getattr(place, flag).eq(use[SLOT_BYTE + n]) for n, flag in enumerate(FLAGS)]
        if p.rope and p.rope.temperature:
            m.d.comb += Value.cast(place.temperature).eq(word.word_select(p.axes + 1, WORD))
