# SPDX-License-Identifier: Apache-2.0
"""A core with a memory at its bus, for simulation."""

from amaranth import *
from amaranth.lib import wiring

from .axi_rom import AxiRom
from .core import RopewayCore
from .streams import export

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
        for name in self.signature.members:
            export(m, self, self._core, name)
        return m
