# SPDX-License-Identifier: Apache-2.0
"""The phase table and the intake together: a slot in use is never written, and loads of it fail."""

from amaranth.hdl import Module

from ropeway.hdl.intake import Intake
from ropeway.hdl.phase_table import PhaseTable

from .framing import ROPE
from .images import any_digest
from .opened import Opened
from .positions import users
from .proof import Bug, Proof
from .rules import before, cover, free, prove, sends

__all__ = ["PROOFS"]


def slots() -> Module:
    m = Module()
    m.submodules.table = table = Opened(PhaseTable(ROPE))
    m.submodules.intake = intake = Opened(Intake(ROPE))
    sends(m, table.i_load)
    sends(m, intake.i)
    m.d.comb += [
        table.busy.eq(intake.busy),
        intake.loaded.eq(table.loaded),
        intake.bypass.eq(table.bypass),
        intake.claimed.eq(table.claimed),
        intake.claimed_slot.eq(table.claimed_slot),
        intake.room.eq(free(m, 1, "room")),
        intake.finished.eq(free(m, 1, "finished")),
        intake.finished_slot.eq(free(m, len(intake.finished_slot))),
    ]
    any_digest(m, table)
    found = users(m, intake)
    mine = table["slot"] == found.slot
    idle = found.unfinished == 0

    # Whatever is written of a slot is written while nothing uses it, nor may begin to.
    for name in ("pairs_low", "pairs_high"):
        pairs = table.inside(name)
        address = pairs.write_address[-len(found.slot) :]
        prove(m, idle, when=pairs.write_enable & (address == found.slot))
    prove(m, idle & ~found.accepts, when=table["taken"] & mine)
    prove(m, idle & ~found.accepts, when=table["store"] & mine)
    prove(m, idle & ~found.accepts, when=table.claimed & (table.claimed_slot == found.slot))

    # What the intake relies on.
    loaded = table.loaded.bit_select(found.slot, 1)
    bypass = table.bypass.bit_select(found.slot, 1)
    prove(m, bypass == before(m, bypass), when=before(m, loaded | ~idle))
    claims = table.claimed & (table.claimed_slot == found.slot)
    for clocks in range(1, 5):
        prove(m, ~before(m, loaded, clocks), when=claims)
    for clocks in range(3):
        prove(m, ~loaded, when=before(m, claims, clocks))

    # A load of a slot in use is refused, and the slot is said to hold its geometry all the while.
    prove(m, table.holds.bit_select(found.slot, 1), when=loaded | ~idle)
    prove(m, idle, when=table["judged"] & mine & ~table["refusing"] & loaded)
    cover(m, table.refused & ~idle, table["store"] & before(m, loaded, 14))
    return m


PROOFS = [
    Proof(
        "slots",
        "Nothing of a slot is written while an accepted token of it is unfinished, nor may one be"
        " accepted then; a slot that a load claims is not loaded; a load of a slot in use is"
        " refused, and the slot `holds` its geometry meanwhile.",
        slots,
        (
            Bug("hdl/phase_table.py", "COUNTED = 7", "COUNTED = 6"),
            Bug("hdl/phase_table.py", "valid & admitted & ~refusing", "valid & admitted"),
            Bug("hdl/phase_table.py", "held & ~(mine & self.claimed)", "held & ~self.claimed"),
        ),
        depth=48,
        reach=60,
        bounded=True,
    ),
]
