# SPDX-License-Identifier: Apache-2.0
"""The whole core: every unit behind AXI4-Stream, and their control behind a bus."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In

from ropeway.golden.core_parameters import CoreParameters

from .alibi import AlibiUnit
from .axi_stream import axi_stream_signature, unpacked
from .core_bus import bus_ports
from .core_control import CoreControl
from .core_events import watch
from .direct_path import DirectPath
from .fixed import counted
from .score_port import ScorePort, score_signatures
from .streams import connect, export
from .vector_path import VectorPath
from .vector_port import VectorPort, vector_signatures

__all__ = ["RopewayCore"]

SEGMENT_COUNT_BITS = 8


class RopewayCore(wiring.Component):
    """Vectors pass the unit of their slot, scores the ALiBi unit; all of it is controlled by bus.

    docs/datasheet.md says how to use it, docs/registers.md what its registers are. One clock; no
    output depends on an input within a clock.

    Latency of a vector: its unit's, and ``added_latency`` clocks; of a score: AlibiUnit's, and 1. A
    beat a clock.

    Ports
    -----
    s_axi : AXI4-Lite, or s_wb : Wishbone, or request, answer : streams, as RegisterFile has them
    irq : Out
    s_axis, s_axis_position, m_axis : AXI4-Stream, with a unit that vectors pass
    s_axis_table : AXI4-Stream, with a learned table in block RAM
    m_axi : AXI4's read channels, with one in external memory
    s_axis_score, s_axis_segment, m_axis_score : AXI4-Stream, with an ALiBi unit
    """

    s_axi: wiring.PureInterface
    s_wb: wiring.PureInterface
    request: stream.Interface
    answer: stream.Interface
    irq: Signal

    def __init__(self, p: CoreParameters):
        self.parameters = p
        self.control = CoreControl(p)
        path = DirectPath if p.direct else VectorPath
        self.vectors = path(p) if p.vector_units else None
        self.scores = AlibiUnit(p.alibi) if p.alibi else None
        members = self.control.signature.members
        self._outer = (*bus_ports(p.bus, self.control.map.address_bits), "irq")
        ports = {name: members[name] for name in self._outer}
        if self.vectors:
            ports |= vector_signatures(p)
            if "i_table" in self.vectors.signature.members:
                ports["s_axis_table"] = In(
                    axi_stream_signature(8 * p.beat_elements * p.element_bytes)
                )
            if "m_axi" in self.vectors.signature.members:
                ports["m_axi"] = self.vectors.signature.members["m_axi"]
        if self.scores:
            ports |= score_signatures(p)
        super().__init__(ports)

    @property
    def added_latency(self) -> int:
        """Clocks that a vector takes beside its unit's: a register at its port, and its path's."""
        return 1 + self.vectors.added_latency if self.vectors else 0

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.control = control = self.control
        for name in self._outer:
            export(m, self, control, name)
        if self.vectors:
            self._connect_vectors(m, control, self.vectors)
        if self.scores:
            self._connect_scores(m, control, self.scores)
        return m

    def _connect_vectors(self, m, control, path):
        """Streams of vectors, and what control has to do with them."""
        m.submodules.vectors = path
        m.submodules.vector_port = port = VectorPort(self.parameters)
        for name in vector_signatures(self.parameters):
            export(m, self, port, name)
        connect(m, port.o, path.i)
        connect(m, port.o_position, path.i_position)
        connect(m, path.o, port.i)
        if self.parameters.runs:
            connect(m, control.o_counted, port.i_counted)
        if self.parameters.carried:
            m.d.comb += port.carried.eq(control.carried)
        m.d.comb += path.fingerprint_slot.eq(control.fingerprint_slot)
        for name in ("loaded", "busy", "epochs", "fingerprint", "events", "partial", "unknown"):
            if name in path.signature.members:
                m.d.comb += getattr(control, name).eq(getattr(path, name))
        for unit in path.units:
            connect(m, getattr(control, f"load_{unit}"), getattr(path, f"load_{unit}"))
            m.d.comb += [
                getattr(control, f"status_{unit}").eq(getattr(path, f"status_{unit}")),
                getattr(path, f"clear_{unit}").eq(getattr(control, f"clear_{unit}")),
            ]
        if "m_axi" in path.signature.members:
            export(m, self, path, "m_axi")
            m.d.comb += [path.base.eq(control.base), path.stride.eq(control.stride)]
        if "i_table" in path.signature.members:
            given, table = self.s_axis_table, path.i_table
            m.d.comb += [
                table.valid.eq(given.tvalid),
                given.tready.eq(table.ready),
                table.payload.last.eq(given.tlast),
                *unpacked(given.tdata, table.payload.data, self.parameters.element_bytes),
            ]

    def _connect_scores(self, m, control, unit):
        """Streams of scores, and what control has to do with them."""
        m.submodules.scores = unit
        m.submodules.score_port = port = ScorePort(self.parameters)
        for name in score_signatures(self.parameters):
            export(m, self, port, name)
        connect(m, port.o, unit.i)
        connect(m, port.o_segment, unit.i_segment)
        connect(m, unit.o, port.i)
        connect(m, control.load_alibi, unit.i_load)
        m.d.comb += [
            control.status_alibi.eq(unit.status),
            unit.clear.eq(control.clear_alibi),
            control.loaded_alibi.eq(unit.loaded),
            control.fingerprint_alibi.eq(unit.fingerprint),
        ]
        if "scale" in unit.signature.members:
            m.d.comb += unit.scale.eq(control.scale)
        if self.parameters.counters:
            self._watch_scores(m, control.score_events, unit)

    def _watch_scores(self, m, events, unit):
        """What is counted of scores; segments are awaited until their packet has come in."""
        awaited, begins, ends = Signal(SEGMENT_COUNT_BITS), Signal(), Signal()
        m.d.comb += [
            begins.eq(unit.i_segment.valid & unit.i_segment.ready),
            ends.eq(unit.i.valid & unit.i.ready & unit.i.payload.last),
        ]
        m.d.sync += awaited.eq(counted(awaited, begins, ends))
        watch(m, events, unit.i, unit.o, accepted=begins, awaits=awaited != 0)
