# SPDX-License-Identifier: Apache-2.0
"""Skid and the queues: what goes in comes out, once and in order."""

from functools import partial

from amaranth.hdl import Module, Value

from ropeway.hdl.beat_queue import BeatQueue
from ropeway.hdl.queue import Queue
from ropeway.hdl.ready_slice import ReadySlice
from ropeway.hdl.skid import Skid

from .opened import Opened
from .order import Order, in_order
from .proof import Bug, Proof
from .rules import assume, before, counter, cover, free, invariant, prove, sends, takes

__all__ = ["PROOFS", "in_queue", "in_skid", "places"]

WIDTH, DEPTH = 4, 16


def skid() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(Skid(WIDTH))
    sends(m, dut.i)
    takes(m, dut.o)
    in_skid(m, dut, dut.i.payload)
    cover(m, ~dut.i.ready & dut.o.ready & dut.i.valid)
    return m


def in_skid(m: Module, skid: Opened, item):
    """Prove that a register slice gives each ``item`` that it takes, once and in order."""
    out, spare = skid.o, skid["spare_valid"]
    taken, given = skid.i.valid & skid.i.ready, out.valid & out.ready
    order = in_order(m, taken, item, out.valid, given, out.payload, 2)
    invariant(m, order.held == out.valid + spare)
    invariant(m, out.valid, when=spare)
    order.place(0, out.payload)
    order.place(1, skid["spare"])


def ready_slice() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(ReadySlice(WIDTH))
    sends(m, dut.i)
    takes(m, dut.o)
    taken, given, out = dut.i.valid & dut.i.ready, dut.o.valid & dut.o.ready, dut.o.payload
    inside = dut["spare_valid"]
    sent, left = counter(m, 2, taken, 0, name="sent"), counter(m, 2, given, 0, name="left")
    held = (sent - left)[:2]
    prove(m, held == inside)
    prove(m, dut.o.valid == (inside | taken))
    prove(m, out == dut.i.payload, when=dut.o.valid & (held == 0))
    prove(m, out == before(m, dut.i.payload), when=inside & before(m, taken))
    cover(m, ~dut.i.ready & dut.o.ready & dut.i.valid)
    return m


def queue(**form: bool) -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(Queue(WIDTH, DEPTH, **form))
    sends(m, dut.i)
    takes(m, dut.o)
    given = dut.o.valid & dut.o.ready
    order = in_queue(m, dut.o, dut, dut.i.valid, dut.i.payload, given)
    assume(m, order.held != DEPTH - 1, when=dut.i.valid)
    invariant(m, order.held < DEPTH)
    if "announced" in form:
        invariant(m, dut["moves"] == ~(dut.o.valid | dut["announces"]))
        prove(m, before(m, dut.coming) == dut.o.payload, when=dut.o.valid)
        prove(m, dut.coming == dut.o.payload, when=dut.o.valid)
    cover(m, (order.held == 8) & dut.o.valid & (order.value == 5))
    return m


def in_queue(m: Module, o, queue: Opened, taken, item, given) -> Order:
    """Prove that items come out at ``o`` as they were ``taken`` into a queue right before it."""
    bits = len(queue["head"])
    order = in_order(m, taken, item, o.valid, given, o.payload, 1 << bits)
    shown = o.valid | queue["announces"]
    invariant(m, ~(o.valid & queue["announces"]))
    invariant(m, order.held == places(m, queue) + shown)
    order.place(0, o.payload, when=shown)
    at = (queue["head"] + order.ahead - shown)[:bits]
    stands = queue.open("items").memory(at)
    invariant(m, stands == order.value, when=order.present & (order.ahead >= shown))
    return order


def places(m: Module, dut: Opened) -> Value:
    """How many items are in a queue's memory; its pointers and flags agree."""
    head, tail = dut["head"], dut["tail"]
    stored = (tail - head)[: len(head)]
    invariant(m, dut["head_next"] == (head + 1)[: len(head)])
    invariant(m, dut["tail_next"] == (tail + 1)[: len(tail)])
    invariant(m, dut["filled"] == (stored != 0))
    return stored


def room() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(Queue(WIDTH, DEPTH))
    roomy = dut.room | before(m, dut.room) | before(m, dut.room, 2)
    m.d.comb += [dut.i.valid.eq(free(m, 1) & roomy), dut.o.ready.eq(free(m, 1))]
    stored = places(m, dut)
    prove(m, stored != DEPTH - 1, when=dut.i.valid)
    cover(m, before(m, dut.i.valid & before(m, dut.room, 2) & (stored == DEPTH - 6)) & ~dut.room)
    return m


def beats() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(BeatQueue(WIDTH, DEPTH))
    sends(m, dut.i)
    takes(m, dut.o)
    given, bits = dut.o.valid & dut.o.ready, len(dut["head"])
    order = in_order(m, dut.i.valid, dut.i.payload, dut.o.valid, given, dut.o.payload, DEPTH - 1)
    assume(m, order.held != DEPTH - 1, when=dut.i.valid)
    items, asked = dut.open("items"), dut["asked"]
    stored = (dut["tail"] - dut["head"])[:bits]
    invariant(m, dut["filled"] == (stored != 0))
    invariant(m, dut["head_next"] == (dut["head"] + 1)[:bits])
    out = dut.o.valid + asked
    invariant(m, order.held == stored + out)
    order.place(0, dut.o.payload, when=dut.o.valid)
    order.place(dut.o.valid, items["word"], when=asked)
    inside = order.ahead - out
    stands = items.memory((dut["head"] + inside)[:bits])
    behind = order.ahead >= out
    invariant(m, stands == order.value, when=order.present & behind)
    cover(m, (order.held == 8) & dut.o.valid & (order.value == 5))
    return m


FORMS = {
    "half rate": {},
    "full rate": {"full_rate": True},
    "bypass": {"bypass": True},
    "full rate, bypass": {"full_rate": True, "bypass": True},
    "announced": {"bypass": True, "announced": True},
}
PROOFS = [
    Proof(
        "skid",
        "Items leave once each, in order; valid and payload hold; never more than two inside.",
        skid,
        (
            Bug("hdl/skid.py", "Mux(spare_valid, spare, payload_in)", "payload_in"),
            Bug("hdl/skid.py", "self.o.ready | ~self.o.valid", "self.o.ready | ~self.i.valid"),
        ),
    ),
    Proof(
        "ready slice",
        "Items leave once each, in order; valid and payload hold; never more than one inside.",
        ready_slice,
        (
            Bug("hdl/ready_slice.py", "Mux(spare_valid, spare, payload_in)", "payload_in"),
            Bug("hdl/ready_slice.py", "self.o.valid & ~self.o.ready", "~self.o.ready"),
        ),
    ),
    *(
        Proof(
            f"queue, {name}",
            "Items leave once each, in order; valid and payload hold.",
            partial(queue, **form),
            (
                Bug("hdl/queue.py", "head_next != tail, filled", "1, filled"),
                Bug(
                    "hdl/queue.py",
                    "comes | through | (self.o.valid & ~self.o.ready)",
                    "comes | through",
                ),
            ),
            given=f"At most {DEPTH - 1} items of {DEPTH} places are in the queue.",
        )
        for name, form in FORMS.items()
    ),
    Proof(
        "beat queue",
        "Items leave once each, in order; valid and payload hold.",
        beats,
        (
            Bug("hdl/beat_queue.py", "head_next != tail, filled", "1, filled"),
            Bug("hdl/beat_queue.py", "self.o.ready | ~self.o.valid", "C(1)"),
        ),
        given=f"At most {DEPTH - 1} items of {DEPTH} places are in the queue.",
    ),
    Proof(
        "queue, room",
        "What is offered in a clock that has room, and in the next two, fits.",
        room,
        (Bug("hdl/queue.py", "MARGIN = 6", "MARGIN = 4"),),
        depth=20,
    ),
]
