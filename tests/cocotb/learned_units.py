# SPDX-License-Identifier: Apache-2.0
"""Learned adders on buses of one, two and four beats, side by side so that they build once."""

from amaranth.hdl import Module
from amaranth.lib import wiring

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.hdl.learned_adder import LearnedAdder
from ropeway.hdl.learned_memory import LearnedMemory

UNITS = {
    "beat": (AdderParameters(lanes=2, max_width=128), 64),
    "pair": (AdderParameters(max_width=1024), 256),  # GPT-2's
    "four": (AdderParameters(lanes=1, data_bits=8, max_width=128, position_bits=20), 64),
}
"""Parameters and bits of the bus."""


class LearnedUnits(wiring.Component):
    """Every unit's ports begin with its name."""

    def __init__(self):
        self._units = {
            name: LearnedAdder(p, LearnedMemory(p, bits)) for name, (p, bits) in UNITS.items()
        }
        super().__init__({name: wiring.Out(u.signature) for name, u in self._units.items()})

    def elaborate(self, _platform):
        m = Module()
        for name, unit in self._units.items():
            m.submodules[name] = unit
            wiring.connect(m, wiring.flipped(getattr(self, name)), unit)
        return m


class Unit:
    """One of them under cocotb: its ports by their own names."""

    def __init__(self, dut, name: str):
        self.dut, self.name = dut, name
        self.clk, self.rst = dut.clk, dut.rst
        self.p, self.bus_bits = UNITS[name]

    def __getattr__(self, port: str):
        return getattr(self.dut, f"{self.name}__{port}")
