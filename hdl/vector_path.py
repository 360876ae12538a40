# SPDX-License-Identifier: Apache-2.0
"""The units that vectors pass, behind one stream of tokens whose slots choose among them."""

from amaranth import *
from amaranth.lib import data, stream, wiring

from ropeway.golden.core_parameters import BYPASS, CoreParameters

from .beat_router import BeatRouter, unit_beat_layout
from .core_events import watch
from .core_layouts import order_layout, result_layout, ticket_layout
from .position_router import PositionRouter
from .queue import Queue
from .result_merger import ResultMerger
from .skid import Skid
from .streams import connect
from .vector_units import connect_unit, keep_slots, made_units, path_ports

__all__ = ["VectorPath"]

TOKENS = 32  # that wait for their data; and as many between their first beat in and their last out


class VectorPath(wiring.Component):
    """Every token passes the unit of its slot; results come in the tokens' order.

    A token takes one position and one packet. Positions may run ahead of data up to the queues'
    depth, and are accepted whatever the data do; data wait for their position. A unit may be loaded
    while tokens pass another. A packet with a partial beat is processed as if it were whole, and
    its result's last beat has ``error``.

    Latency from a position to the first result: the unit's, and ``added_latency``, a clock; one
    beat a clock.

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
        A slot is busy from its token's position until its last beat is out, one of a RoPE engine
        until a load of it would be taken.
    epochs : Out, 8 bits a slot
        How many loads it has completed since reset; wraps.
    fingerprint_slot : In, fingerprint : Out
        The fingerprint of what a slot holds, a clock later.
    events : Out, with counters
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

    added_latency = 1

    def __init__(self, p: CoreParameters):
        self.parameters = p
        self.units = made_units(p)
        super().__init__(path_ports(p, self.units))

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
            self.unknown.eq(positions.unknown),
        ]
        if p.keep:
            m.d.comb += self.partial.eq(beats.incomplete)
        for name, unit in self.units.items():
            m.submodules[name] = unit
            connect(m, getattr(positions, f"o_{name}"), unit.i_position)
            self._connect_beats(m, name, unit, beats, results)
            connect_unit(m, self, name, unit)
        m.submodules.bypass = bypass = Skid(unit_beat_layout(p))
        self._connect_beats(m, BYPASS, bypass, beats, results)
        begins, ends = positions.o_order, results.finished
        keep_slots(m, self, begins.valid, begins.payload.slot, ends, tickets.o.payload.slot)
        if p.counters:
            awaits = beats.i_order.valid
            watch(m, self.events, self.i, self.o, accepted=begins.valid, awaits=awaits)
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
