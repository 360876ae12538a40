# SPDX-License-Identifier: Apache-2.0
"""The units that vectors pass, behind one stream of tokens whose slots choose among them."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.core_parameters import BYPASS, CoreParameters, MemoryTable, RamTable

from .beat_router import BeatRouter, unit_beat_layout
from .core_events import count_loads, events_layout, watch
from .core_layouts import (
    EPOCH_BITS,
    beat_layout,
    order_layout,
    place_layout,
    result_layout,
    ticket_layout,
)
from .engine import RopeEngine
from .fixed import counted
from .learned_adder import LearnedAdder
from .learned_memory import LearnedMemory
from .learned_ram import LearnedRam
from .position_router import PositionRouter
from .queue import Queue
from .result_merger import ResultMerger
from .sinusoidal_adder import SinusoidalAdder
from .skid import Skid
from .streams import connect

__all__ = ["VectorPath"]

TOKENS = 32  # that wait for their data; and as many between their first beat in and their last out
UNFINISHED_BITS = 7  # of a count of a unit's tokens: what both queues and the unit's own hold


def made_units(p: CoreParameters) -> dict[str, wiring.Component]:
    """The units that vectors pass, by name."""
    units: dict[str, wiring.Component] = {}
    if p.rope:
        units["rope"] = RopeEngine(p.rope)
    if p.sinusoidal:
        units["sinusoidal"] = SinusoidalAdder(p.sinusoidal)
    if p.learned:
        units["learned"] = LearnedAdder(p.learned, table_source(p.learned, p.table))
    return units


def table_source(p: AdderParameters, table: RamTable | MemoryTable) -> LearnedRam | LearnedMemory:
    """Where the rows of a learned table come from."""
    if isinstance(table, RamTable):
        return LearnedRam(p, table.depth)
    return LearnedMemory(p, table.bus_bits, table.address_bits)


class VectorPath(wiring.Component):
    """Every token passes the unit of its slot; results come in the tokens' order.

    A token takes one position and one packet. Positions may run ahead of data up to the queues'
    depth, and are accepted whatever the data do; data wait for their position. A unit may be loaded
    while tokens pass another. A packet with a partial beat is processed as if it were whole, and
    its result's last beat has ``error``.

    Latency from a position to the first result: the unit's, and 1 clock; one beat a clock.

    Ports
    -----
    i : stream of beats
    i_position : stream of positions
    o : stream of results
    load_<unit> : stream of image words, as the unit takes it
    i_table : stream of beats of a learned table, with one in block RAM
    m_axi, base, stride : with a learned table in external memory
    status_<unit> : Out, clear_<unit> : In
    loaded, busy : Out, one bit a slot
        A slot is busy from its token's position until its last beat is out.
    epochs : Out, 8 bits a slot
        How many loads it has completed since reset; wraps.
    fingerprint_slot : In, fingerprint : Out
        The fingerprint of what a slot holds, a clock later.
    events : Out
    partial, unknown : Out
        For one clock: a packet with a partial beat was taken; a position whose slot is none.
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
    unknown: Signal

    def __init__(self, p: CoreParameters):
        self.parameters = p
        self.units = made_units(p)
        slots = len(p.slots)
        ports: dict = {
            "i": In(stream.Signature(beat_layout(p))),
            "i_position": In(stream.Signature(place_layout(p))),
            "o": Out(stream.Signature(result_layout(p))),
            "loaded": Out(slots),
            "busy": Out(slots),
            "epochs": Out(data.ArrayLayout(EPOCH_BITS, slots)),
            "fingerprint_slot": In(p.slot_bits),
            "fingerprint": Out(64),
            "events": Out(events_layout()),
            "partial": Out(1),
            "unknown": Out(1),
        }
        for name, unit in self.units.items():
            members = unit.signature.members
            ports[f"load_{name}"] = members["i_load"]
            ports[f"status_{name}"], ports[f"clear_{name}"] = members["status"], members["clear"]
        if p.learned:
            members = self.units["learned"].signature.members
            external = isinstance(p.table, MemoryTable)
            names = ("m_axi", "base", "stride") if external else ("i_table",)
            ports |= {name: members[name] for name in names}
        super().__init__(ports)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self.parameters
        m.submodules.positions = positions = PositionRouter(p)
        m.submodules.beats = beats = BeatRouter(p)
        m.submodules.results = results = ResultMerger(p)
        m.submodules.order = order = Queue(order_layout(p), TOKENS, full_rate=True)
        m.submodules.tickets = tickets = Queue(ticket_layout(p), TOKENS, full_rate=True)
        m.submodules.verdicts = verdicts = Queue(1, TOKENS, full_rate=True)
        m.submodules.given = given = Skid(result_layout(p))
        connect(m, wiring.flipped(self.i_position), positions.i)
        connect(m, positions.o_order, order.i)
        connect(m, order.o, beats.i_order)
        connect(m, wiring.flipped(self.i), beats.i)
        connect(m, beats.o_ticket, tickets.i)
        connect(m, beats.o_verdict, verdicts.i)
        connect(m, tickets.o, results.i_ticket)
        connect(m, verdicts.o, results.i_verdict)
        connect(m, results.o, given.i)
        connect(m, given.o, wiring.flipped(self.o))
        m.d.comb += [
            positions.room.eq(order.room),
            beats.room.eq(tickets.room),
            beats.epochs.eq(self.epochs),
            self.partial.eq(beats.incomplete),
            self.unknown.eq(positions.unknown),
        ]
        for name, unit in self.units.items():
            m.submodules[name] = unit
            connect(m, getattr(positions, f"o_{name}"), unit.i_position)
            self._connect_beats(m, name, unit, beats, results)
            self._connect_control(m, name, unit)
        if BYPASS in p.slots:
            m.submodules.bypass = bypass = Skid(unit_beat_layout(p))
            self._connect_beats(m, BYPASS, bypass, beats, results)
        self._slots(m, results, positions)
        watch(
            m,
            self.events,
            self.i,
            self.o,
            accepted=positions.o_order.valid,
            awaits=beats.i_order.valid,
        )
        return m

    def _connect_beats(self, m, name: str, unit, beats, results):
        """Packets to a unit, and its results from it; the units name the same fields each."""
        out, back = getattr(beats, f"o_{name}"), getattr(results, f"i_{name}")
        m.d.comb += [
            unit.i.valid.eq(out.valid),
            out.ready.eq(unit.i.ready),
            unit.i.payload.data.eq(out.payload.data),
            unit.i.payload.last.eq(out.payload.last),
            back.valid.eq(unit.o.valid),
            unit.o.ready.eq(back.ready),
            back.payload.data.eq(unit.o.payload.data),
            back.payload.last.eq(unit.o.payload.last),
        ]
        if name != BYPASS:
            m.d.comb += back.payload.error.eq(unit.o.payload.error)

    def _connect_control(self, m, name: str, unit):
        """A unit's own loads, status and memory."""
        connect(m, wiring.flipped(getattr(self, f"load_{name}")), unit.i_load)
        m.d.comb += [
            getattr(self, f"status_{name}").eq(unit.status),
            unit.clear.eq(getattr(self, f"clear_{name}")),
        ]
        if name != "learned":
            return
        if isinstance(self.parameters.table, MemoryTable):
            wiring.connect(m, unit.m_axi, wiring.flipped(self.m_axi))
            m.d.comb += [unit.base.eq(self.base), unit.stride.eq(self.stride)]
        else:
            connect(m, wiring.flipped(self.i_table), unit.i_table)

    def _slots(self, m, results, positions):
        """What each slot holds, whether it is in use, and how often it has been loaded."""
        p = self.parameters
        order, ticket = positions.o_order, results.i_ticket.payload
        chosen, fingerprints = Signal(p.slot_bits), []
        m.d.sync += chosen.eq(self.fingerprint_slot)
        for slot, name in enumerate(p.slots):
            unit = self.units.get(name)
            begins, ends = Signal(name=f"begins_{slot}"), Signal(name=f"ends_{slot}")
            unfinished = Signal(UNFINISHED_BITS, name=f"unfinished_{slot}")
            m.d.sync += [
                begins.eq(order.valid & (order.payload.slot == slot)),
                ends.eq(results.finished & (ticket.slot == slot)),
                unfinished.eq(counted(unfinished, begins, ends)),
                self.busy[slot].eq(unfinished != 0),
            ]
            if unit is None:
                m.d.comb += self.loaded[slot].eq(1)
                fingerprints.append(C(0, 64))
                continue
            m.d.comb += self.loaded[slot].eq(unit.loaded[slot] if name == "rope" else unit.loaded)
            count_loads(m, self.epochs[slot], self.loaded[slot])
            fingerprints.append(unit.fingerprint)
        if "rope" in self.units:
            m.d.comb += self.units["rope"].fingerprint_slot.eq(self.fingerprint_slot)
        with m.Switch(chosen):
            for slot, fingerprint in enumerate(fingerprints):
                with m.Case(slot):
                    m.d.comb += self.fingerprint.eq(fingerprint)
