# SPDX-License-Identifier: Apache-2.0
"""The free-running middle: operations wait for all that they need, and what follows has room."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed

from ropeway.hdl.drain import Drain
from ropeway.hdl.sequencer import Sequencer
from ropeway.hdl.walker import buffer_depth

from .framing import ROPE
from .opened import Opened
from .order import in_order
from .proof import Bug, Proof
from .rules import assume, before, counter, cover, free, invariant, prove, sends, takes

__all__ = ["PROOFS"]


def balance(m: Module, ledger, kept, *, items: int, take=None) -> Signal:
    """What has come less what is needed, by a ledger's ports, in bits to spare.

    ``kept`` is the ledger's own; ``items`` can be in hand.
    """
    exact = Signal(signed(len(kept) + 2), name="exact")
    take = ledger.take if take is None else take
    m.d.sync += exact.eq(exact + ledger.gain + Mux(ledger.loads, take, 0))
    assume(m, exact + ledger.gain <= items)
    invariant(m, exact == kept)
    return exact


def drain() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(Drain(ROPE))
    sends(m, dut.i)
    m.d.comb += dut.done.eq(free(m, 1, "done"))
    m.d.comb += [word.eq(free(m, len(word), "word")) for word in dut.words]
    words, stalled = Cat(*dut.words), before(m, ~dut.read_enable)
    assume(m, words == before(m, words), when=stalled)
    takes(m, dut.o)
    asks, reads, enable = dut["asks"], dut["reads"], dut.read_enable
    valid, present, marked = dut["valid"], dut["present"], dut["marked"]

    # What comes in leaves once, in order, with its words in order.
    def item(marks, error):
        return Cat(marks.exchanged, marks.last, error)

    given, out = dut.i.payload, dut.o.payload
    order = in_order(
        *(m, dut.i.valid & dut.i.ready, item(given, given.bad)),
        *(dut.o.valid, dut.o.valid & dut.o.ready, item(marked, out.error), 3),
    )
    invariant(m, order.held == valid + reads + dut.o.valid)
    order.place(0, item(marked, out.error), when=dut.o.valid)
    order.place(dut.o.valid, item(dut["asked"], dut["asked"].error), when=reads)
    order.place(dut.o.valid + reads, item(present, present.bad), when=valid)
    prove(m, out.last == marked.last)
    first, second = words[: len(words) // 2], words[len(words) // 2 :]
    prove(m, Value.cast(out.data) == Mux(marked.exchanged, Cat(second, first), words))

    # A beat is asked for when its operations are done, one address after the other; its place is
    # free once the buffer's first register has it.
    ledger, most = dut.open("operations"), buffer_depth(ROPE)
    assume(m, given.needs <= 2)
    exact = balance(m, ledger, ledger["balance"], items=most)
    invariant(m, exact >= -2)
    invariant(m, valid, when=(exact < 0) | asks)
    prove(m, exact >= 0, when=asks)
    asked = counter(m, len(dut.address), asks & enable, name="beats_asked")
    left = counter(m, len(dut.address), dut.left, name="left")
    prove(m, dut.address == asked)
    prove(m, (asked - left)[: len(asked)] == reads)
    prove(m, dut.finished == (asks & enable & present.last))
    prove(m, dut.finished_slot == present.slot)
    cover(m, dut.o.valid & out.error, asks & before(m, given.needs == 2))
    return m


def sequencer() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(Sequencer(ROPE))
    for name in ("arrived", "written", "drained"):
        m.d.comb += getattr(dut, name).eq(free(m, 1, name))
    sends(m, dut.i)
    operation, waiting, open_ = dut.operation, dut["waiting"], dut["open_"]
    moves_on, ready, valid = dut["passes"], dut["ready"], dut["valid"]

    # Every beat is one operation, in order.
    def item(step):
        return Cat(step.turns, step.split, step.split & ~step.even)

    stands = Cat(operation.turns, operation.split, operation.exchanged)
    taken = dut.i.valid & dut.i.ready
    order = in_order(m, taken, item(dut.i.payload), ready, dut.issue, stands, 2)
    invariant(m, order.held == ready + valid)
    order.place(0, stands, when=ready)
    order.place(ready, item(waiting), when=valid)

    # Words: what waits passes the first gate when its beats have come.
    beats, most = dut.open("beats"), buffer_depth(ROPE)
    half = ROPE.max_head_beats // 2
    assume(m, dut.i.payload.more <= half)
    come = balance(m, beats, beats["balance"], items=most)
    invariant(m, come >= -half - 1)
    invariant(m, dut["valid"], when=come < 0)
    invariant(m, come >= 0, when=open_)
    invariant(m, dut["valid"], when=open_)
    invariant(m, dut["wants"] == (open_ & waiting.fresh))
    prove(m, come >= 0, when=moves_on)

    # Entries: an operation that is its entry's first user goes when that is written.
    entries = dut.open("entries")
    whole = balance(m, entries, entries["balance"], items=ROPE.rows * ROPE.max_head_beats, take=-1)
    invariant(m, entries["lower"] == entries["balance"] - 1)
    prove(m, whole >= -1)
    prove(m, whole >= 0, when=dut.issue)
    prove(m, whole >= 0, when=entries.loads)
    invariant(m, ready, when=dut.issue)
    invariant(m, ready, when=whole < 0)
    used = counter(m, 8, entries.loads, name="used")
    made = counter(m, 8, dut.written, name="made")
    prove(m, (made - used)[:8].as_signed() >= 0, when=dut.issue)
    invariant(m, (made - used)[:8].as_signed() == whole)

    # Room behind, and rows that are done with.
    depth = buffer_depth(ROPE) - ROPE.max_head_beats
    undrained = counter(m, len(dut["room"]), dut.issue, dut.drained, name="undrained")
    assume(m, undrained != 0, when=dut.drained)
    prove(m, undrained <= depth)
    invariant(m, dut["room"] == depth - undrained)
    begins, ever = moves_on & waiting.opens & waiting.fresh, Signal()
    m.d.sync += ever.eq(ever | begins)
    begun = counter(m, 8, begins, name="begun")
    released = counter(m, 8, dut.row_released, name="released")
    done = (released + dut.row_released)[:8]
    prove(m, done == (begun - 1)[:8], when=ever)
    prove(m, (done == 0) & (begun == 0), when=~ever)
    prove(m, dut.row == (begun - 1)[: len(dut.row)])
    invariant(m, dut["held"] == ever)
    cover(m, entries.loads & before(m, entries.loads), dut.row_released)
    return m


PROOFS = [
    Proof(
        "drain",
        "Beats are asked for one after the other, only when their operations are done, and leave"
        " once each, in order, with their own marks; a beat's place is free only when it has been"
        " read; valid and payload of the results hold.",
        drain,
        (
            Bug("hdl/drain.py", "given.valid & operations.enough_after", "given.valid"),
            Bug("hdl/drain.py", "(asks & goes_on) | ~valid", "asks | ~valid"),
            Bug("hdl/drain.py", "reads & self.read_enable", "reads"),
        ),
        given="The operations done fit the buffer, whose registers hold while not enabled.",
    ),
    Proof(
        "sequencer",
        "Every beat is one operation, in order. It goes only when its beats have"
        " arrived, when its row's entry is written, and when there is room behind.",
        sequencer,
        (
            Bug("hdl/sequencer.py", "open_ & next_moves) | ~valid", "next_moves) | ~valid"),
            Bug("hdl/sequencer.py", "~waiting.fresh | entries.enough_after", "C(1)"),
            Bug("hdl/sequencer.py", "begins & held", "begins"),
        ),
        given="No operation asks more of a balance than half a head and one.",
    ),
]
