# SPDX-License-Identifier: Apache-2.0
"""The way through the only unit: nothing is routed, and every result has its own token's tag."""

from amaranth.hdl import Cat, Module, Signal, Value

from ropeway.golden.core_parameters import CoreParameters
from ropeway.hdl.direct_path import TAGGED, TOKENS, DirectPath

from .framing import ROPE
from .opened import Opened
from .proof import Bug, Proof
from .routers import goes
from .rules import assume, before, counter, cover, free, invariant, keeps, prove, sends, takes
from .slices import in_queue

__all__ = ["PROOFS"]

CORE = CoreParameters(rope=ROPE, bypass=False, counters=False)
COUNT_BITS = 6  # of tokens, modulo more than are on their way


def direct_path() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(DirectPath(CORE))
    unit, tags, verdicts = dut.cut("rope"), dut.open("tags"), dut.open("verdicts")
    sends(m, dut.i)
    sends(m, dut.i_position)
    sends(m, unit.o)
    takes(m, dut.o)
    for port in (unit.i_position, unit.i):
        m.d.comb += port.ready.eq(free(m, 1, "takes"))
    m.d.comb += unit.loaded.eq(free(m, len(unit.loaded), "loaded"))
    keeps(m, unit.i_position)

    # Positions, packets and results are the unit's, unchanged.
    into, given = unit.i_position, dut.i_position
    accepted, ends = goes(given), goes(dut.o) & dut.o.payload.last
    prove(m, goes(into) == accepted)
    for name, _ in into.payload.shape():
        same = Value.cast(into.payload[name]) == Value.cast(given.payload[name])
        prove(m, same, when=into.valid)
    into, given, beat = unit.i, dut.i, dut.i.payload
    prove(m, (into.valid == given.valid) & (given.ready == into.ready))
    prove(m, Value.cast(into.payload) == Cat(beat.data, beat.last))
    result, out = unit.o.payload, dut.o.payload
    prove(m, goes(unit.o) == goes(dut.o))
    prove(m, (Value.cast(out.data) == Value.cast(result.data)) & (out.last == result.last))

    # A unit takes no packet and gives no result before its position.
    closes = goes(given) & beat.last
    begun = counter(m, COUNT_BITS, accepted, ends, name="begun")
    coming = counter(m, COUNT_BITS, accepted, closes, name="coming")
    assume(m, coming != 0, when=closes)
    assume(m, begun != 0, when=unit.o.valid)

    # A tag a token, of the slot and of its epoch two clocks later; a result leaves with its own.
    late = Cat(before(m, accepted), before(m, accepted, TAGGED))
    slot = before(m, dut.i_position.payload.slot, TAGGED)
    epoch = Value.cast(dut.epochs).word_select(slot, len(out.epoch))
    prove(m, tags.i.valid == late[-1])
    tagged = in_queue(m, tags.o, tags, tags.i.valid, Cat(slot, epoch), ends)
    prove(m, Cat(out.slot, out.epoch) == Value.cast(tags.o.payload), when=dut.o.valid)
    prove(m, tags.o.valid, when=dut.o.valid)

    # A verdict a packet, whether any beat of it was partial, with the result's last beat.
    partial = Signal()
    with m.If(goes(given)):
        m.d.sync += partial.eq(~beat.last & (partial | beat.partial))
    spoilt = partial | beat.partial
    judged = in_queue(m, verdicts.o, verdicts, closes, spoilt, ends)
    prove(m, verdicts.o.valid, when=dut.o.valid & out.last)
    error = result.error | (out.last & verdicts.o.payload)
    prove(m, out.error == error, when=dut.o.valid)
    prove(m, dut.partial == (closes & spoilt))
    invariant(m, dut.driven("spoilt") == partial)

    # A token that was offered when there was room is the last to find it.
    stored = begun - tags.o.valid
    invariant(m, stored < TOKENS)
    invariant(m, stored < TOKENS - 1, when=dut["held"])
    invariant(m, tagged.held + late[0] + late[1] == begun)
    invariant(m, judged.held + coming == begun)
    cover(m, stored == TOKENS - 2, ends & out.error & ~result.error)
    cover(m, goes(dut.i_position) & ~tags.room)
    return m


PROOFS = [
    Proof(
        "direct path",
        "A position, a packet and a result pass the unit unchanged; the n-th result has the slot"
        " and epoch of the n-th position and, on its last beat, whether any beat of the n-th packet"
        " was partial; tags and verdicts find places.",
        direct_path,
        (
            Bug(
                "hdl/direct_path.py",
                "valid.eq(given.valid & (room | held))",
                "valid.eq(given.valid)",
            ),
            Bug("hdl/direct_path.py", "held.eq(taken.valid & ~taken.ready)", "held.eq(0)"),
            Bug("hdl/direct_path.py", "verdicts.o.valid | ~given.payload.last", "C(1)"),
            Bug(
                "hdl/direct_path.py",
                "given.payload.last & verdicts.o.payload",
                "verdicts.o.payload",
            ),
            Bug("hdl/direct_path.py", "tags.o.ready.eq(ends)", "tags.o.ready.eq(out.ready)"),
            Bug(
                "hdl/direct_path.py",
                "spoilt.eq(~beat.last & (spoilt | beat.partial))",
                "spoilt.eq(spoilt | beat.partial)",
            ),
        ),
        depth=20,
        given="The unit takes no packet and gives no result before its position.",
    ),
]
