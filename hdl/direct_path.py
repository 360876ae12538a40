# SPDX-License-Identifier: Apache-2.0
"""The way of a vector through the only unit there is."""

from amaranth import *
from amaranth.lib import data, stream, wiring

from ropeway.golden.core_parameters import CoreParameters

from .core_events import watch
from .core_layouts import EPOCH_BITS
from .fixed import counted
from .queue import Queue
from .streams import delayed
from .vector_units import connect_unit, keep_slots, made_units, path_ports

__all__ = ["DirectPath"]

TOKENS = 16  # between their position in and their last beat out
TAGGED = 2  # clocks from a position until its slot's epoch is that of the geometry it has
AWAITED_BITS = 6  # of a count of tokens whose packets are to come


def tag_layout(p: CoreParameters) -> data.StructLayout:
    """Whose a result is."""
    return data.StructLayout({"slot": p.slot_bits, "epoch": EPOCH_BITS})


class DirectPath(wiring.Component):
    """VectorPath where all slots are one unit's: nothing is routed, only tagged.

    Up to 16 tokens are on their way. Latency the unit's; one beat a clock.

    Ports
    -----
    As VectorPath has them, but for ``unknown``; ``partial`` with ``keep``, ``events`` with
    ``counters``.
    """

    i: stream.Interface
    i_position: stream.Interface
    o: stream.Interface
    loaded: Signal
    busy: Signal
    epochs: data.View
    fingerprint_slot: Signal
    fingerprint: Signal
    events: data.View
    partial: Signal

    added_latency = 0

    def __init__(self, p: CoreParameters):
        self.parameters = p
        self.units = made_units(p)
        super().__init__(path_ports(p, self.units))

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self.parameters
        ((name, unit),) = self.units.items()
        m.submodules[name] = unit
        connect_unit(m, self, name, unit)
        m.submodules.tags = tags = Queue(tag_layout(p), TOKENS, full_rate=True)
        accepted = self._positions(m, name, unit, tags.room)
        self._tag(m, tags, accepted)
        ends = self._beats(m, unit, tags)
        keep_slots(m, self, accepted, self.i_position.payload.slot, ends, tags.o.payload.slot)
        if p.counters:
            arrives = self.i.valid & self.i.ready & self.i.payload.last
            awaited = Signal(AWAITED_BITS)
            m.d.sync += awaited.eq(counted(awaited, accepted, arrives))
            watch(m, self.events, self.i, self.o, accepted=accepted, awaits=awaited != 0)
        return m

    def _positions(self, m, name: str, unit, room: Signal) -> Value:
        """Positions to the unit, while their tags find room; whether one is accepted."""
        given, taken = self.i_position, unit.i_position
        if name == "rope":
            fields = taken.payload.shape()
            m.d.comb += [taken.payload[name].eq(given.payload[name]) for name, _ in fields]
        else:
            m.d.comb += taken.payload.position.eq(given.payload.position[0])
        held = Signal()  # what has been offered stays on offer
        m.d.comb += [
            taken.valid.eq(given.valid & (room | held)),
            given.ready.eq(taken.ready & (room | held)),
        ]
        m.d.sync += held.eq(taken.valid & ~taken.ready)
        return taken.valid & taken.ready

    def _tag(self, m, tags: Queue, accepted: Value):
        """Keep each accepted token's slot and epoch, in the tokens' order."""
        slot = delayed(m, self.i_position.payload.slot, TAGGED, name="slot")
        m.d.comb += [
            tags.i.valid.eq(delayed(m, accepted, TAGGED, reset_less=False, name="accepted")),
            tags.i.payload.slot.eq(slot),
            tags.i.payload.epoch.eq(self.epochs[slot]),
        ]

    def _beats(self, m, unit, tags: Queue) -> Value:
        """Packets to the unit and its results from it; whether a result ends."""
        m.d.comb += [
            unit.i.valid.eq(self.i.valid),
            self.i.ready.eq(unit.i.ready),
            unit.i.payload.data.eq(self.i.payload.data),
            unit.i.payload.last.eq(self.i.payload.last),
        ]
        given, out, ends, good = unit.o, self.o, Signal(), Signal(init=1)
        spoilt = C(0)
        if self.parameters.keep:
            verdicts = self._verdicts(m, ends)
            spoilt = given.payload.last & verdicts.o.payload
            m.d.comb += good.eq(verdicts.o.valid | ~given.payload.last)
        m.d.comb += [
            out.valid.eq(given.valid & tags.o.valid & good),
            given.ready.eq(out.ready & tags.o.valid & good),
            out.payload.data.eq(given.payload.data),
            out.payload.last.eq(given.payload.last),
            out.payload.error.eq(given.payload.error | spoilt),
            out.payload.slot.eq(tags.o.payload.slot),
            out.payload.epoch.eq(tags.o.payload.epoch),
            ends.eq(out.valid & out.ready & given.payload.last),
            tags.o.ready.eq(ends),
        ]
        return ends

    def _verdicts(self, m, ends: Value) -> Queue:
        """Of each packet that has come, whether a beat of it was partial.

        There are no more of them than tags: a unit takes no packet before its position.
        """
        m.submodules.verdicts = verdicts = Queue(1, TOKENS, full_rate=True)
        beat, goes, spoilt = self.i.payload, Signal(), Signal()
        m.d.comb += [
            goes.eq(self.i.valid & self.i.ready),
            verdicts.i.valid.eq(goes & beat.last),
            verdicts.i.payload.eq(spoilt | beat.partial),
            verdicts.o.ready.eq(ends),
            self.partial.eq(verdicts.i.valid & verdicts.i.payload),
        ]
        with m.If(goes):
            m.d.sync += spoilt.eq(~beat.last & (spoilt | beat.partial))
        return verdicts
