# SPDX-License-Identifier: Apache-2.0
"""Writes out the rows of a token whose queries have a temperature."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .layouts import REPEAT_BITS, job_layout

__all__ = ["QueryRows"]


class QueryRows(wiring.Component):
    """For each group of a tempered token's heads a row for its queries, then one for the others.

    Only where both turn; queries alone have a row a group, and every other token has one row. A row
    that is not the queries' has no temperature. Latency none; a row a clock.

    Ports
    -----
    i : stream of jobs
    o : stream of jobs, one a row
    """

    def __init__(self, p: RopeParameters):
        layout = stream.Signature(job_layout(p))
        super().__init__({"i": In(layout), "o": Out(layout)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        job = self.i.payload
        pairs, temperature = job.pairs, Value.cast(job.position.temperature)
        group, others = Signal(REPEAT_BITS, init=1), Signal()
        several, last = Signal(), Signal()
        m.d.comb += [
            several.eq(temperature.any() & pairs.queries),
            last.eq(~several | ((others | ~pairs.others) & (group == pairs.repeat))),
            self.o.valid.eq(self.i.valid),
            self.o.payload.eq(job),
            self.i.ready.eq(self.o.ready & last),
        ]
        with m.If(others | ~pairs.queries):
            m.d.comb += Value.cast(self.o.payload.position.temperature).eq(0)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += others.eq(several & pairs.others & ~others)
            with m.If(last):
                m.d.sync += group.eq(1)
            with m.Elif(others | ~pairs.others):
                m.d.sync += group.eq(group + 1)
        return m
