# SPDX-License-Identifier: Apache-2.0
"""The units that vectors pass: which there are, their control, and what their slots hold."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.core_parameters import BYPASS, CoreParameters, MemoryTable, RamTable

from .core_events import count_loads, events_layout
from .core_layouts import EPOCH_BITS, beat_layout, place_layout, result_layout
from .engine import RopeEngine
from .fixed import counted
from .learned_adder import LearnedAdder
from .learned_memory import LearnedMemory
from .learned_ram import LearnedRam
from .sinusoidal_adder import SinusoidalAdder
from .streams import connect

__all__ = ["connect_unit", "keep_slots", "made_units", "path_ports"]

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


def path_ports(p: CoreParameters, units: dict[str, wiring.Component]) -> dict[str, wiring.Member]:
    """The ports of a path through the units, as VectorPath has them."""
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
    }
    if p.counters:
        ports["events"] = Out(events_layout())
    if p.keep:
        ports["partial"] = Out(1)
    if BYPASS in p.slots:
        ports["unknown"] = Out(1)
    for name, unit in units.items():
        members = unit.signature.members
        ports[f"load_{name}"] = members["i_load"]
        ports[f"status_{name}"], ports[f"clear_{name}"] = members["status"], members["clear"]
    if p.learned:
        members = units["learned"].signature.members
        external = isinstance(p.table, MemoryTable)
        names = ("m_axi", "base", "stride") if external else ("i_table",)
        ports |= {name: members[name] for name in names}
    return ports


def connect_unit(m, path, name: str, unit):
    """A unit's own loads, status and memory are the path's."""
    connect(m, wiring.flipped(getattr(path, f"load_{name}")), unit.i_load)
    m.d.comb += [
        getattr(path, f"status_{name}").eq(unit.status),
        unit.clear.eq(getattr(path, f"clear_{name}")),
    ]
    if name != "learned":
        return
    if isinstance(path.parameters.table, MemoryTable):
        wiring.connect(m, unit.m_axi, wiring.flipped(path.m_axi))
        m.d.comb += [unit.base.eq(path.base), unit.stride.eq(path.stride)]
    else:
        connect(m, wiring.flipped(path.i_table), unit.i_table)


def keep_slots(m, path, begins: Value, begun_slot: Value, ends: Value, ended_slot: Value):
    """What each slot holds, whether it is in use, how often it has been loaded; fingerprints.

    A token's position is taken while it ``begins``, and its last beat leaves when it ``ends``.
    """
    slots, fingerprints = path.parameters.slots, []
    for slot, name in enumerate(slots):
        unit, busy = path.units.get(name), path.busy[slot]
        if name == "rope":  # it knows itself
            m.d.comb += busy.eq(unit.busy[slot])
        else:
            begin, end = Signal(name=f"begins_{slot}"), Signal(name=f"ends_{slot}")
            unfinished = Signal(UNFINISHED_BITS, name=f"unfinished_{slot}")
            m.d.sync += [
                begin.eq(begins & (begun_slot == slot)),
                end.eq(ends & (ended_slot == slot)),
                unfinished.eq(counted(unfinished, begin, end)),
                busy.eq(unfinished != 0),
            ]
        if unit is None:
            m.d.comb += path.loaded[slot].eq(1)
            fingerprints.append(C(0, 64))
            continue
        m.d.comb += path.loaded[slot].eq(unit.loaded[slot] if name == "rope" else unit.loaded)
        count_loads(m, path.epochs[slot], path.loaded[slot])
        fingerprints.append(unit.fingerprint)
    if "rope" in path.units:
        m.d.comb += path.units["rope"].fingerprint_slot.eq(path.fingerprint_slot)
    if len(set(slots)) == 1:
        m.d.comb += path.fingerprint.eq(fingerprints[0])
        return
    chosen = Signal(path.parameters.slot_bits)
    m.d.sync += chosen.eq(path.fingerprint_slot)
    with m.Switch(chosen):
        for slot, fingerprint in enumerate(fingerprints):
            with m.Case(slot):
                m.d.comb += path.fingerprint.eq(fingerprint)
