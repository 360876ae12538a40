# SPDX-License-Identifier: Apache-2.0
"""A core with the flat, stable port names that other languages and tools expect."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_parameters import CoreParameters

from .core import RopewayCore

__all__ = ["CoreTop"]


class CoreTop(wiring.Component):
    """RopewayCore, with ``aclk``, ``aresetn`` (synchronous, low) and ports like ``s_axis_tdata``.

    Latency and interval are the core's.

    Ports
    -----
    aclk, aresetn : In
    All of the core's, each signal by itself, ``_`` between the parts of its name.
    """

    aclk: Signal
    aresetn: Signal

    def __init__(self, p: CoreParameters):
        self.parameters = p
        self.core = RopewayCore(p)
        ports = {"aclk": In(1), "aresetn": In(1)}
        for path, member, _ in self.core.signature.flatten(self.core):
            ports["_".join(path)] = member
        super().__init__(ports)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.domains.sync = ClockDomain()
        m.submodules.core = self.core
        m.d.comb += [ClockSignal().eq(self.aclk), ResetSignal().eq(~self.aresetn)]
        for path, member, inner in self.core.signature.flatten(self.core):
            outer = getattr(self, "_".join(path))
            if member.flow is Out:
                m.d.comb += outer.eq(inner)
            else:
                m.d.comb += inner.eq(outer)
        return m
