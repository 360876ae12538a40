# SPDX-License-Identifier: Apache-2.0
"""Positions find their units: each goes to its slot's, and its token into the order of all."""

from dataclasses import replace

from amaranth.hdl import Cat, Module, Value

from ropeway.golden.core_parameters import BYPASS, CoreParameters
from ropeway.hdl.core_layouts import order_layout, passages
from ropeway.hdl.position_router import PositionRouter
from ropeway.hdl.queue import Queue
from ropeway.hdl.streams import connect

from .framing import ADDER, ROPE
from .opened import Opened
from .proof import Bug, Proof
from .rules import cover, free, invariant, prove, sends, takes
from .slices import places

__all__ = ["CORE", "PASSAGES", "PROOFS", "ROOMY", "SLOTS", "goes", "queued"]

CORE = CoreParameters(rope=replace(ROPE, axes=2), sinusoidal=ADDER)
PASSAGES, SLOTS = passages(CORE), CORE.slots
DEPTH = 16  # of queues; a core's have 32
ROOMY = DEPTH - 4  # items at most in a queue that had room when something was offered


def goes(port) -> Value:
    """Whether an item of a stream goes."""
    return port.valid & port.ready


def queued(m: Module, name: str, shape, source) -> tuple[Opened, Value]:
    """A queue behind a stream that is always ready, and how many wait in its memory."""
    m.submodules[name] = queue = Opened(Queue(shape, DEPTH, full_rate=True))
    connect(m, source, queue.i)
    stored = places(m, queue)
    prove(m, stored != DEPTH - 1, when=queue.i.valid)
    return queue, stored


def position_router() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(PositionRouter(CORE))
    queue, stored = queued(m, "queue", order_layout(CORE), dut.o_order)
    m.d.comb += [dut.room.eq(queue.room), queue.o.ready.eq(free(m, 1, "drains"))]
    sends(m, dut.i)
    rope, sinusoidal = dut.o_rope, dut.o_sinusoidal
    place, order, accepted = dut.i.payload, dut.o_order.payload, goes(dut.i)

    # Its unit, none but this, and the order take a position in one clock.
    for number, name in enumerate(PASSAGES):
        named = Cat(place.slot == slot for slot, owner in enumerate(SLOTS) if owner == name).any()
        prove(m, order.passage == number, when=accepted & named)
        if name == BYPASS:
            prove(m, accepted, when=dut.i.valid & dut.room & named)
            continue
        unit = getattr(dut, f"o_{name}")
        takes(m, unit)
        prove(m, goes(unit) == (accepted & named))
        prove(m, unit.valid, when=dut.i.valid & dut.room & named)
    for field, _ in rope.payload.shape():
        prove(m, Value.cast(rope.payload[field]) == Value.cast(place[field]), when=rope.valid)
    prove(m, sinusoidal.payload.position == place.position[0], when=sinusoidal.valid)
    unknown = place.slot >= len(SLOTS)
    prove(m, dut.o_order.valid == accepted)
    prove(m, (order.slot == place.slot) & (order.unknown == unknown), when=accepted)
    prove(m, order.passage == PASSAGES.index(BYPASS), when=accepted & unknown)
    prove(m, accepted, when=dut.i.valid & dut.room & unknown)
    prove(m, dut.unknown == (accepted & unknown))

    invariant(m, stored <= ROOMY, when=dut["held"])
    cover(m, dut.unknown, goes(rope) & ~dut.room, goes(sinusoidal) & (stored == 3))
    return m


PROOFS = [
    Proof(
        "position router",
        "A position goes to its slot's unit, to no other, and in the same clock into the order of"
        " tokens, which has a place for it; what a unit is offered stays; a slot that does not"
        " exist is the bypass's, marked.",
        position_router,
        (
            Bug("hdl/position_router.py", "self.i.valid & (self.room | held)", "self.i.valid"),
            Bug(
                "hdl/position_router.py",
                "self.i.valid & (self.room | held)",
                "self.i.valid & self.room",
            ),
            Bug("hdl/position_router.py", "takes.eq(unit.ready)", "takes.eq(1)"),
            Bug("hdl/position_router.py", "given.slot >= len(slots)", "given.slot > len(slots)"),
        ),
        depth=24,
    ),
]
