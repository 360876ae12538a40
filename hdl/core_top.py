# SPDX-License-Identifier: Apache-2.0
"""A core with the flat, stable port names that other languages and tools expect."""

from collections.abc import Iterator

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_parameters import CoreParameters

from .core import RopewayCore

__all__ = ["CoreTop"]


def flat_ports(component: wiring.Component) -> Iterator[tuple[str, wiring.Member, Value]]:
    """Every port, field by field: its name, its member, and what it is within."""
    for path, member, inner in component.signature.flatten(component):
        if isinstance(inner, Const):
            continue
        if not isinstance(member.shape, data.StructLayout):
            yield "_".join(path), member, inner
            continue
        for name, field in member.shape:
            yield "_".join((*path[:-1], name)), member.flow(field.shape), inner[name]


class CoreTop(wiring.Component):
    """RopewayCore, with ``aclk``, ``aresetn`` (synchronous, low) and ports like ``s_axis_tdata``.

    Latency and interval are the core's.

    Ports
    -----
    aclk, aresetn : In
    All of the core's, each signal and field by itself, ``_`` between the parts of its name, but
    for a ``ready`` that never changes.
    """

    aclk: Signal
    aresetn: Signal

    def __init__(self, p: CoreParameters):
        self.parameters = p
        self.core = RopewayCore(p)
        ports = {"aclk": In(1), "aresetn": In(1)}
        ports |= {name: member for name, member, _ in flat_ports(self.core)}
        super().__init__(ports)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.domains.sync = ClockDomain()
        m.submodules.core = self.core
        m.d.comb += [ClockSignal().eq(self.aclk), ResetSignal().eq(~self.aresetn)]
        for name, member, inner in flat_ports(self.core):
            outer = getattr(self, name)
            if member.flow is Out:
                m.d.comb += outer.eq(inner)
            else:
                m.d.comb += inner.eq(outer)
        return m
