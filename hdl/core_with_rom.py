# SPDX-License-Identifier: Apache-2.0
"""A core with a memory at its bus, for simulation."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from .axi_rom import AxiRom
from .core import RopewayCore

__all__ = ["CoreWithRom"]


class CoreWithRom(wiring.Component):
    """A core whose learned table is in an AxiRom.

    Ports
    -----
    All of the core's but ``m_axi``.
    """

    def __init__(self, core: RopewayCore, rom: AxiRom):
        self._core, self._rom = core, rom
        members = core.signature.members
        super().__init__({name: members[name] for name in members if name != "m_axi"})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.core, m.submodules.rom = self._core, self._rom
        wiring.connect(m, self._core.m_axi, self._rom.axi)
        for name, member in self.signature.members.items():
            mine, theirs = getattr(self, name), getattr(self._core, name)
            if member.is_port:
                m.d.comb += mine.eq(theirs)
            elif member.flow is Out:
                wiring.connect(m, theirs, wiring.flipped(mine))
            else:
                wiring.connect(m, wiring.flipped(mine), theirs)
        return m
