# SPDX-License-Identifier: Apache-2.0
"""A core's AXI4-Stream ports: every word is what it says, once and in order."""

from amaranth.hdl import Cat, Module, Mux, Value

from ropeway.golden.core_parameters import CoreParameters
from ropeway.hdl.score_port import ScorePort
from ropeway.hdl.vector_port import VectorPort

from .opened import Opened
from .proof import Bug, Proof
from .routers import CORE
from .rules import any_inputs, cover, free, prove
from .slices import in_skid
from .units import ALIBI

__all__ = ["PROOFS"]

SCORED = CoreParameters(alibi=ALIBI)
WORD = 32  # bits


def placed(word: Value) -> Value:
    """The position that a word says: 32 bits an axis, then slot and flags."""
    axes = [word[WORD * axis :][: CORE.position_bits] for axis in range(CORE.axes)]
    use = word[WORD * CORE.axes :]
    slot = Mux(use[:8] >= len(CORE.slots), len(CORE.slots), use[:8])[: CORE.slot_bits]
    return Cat(*axes, slot, use[8:11])


def vector_port() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(VectorPort(CORE))
    source, beats = dut.cut("source"), dut.open("beats")
    any_inputs(m, dut)
    for port in (source.i, source.i_position, source.i_counted):
        m.d.comb += port.ready.eq(free(m, 1, "takes"))

    # A beat and the position it brings, in order.
    given = dut.s_axis
    prove(m, (beats.i.valid == given.tvalid) & (beats.i.ready == given.tready))
    in_skid(m, beats, Cat(given.tdata, given.tlast, ~given.tkeep.all(), placed(given.tuser)))
    prove(m, Value.cast(source.i.payload) == Value.cast(beats.o.payload))
    prove(m, (source.i.valid == beats.o.valid) & (source.i.ready == beats.o.ready))

    # A position, those of the counter and a result at once.
    given, into = dut.s_axis_position, source.i_position
    prove(m, (into.valid == given.tvalid) & (into.ready == given.tready))
    prove(m, Value.cast(into.payload) == placed(given.tdata))
    into = source.i_counted
    prove(m, (into.valid == dut.i_counted.valid) & (into.ready == dut.i_counted.ready))
    prove(m, Value.cast(into.payload) == Value.cast(dut.i_counted.payload))
    out, result = dut.m_axis, dut.i.payload
    prove(m, (out.tvalid == dut.i.valid) & (out.tready == dut.i.ready))
    prove(m, (out.tdata == Value.cast(result.data)) & (out.tlast == result.last))
    prove(m, out.tkeep.all() & (out.tuser[:8] == result.slot))
    prove(m, (out.tuser[8:16] == result.epoch) & (out.tuser[16] == result.error))
    cover(m, beats.o.valid & ~beats.i.ready & (beats.o.payload.place.slot == len(CORE.slots)))
    return m


def score_port() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(ScorePort(SCORED))
    scores = dut.open("scores")
    any_inputs(m, dut)

    # Scores in order, and a result at once.
    given, out, result = dut.s_axis_score, dut.m_axis_score, dut.i.payload
    prove(m, (scores.i.valid == given.tvalid) & (scores.i.ready == given.tready))
    in_skid(m, scores, Cat(given.tdata, given.tlast))
    prove(m, Value.cast(dut.o.payload) == Value.cast(scores.o.payload))
    prove(m, (dut.o.valid == scores.o.valid) & (dut.o.ready == scores.o.ready))
    prove(m, (out.tvalid == dut.i.valid) & (out.tready == dut.i.ready))
    prove(m, (out.tdata == Value.cast(result.data)) & (out.tlast == result.last))
    prove(m, out.tuser == result.error)

    # A segment from its five words.
    given, segment = dut.s_axis_segment, dut.o_segment.payload
    prove(m, (dut.o_segment.valid == given.tvalid) & (dut.o_segment.ready == given.tready))
    named = (segment.head, segment.query, segment.key, segment.final, segment.mask.window)
    for number, field in enumerate(named):
        prove(m, field.as_unsigned() == given.tdata[WORD * number :][: len(field)])
    prove(m, segment.key_only == given.tdata[16])
    prove(m, segment.mask.causal == given.tdata[17])
    cover(m, scores.o.valid & ~scores.i.ready, dut.o_segment.valid & (segment.query == -2))
    return m


PROOFS = [
    Proof(
        "vector port",
        "Every beat comes once, in order, as its word says, partial where a byte is not kept, with"
        " the position in its `tuser`; so does every position; a slot's number that does not fit is"
        " that of no slot; a result's `tuser` is slot, epoch and error.",
        vector_port,
        (
            Bug("hdl/vector_port.py", "~given.tkeep.all()", "~given.tkeep.any()"),
            Bug("hdl/vector_port.py", "slot = use[:SLOT_BYTE]", "slot = use[:p.slot_bits]"),
            Bug("hdl/vector_port.py", "C(0, SLOT_BYTE - p.slot_bits), ", ""),
        ),
        given="The source of positions has a claim of its own.",
    ),
    Proof(
        "score port",
        "Every score comes once, in order; a segment is what its five words say; a result's `tuser`"
        " is its error.",
        score_port,
        (
            Bug("hdl/score_port.py", "head[HEAD_BITS + 1]", "head[HEAD_BITS]"),
            Bug("hdl/score_port.py", "given.tready.eq(scores.i.ready)", "given.tready.eq(1)"),
        ),
    ),
]
