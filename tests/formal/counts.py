# SPDX-License-Identifier: Apache-2.0
"""Ledgers answer exactly, a gate of positions counts exactly, and flags stick."""

from functools import partial

from amaranth.hdl import Module, Signal, signed

from ropeway.hdl.ledger import Ledger, UnitLedger
from ropeway.hdl.position_gate import AHEAD, COUNTED, PositionGate
from ropeway.hdl.sticky import keep_packets, packet_status_layout

from .opened import Opened
from .proof import Bug, Proof
from .rules import assume, before, counter, cover, free, invariant, prove, sends, takes
from .slices import in_queue

__all__ = ["PROOFS"]

LIMIT = 5  # items in hand: 4 bits of balance


def ledger(*, units: bool) -> Module:
    m = Module()
    m.submodules.dut = dut = Opened((UnitLedger if units else Ledger)(LIMIT))
    m.d.comb += [dut.gain.eq(free(m, 1, "gain")), dut.loads.eq(free(m, 1, "loads"))]
    take = -1 if units else dut.take
    if not units:
        m.d.comb += dut.take.eq(free(m, dut.take.shape(), "take"))
    # Items come, less items needed, in so many bits that nothing is lost.
    balance = Signal(signed(10))
    m.d.sync += balance.eq(balance + dut.gain)
    with m.If(dut.loads):
        m.d.sync += balance.eq(balance + dut.gain + take)
    stays = balance + (dut.gain if units else 0)
    goes = stays + take
    if units:
        assume(m, balance >= 0, when=dut.loads)
        assume(m, balance + dut.gain <= LIMIT)
        invariant(m, balance == dut["balance"])
        invariant(m, dut["lower"] == dut["balance"] - 1)
        prove(m, balance >= -1)
    else:
        width = len(dut.take)
        assume(m, (goes >= -(1 << width - 1)) & (goes + dut.gain < 1 << width - 1))
        assume(m, stays + dut.gain < 1 << width - 1)
        invariant(m, balance == dut["balance"])
    prove(m, dut.enough == (stays >= 0))
    prove(m, dut.enough_after == (goes >= 0), when=balance >= 0 if units else 1)
    cover(m, dut.loads & ~dut.enough_after & (balance == 0), dut.enough & before(m, balance == -1))
    cover(m, balance == LIMIT)
    return m


def position_gate() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(PositionGate(4))
    sends(m, dut.i)
    takes(m, dut.o)
    m.d.comb += [dut.closed.eq(free(m, 1, "closed")), dut.finished.eq(free(m, 1, "finished"))]
    accepted = dut.i.valid & dut.i.ready
    given = dut.o.valid & dut.o.ready
    unfinished = counter(m, 7, accepted, dut.finished, name="unfinished")
    given_before = counter(m, 7, given, dut.finished, name="given")
    assume(m, (unfinished != 0) & (given_before != 0), when=dut.finished)
    assume(m, unfinished != COUNTED - 1, when=accepted)
    prove(m, ~dut.i.ready, when=dut.closed)
    prove(m, dut.idle == (before(m, unfinished) == 0))
    order = in_queue(m, dut.o, dut.open("queue"), accepted, dut.i.payload, given)
    invariant(m, unfinished == dut["unfinished"])
    invariant(m, unfinished == given_before + order.held)
    cover(m, dut.idle & before(m, dut.finished, 2), order.held == AHEAD - 4)
    return m


def flags() -> Module:
    m = Module()
    status, names = Signal(packet_status_layout()), ("saturated", "malformed", "misframed")
    events = {name: free(m, 1, name) for name in names}
    clear, finished = free(m, 1, "clear"), free(m, 1, "finished")
    keep_packets(m, status, clear, finished=finished, **events)
    for name, event in events.items():
        flag = status[name]
        prove(m, flag, when=before(m, event))
        prove(m, ~flag, when=before(m, clear & ~event))
        prove(m, flag == before(m, flag), when=before(m, ~clear & ~event))
    # The number of the packet of the event that first set the flag, as long as it is set.
    number, first, flag = counter(m, 32, finished), status.first_bad, status.misframed
    sets = events["misframed"] & (~flag | clear)
    prove(m, first == before(m, number), when=before(m, sets))
    prove(m, first == before(m, first), when=before(m, flag & ~clear))
    prove(m, first == 0, when=~flag)
    (counted,) = (signal for signal in m._driving if signal.name == "number")
    invariant(m, number == counted)
    cover(m, flag & (first == 3) & before(m, events["misframed"] & finished & flag))
    return m


PROOFS = [
    Proof(
        "ledger",
        "`enough` and `enough_after` are the signs of the balance as it stands, and less what"
        " loads.",
        partial(ledger, units=False),
        (
            Bug("hdl/ledger.py", "~less[-1]", "~balance[-1]"),
            Bug("hdl/ledger.py", "balance + self.gain,", "balance,"),
        ),
        given="The balance fits its width.",
    ),
    Proof(
        "unit ledger",
        "The same of the next clock's balance, `enough_after` where nothing is owed; it never owes"
        " more than one item.",
        partial(ledger, units=True),
        (
            Bug("hdl/ledger.py", "init=-1)", "init=0)"),
            Bug("hdl/ledger.py", "self.gain | ~lower[-1]", "~lower[-1]"),
        ),
        given="An operation loads only when nothing is owed.",
    ),
    Proof(
        "position gate",
        "Positions leave once each, in order; none is accepted while closed; `idle` is that nothing"
        " accepted is unfinished, two clocks late.",
        position_gate,
        (
            Bug("hdl/position_gate.py", "queue.room & ~self.closed", "queue.room"),
            Bug(
                "hdl/position_gate.py",
                "self.idle.eq(unfinished == 0)",
                "self.idle.eq(~queue.o.valid)",
            ),
        ),
        given=f"Fewer than {COUNTED} tokens are unfinished, and none finishes before its position"
        " has been given.",
    ),
    Proof(
        "sticky flags",
        "A flag is set by its event until cleared, an event in the clear's clock wins, and the"
        " first packet's number is kept with it.",
        flags,
        (
            Bug("hdl/sticky.py", "(flag & ~clear) | event", "(flag | event) & ~clear"),
            Bug("hdl/sticky.py", "event & (~flag | clear)", "event"),
        ),
    ),
]
