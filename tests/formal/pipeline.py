# SPDX-License-Identifier: Apache-2.0
"""The free-running middle: operations wait for all that they need, and what follows has room."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data

from ropeway.hdl.drain import QUEUE, Drain
from ropeway.hdl.sequencer import Sequencer
from ropeway.hdl.walker import buffer_depth

from .framing import ROPE, any_walker, walked
from .opened import Opened
from .order import in_order
from .proof import Bug, Proof
from .rules import assume, before, counter, cover, free, invariant, keeps, prove

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
    m.d.comb += [dut.done.eq(free(m, 1, "done")), dut.bad.eq(free(m, 1, "bad"))]
    m.d.comb += [word.eq(free(m, len(word), "word")) for word in dut.words]
    walked(m, dut, dut.read)

    # A beat is read when its operations are done.
    ledger, most = dut.open("operations"), buffer_depth(ROPE)
    step = dut["steps"].o.payload
    assume(m, step.take <= 0)
    exact = balance(m, ledger, ledger["balance"], items=most)
    invariant(m, exact >= -2)
    invariant(m, dut["valid"], when=exact < 0)
    prove(m, exact >= 0, when=dut.read)

    # It comes to the queue as it came from the buffer.
    item, arrives, present = dut["item"], dut["queue"].i.valid, dut["present"]
    prove(m, arrives == before(m, dut.read, 3))
    words = Cat(*(before(m, word) for word in dut.words))
    first, second = words[: len(words) // 2], words[len(words) // 2 :]
    exchanged = before(m, present.exchanged, 3)
    prove(m, Value.cast(item.data) == Mux(exchanged, Cat(second, first), words), when=arrives)
    prove(m, item.last == before(m, present.last, 3), when=arrives)
    prove(m, item.error == before(m, present.last & dut.bad, 3), when=arrives)
    prove(m, dut.finished == (dut.read & present.last))
    cover(m, arrives & item.error, dut.read & before(m, step.take == -2))
    return m


def drain_room() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(Drain(ROPE))
    m.d.comb += [port.eq(free(m, 1)) for port in (dut.done, dut.o.ready)]
    keeps(m, dut.o)
    unread = counter(m, 5, dut.read, dut.o.valid & dut.o.ready, name="unread")
    assume(m, unread != 0, when=dut.o.valid)
    prove(m, unread <= QUEUE - 1)
    invariant(m, dut["room"] == QUEUE - 1 - unread)
    any_walker(m, dut)
    cover(m, unread == QUEUE - 2)
    return m


def sequencer() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(Sequencer(ROPE))
    for name in ("arrived", "written", "drained"):
        m.d.comb += getattr(dut, name).eq(free(m, 1, name))
    steps, operation, waiting, open_ = (
        any_walker(m, dut),
        dut.operation,
        dut["waiting"],
        dut["open_"],
    )
    moves_on, ready, valid = dut["next_moves"] & open_, dut["ready"], dut["valid"]

    # Every beat of the walker is one operation, in order.
    def item(step):
        place = step.place
        return Cat(place.entry, place.turns, place.split, step.fresh, step.begins)

    def stands(operation):
        fields = ("entry", "turns", "split", "fresh", "begins")
        return Cat(operation[name] for name in fields)

    taken, behind = steps.i.valid & steps.i.ready, steps.o
    spare = data.View(behind.payload.shape(), steps["spare"])
    order = in_order(m, taken, item(steps.i.payload), ready, dut.issue, stands(operation), 4)
    invariant(m, order.held == ready + valid + behind.valid + steps["spare_valid"])
    order.place(0, stands(operation), when=ready)
    order.place(ready, stands(waiting), when=valid)
    order.place(ready + valid, item(behind.payload), when=behind.valid)
    order.place(ready + valid + 1, item(spare), when=steps["spare_valid"])
    invariant(m, behind.valid, when=steps["spare_valid"])

    # Words: what waits passes the first gate when its beats have come.
    beats, most = dut.open("beats"), buffer_depth(ROPE)
    half = ROPE.max_head_beats // 2
    assume(m, behind.payload.take >= -half - 1)
    assume(m, behind.payload.take <= 0)
    come = balance(m, beats, beats["balance"], items=most)
    invariant(m, come >= -half - 1)
    invariant(m, dut["valid"], when=come < 0)
    invariant(m, come >= 0, when=open_)
    invariant(m, dut["valid"], when=open_)
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
    begins, ever = moves_on & waiting.begins, Signal()
    m.d.sync += ever.eq(ever | begins)
    begun = counter(m, 8, begins, name="begun")
    released = counter(m, 8, dut.row_released, name="released")
    done = (released + dut.row_released)[:8]
    prove(m, done == (begun - 1)[:8], when=ever)
    prove(m, (done == 0) & (begun == 0), when=~ever)
    prove(m, dut.row == (begun - 1)[: len(dut.row)])
    invariant(m, dut["held"] == ever)
    cover(m, dut.issue & operation.fresh & before(m, dut.issue & operation.fresh), dut.row_released)
    return m


PROOFS = [
    Proof(
        "drain",
        "The walker's beats are read once each, in order, and only when their operations are done;"
        " a beat comes to the queue as it was read.",
        drain,
        (
            Bug("hdl/drain.py", "steps.o.valid & operations.enough_after", "steps.o.valid"),
            Bug("hdl/drain.py", "waited(present.exchanged)", "present.exchanged"),
        ),
        given="The walker is any; the operations done fit the buffer.",
    ),
    Proof(
        "drain, room",
        "What is read finds a place in the queue; valid and payload of the results hold.",
        drain_room,
        (Bug("hdl/drain.py", "room > 3", "room > 0"),),
        depth=26,
        given="The walker is any; a queue gives nothing that did not come in.",
    ),
    Proof(
        "sequencer",
        "Every beat of the walker is one operation, in order. It goes only when its beats have"
        " arrived, when its row's entry is written, and when there is room behind.",
        sequencer,
        (
            Bug("hdl/sequencer.py", "open_ & next_moves) | ~valid", "next_moves) | ~valid"),
            Bug("hdl/sequencer.py", "~waiting.fresh | entries.enough_after", "C(1)"),
            Bug("hdl/sequencer.py", "begins & held", "begins"),
        ),
        given="The walker is any that asks no more of a balance than half a head and one.",
    ),
]
