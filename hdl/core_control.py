# SPDX-License-Identifier: Apache-2.0
"""The control of a core: its registers behind a bus, and what they do."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.alibi_parameters import SCALE_FRACTION_BITS
from ropeway.golden.core_parameters import CoreParameters, MemoryTable

from .core_bus import BUS_CLOCKS, bus_ports, connect_bus
from .core_events import count_loads, events_layout
from .core_identity import KINDS
from .core_layouts import EPOCH_BITS, place_layout, slot_number
from .core_registers import core_registers
from .core_status import flags_of
from .load_port import LoadPort, load_shapes
from .position_counter import PositionCounter
from .register_file import RegisterFile
from .row_bursts import STRIDE_BITS
from .streams import connect
from .unit_status import keep_status, raise_interrupt, status_layouts

__all__ = ["CoreControl"]


class CoreControl(wiring.Component):
    """Registers of core_registers, what sets them, and what they set.

    A unit's status is taken and cleared as soon as a flag of it is set, and kept in registers whose
    flags are cleared one by one; so no event is lost between reading flags and clearing them.

    Latency: see RegisterFile and the bus; a flag shows 2 clocks after its unit's, and raises the
    interrupt 2 clocks later.

    Ports
    -----
    s_axi : AXI4-Lite, or s_wb : Wishbone, or request, answer : streams, as RegisterFile has them
    irq : Out
        While an enabled flag is set.
    load_<unit> : stream of image words, as the unit takes it
    status_<unit> : In, clear_<unit> : Out
        For one clock: a status has been taken.

    Where vectors pass, as VectorPath has them: loaded, busy, epochs, fingerprint, events, partial
    and unknown, In; fingerprint_slot, Out; base and stride, Out, with a table in external memory.
    carried : Out, where they may
        Positions come with packets.
    o_counted : stream of positions, with runs
        Those of runs.

    Where scores pass: loaded_alibi, fingerprint_alibi and score_events, In; scale, Out, with
    ``scaled``.
    """

    s_axi: wiring.PureInterface
    s_wb: wiring.PureInterface
    request: stream.Interface
    answer: stream.Interface
    irq: Signal
    loaded: Signal
    busy: Signal
    epochs: data.View
    fingerprint_slot: Signal
    fingerprint: Signal
    events: data.View
    partial: Signal
    unknown: Signal
    carried: Signal
    o_counted: stream.Interface
    base: Signal
    stride: Signal
    loaded_alibi: Signal
    fingerprint_alibi: Signal
    score_events: data.View
    scale: Signal

    def __init__(self, p: CoreParameters):
        self.parameters, self.map = p, core_registers(p)
        self._registers = RegisterFile(self.map, small=p.small)
        ports: dict = bus_ports(p.bus, self.map.address_bits) | {"irq": Out(1)}
        for unit, shape in load_shapes(p).items():
            ports[f"load_{unit}"] = Out(stream.Signature(shape))
        for unit, layout in status_layouts(p).items():
            ports |= {f"status_{unit}": In(layout), f"clear_{unit}": Out(1)}
        super().__init__(ports | self._vector_ports(p) | self._score_ports(p))

    def _vector_ports(self, p: CoreParameters) -> dict:
        if not p.vector_units:
            return {}
        slots, ports = len(p.slots), {}
        if isinstance(p.table, MemoryTable):
            ports = {"base": Out(p.table.address_bits), "stride": Out(STRIDE_BITS)}
        ports |= {
            "loaded": In(slots),
            "busy": In(slots),
            "epochs": In(data.ArrayLayout(EPOCH_BITS, slots)),
            "fingerprint_slot": Out(p.slot_bits),
            "fingerprint": In(64),
        }
        ports |= {name: In(1) for name in ("partial", "unknown") if name in flags_of(p, "core")}
        if p.counters:
            ports["events"] = In(events_layout())
        if p.carried:
            ports["carried"] = Out(1)
        if p.runs:
            ports["o_counted"] = Out(stream.Signature(place_layout(p)))
        return ports

    def _score_ports(self, p: CoreParameters) -> dict:
        if not p.alibi:
            return {}
        ports = {"scale": Out(SCALE_FRACTION_BITS + 1)} if p.alibi.scaled else {}
        if p.counters:
            ports["score_events"] = In(events_layout())
        return ports | {"loaded_alibi": In(1), "fingerprint_alibi": In(64)}

    @property
    def latency(self) -> int:
        """Clocks from an address, or a write's data, to its response."""
        return BUS_CLOCKS[self.parameters.bus] + self._registers.latency

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self.parameters
        m.submodules.registers = registers = self._registers
        connect_bus(m, p.bus, self, registers)
        self._settings(m, registers)
        self._loads(m, registers)
        events = {"loaded": self._targets(m, registers)}
        for flag in flags_of(p, "core"):
            if flag == "counted":
                events[flag] = self._positions(m, registers)
            elif flag != "loaded":
                events[flag] = getattr(self, flag)
        for unit in p.units:
            status, clear = getattr(self, f"status_{unit}"), getattr(self, f"clear_{unit}")
            keep_status(m, registers, unit, status, clear)
        for flag, event in events.items():
            m.d.comb += getattr(registers, f"core_flags_{flag}_event").eq(event)
        raise_interrupt(m, registers, ("core", *p.units), self.irq)
        return m

    def _settings(self, m, registers):
        """What registers hold for others, and counters."""
        p = self.parameters
        if p.counters:
            self._counters(m, registers)
        if p.vector_units and p.carried:
            m.d.comb += self.carried.eq(registers.control_carried)
        if p.alibi and p.alibi.scaled:
            m.d.comb += self.scale.eq(registers.score_scale)
        if isinstance(p.table, MemoryTable):
            high = (registers.table_base_high,) if p.table.address_bits > 32 else ()
            m.d.comb += [
                self.base.eq(Cat(registers.table_base_low, *high)),
                self.stride.eq(registers.table_stride),
            ]

    def _counters(self, m, registers):
        """What streams do, counted."""
        clear = registers.counters_clear_written & registers.counters_clear
        m.d.comb += [
            registers.counting.eq(registers.control_counting),
            registers.clear_counters.eq(clear),
        ]
        groups = {"vector": self.events} if self.parameters.vector_units else {}
        groups |= {"score": self.score_events} if self.parameters.alibi else {}
        for group, events in groups.items():
            for name, _ in events.shape():
                m.d.comb += getattr(registers, f"{group}_{name}_event").eq(events[name])

    def _loads(self, m, registers):
        """The window's words, to the units."""
        m.submodules.loads = loads = LoadPort(self.parameters)
        m.d.comb += [
            loads.begin.eq(registers.load_written),
            loads.target.eq(registers.load_target),
            loads.words.eq(registers.load_words),
            registers.load_refused.eq(loads.begin_refused),
            loads.write.eq(registers.load_window_written),
            loads.number.eq(registers.load_window_number),
            loads.word.eq(registers.load_window),
            registers.load_window_refused.eq(loads.write_refused),
            loads.abort.eq(registers.load_abort_written & registers.load_abort),
            registers.load_status_pending.eq(loads.pending),
            registers.load_status_unfinished.eq(loads.unfinished),
            registers.load_status_next.eq(loads.next),
        ]
        for unit in self.parameters.units:
            connect(m, getattr(loads, f"o_{unit}"), wiring.flipped(getattr(self, f"load_{unit}")))

    def _positions(self, m, registers) -> Value:
        """Runs of positions; whether one has ended in this clock."""
        p = self.parameters
        m.submodules.counter = counter = PositionCounter(p)
        first = counter.first
        m.d.comb += [
            *(first.position[axis].eq(registers.auto_base) for axis in range(p.axes)),
            first.slot.eq(slot_number(p, registers.auto_use_slot)),
            first.conjugate.eq(registers.auto_use_conjugate),
            first.pure.eq(registers.auto_use_pure),
            first.bypass.eq(registers.auto_use_bypass),
            counter.count.eq(registers.auto_count),
            counter.start.eq(registers.auto_control_written & registers.auto_control_start),
            counter.stop.eq(registers.auto_control_written & registers.auto_control_stop),
            registers.auto_control_refused.eq(registers.auto_control_start & counter.o.valid),
            registers.auto_left.eq(counter.left),
        ]
        if p.rope and p.rope.temperature:
            m.d.comb += Value.cast(first.temperature).eq(registers.auto_temperature)
        connect(m, counter.o, wiring.flipped(self.o_counted))
        return counter.ended

    def _targets(self, m, registers) -> Value:
        """What each target holds, looked up by number; whether any completed a load just now."""
        p = self.parameters
        several = len(p.targets) > 1
        epochs, digest = [], Signal(64)
        asked = registers.fingerprint_number if several else C(0)
        if p.vector_units:
            loaded = Signal()
            m.d.sync += loaded.eq(self.loaded.bit_select(asked, 1))
            m.d.comb += self.fingerprint_slot.eq(asked)
            with m.If(loaded):
                m.d.comb += digest.eq(self.fingerprint)
            epochs += [self.epochs[slot] for slot in range(len(p.slots))]
        states = [(self.loaded[n], self.busy[n]) for n in range(len(p.slots))]
        if p.alibi:
            epoch = Signal(EPOCH_BITS)
            count_loads(m, epoch, self.loaded_alibi)
            scores = Signal()
            m.d.sync += scores.eq(asked == len(p.slots))
            with m.If(scores):
                m.d.comb += digest.eq(self.fingerprint_alibi)
            epochs.append(epoch)
            states.append((self.loaded_alibi, C(0)))
        m.d["comb" if p.small else "sync"] += registers.fingerprint.eq(digest)

        asked = registers.target_status_number if several else C(0)
        with m.Switch(asked):
            for number, (kind, epoch) in enumerate(zip(p.targets, epochs, strict=True)):
                with m.Case(number):
                    m.d.sync += [
                        registers.target_status_loaded.eq(states[number][0]),
                        registers.target_status_busy.eq(states[number][1]),
                        registers.target_status_kind.eq(KINDS.index(kind)),
                        registers.target_status_epoch.eq(epoch),
                    ]
        parity = Cat(epoch[0] for epoch in epochs)
        parity_before = Signal.like(parity)
        m.d.sync += parity_before.eq(parity)
        return parity != parity_before
