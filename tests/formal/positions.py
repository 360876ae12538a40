# SPDX-License-Identifier: Apache-2.0
"""Positions: accepted for loaded slots, which they keep busy; rows are shared rightly."""

from dataclasses import dataclass

from amaranth.hdl import Module, Signal, Value

from ropeway.hdl.intake import Intake, unfinished_limit

from .framing import ROPE
from .opened import Opened
from .proof import Bug, Proof
from .rules import assume, before, constant, counter, cover, free, invariant, prove, sends

__all__ = ["PROOFS", "Users", "users"]

LIMIT = unfinished_limit(ROPE)


@dataclass(frozen=True)
class Users:
    """The tokens of one slot, which is any: how many were accepted and finished so far."""

    slot: Signal
    accepts: Signal
    accepted: Signal
    finished: Signal

    @property
    def unfinished(self) -> Value:
        return (self.accepted - self.finished)[: len(self.accepted)]


def users(m: Module, intake: Opened) -> Users:
    """Let tokens of a slot finish when they like, but none within two clocks of its position."""
    slot, bits = constant(m, len(intake.finished_slot), "slot"), LIMIT.bit_length()
    accepts, ends = Signal(), Signal()
    m.d.comb += [
        accepts.eq(intake.i.valid & intake.i.ready & (intake.i.payload.slot == slot)),
        ends.eq(intake.finished & (intake.finished_slot == slot)),
    ]
    accepted, finished = counter(m, bits, accepts, name="acc"), counter(m, bits, ends, name="fin")
    found = Users(slot, accepts, accepted, finished)
    assume(m, before(m, accepted, 2) != finished, when=ends)
    assume(m, found.unfinished < LIMIT - 1)
    counted = intake.driven_array("unfinished", slot)
    invariant(m, counted == (before(m, accepted, 2) - before(m, finished))[: len(counted)])
    invariant(m, found.unfinished < LIMIT)
    return found


def intake() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(Intake(ROPE))
    sends(m, dut.i)
    for port in (dut.room, dut.context, dut.loaded, dut.bypass, dut.claimed):
        m.d.comb += Value.cast(port).eq(free(m, len(Value.cast(port))))
    for port in (dut.claimed_slot, dut.finished, dut.finished_slot):
        m.d.comb += port.eq(free(m, len(port)))
    word, slot = dut.i.payload, dut.i.payload.slot
    accepted = dut.i.valid & dut.i.ready
    loaded = dut.loaded.bit_select(slot, 1)
    prove(m, accepted == (dut.i.valid & loaded & dut.room))

    # A token comes a clock later, and a job where it has a row of its own.
    token, job, held = dut.o_token, dut.o_position, before(m, Value.cast(word))
    turns = before(m, ~word.bypass & ~dut.bypass.bit_select(slot, 1))
    prove(m, token.valid == before(m, accepted))
    prove(m, token.payload.slot == before(m, slot), when=token.valid)
    prove(m, token.payload.rotates == turns, when=token.valid)
    prove(m, job.valid == (token.valid & token.payload.new_row))
    prove(m, Value.cast(job.payload) == held, when=job.valid)
    prove(m, turns, when=job.valid)

    # One that has none turns by the very word of the token before it, whose slot is the same still.
    last, same = Signal(word.shape()), Signal()
    with m.If(dut.claimed & (dut.claimed_slot == last.slot)):
        m.d.sync += same.eq(0)
    with m.If(token.valid):
        m.d.sync += [Value.cast(last).eq(held), same.eq(1)]
    shares = token.valid & turns & ~token.payload.new_row
    prove(m, (Value.cast(last) == held) & same, when=shares)
    settled = dut["unchanged"] & ~token.valid
    invariant(m, Value.cast(dut["held"]) == Value.cast(last), when=settled)
    invariant(m, same | dut["stale"], when=settled)
    loads(m, dut, last, same)

    found = users(m, dut)
    busy = dut.busy.bit_select(found.slot, 1)
    prove(m, busy == (before(m, found.accepted, 3) != before(m, found.finished, 2)))

    # Beyond: a position that turns, on any axis.
    context, turning = dut.context, token.valid & turns
    given = job.payload.position
    far = [(axis >= 0) & (axis >= context.tokens) for axis in given]
    reached = turning & context.stated & Value.cast(sum(far)).any()
    prove(m, dut.beyond == before(m, reached, 2))
    first = before(m, given[0].as_unsigned(), 2)
    prove(m, dut.beyond_position.as_unsigned() == first, when=dut.beyond)
    cover(m, busy & (found.unfinished == 2), dut.beyond, shares)
    return m


def loads(m: Module, dut: Opened, last, same):
    """What a phase table keeps to: a slot that a load claims is not loaded from before until after,
    and only then does it begin or cease to be bypassed.
    """
    slot, claimed = dut.claimed_slot, dut.claimed
    for clocks in range(1, 5):
        assume(m, ~before(m, dut.loaded, clocks).bit_select(slot, 1), when=claimed)
    for clocks in range(3):
        named = before(m, slot, clocks)
        assume(m, ~dut.loaded.bit_select(named, 1), when=before(m, claimed, clocks))
    unclaimed = ~(claimed & (slot == dut.context_slot))
    steady = dut.bypass.bit_select(dut.context_slot, 1) == before(m, dut.bypass).bit_select(
        dut.context_slot, 1
    )
    assume(m, steady, when=dut.o_token.valid & unclaimed)
    kept = Signal()
    with m.If(dut.o_token.valid):
        m.d.sync += kept.eq(dut.bypass.bit_select(dut.context_slot, 1))
    assume(m, dut.bypass.bit_select(last.slot, 1) == kept, when=same)


PROOFS = [
    Proof(
        "intake",
        "A position is accepted where its slot is loaded and there is room, and is a token a clock"
        " later; it shares a row only with the same word before it; a slot is busy while a token of"
        " it is unfinished, three clocks late; `beyond` is that a turning position is.",
        intake,
        (
            Bug(
                "hdl/intake.py",
                "held_valid & (held.slot == number)",
                "turns & (held.slot == number)",
            ),
            Bug("hdl/intake.py", "unchanged.eq(loaded)", "unchanged.eq(1)"),
        ),
        depth=12,
        given="No token finishes within two clocks of its position; a slot that a load claims is"
        " not loaded, and only then does it begin or cease to be bypassed.",
    ),
]
