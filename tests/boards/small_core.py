# SPDX-License-Identifier: Apache-2.0
"""A core that is placed in seconds, with the ports of a hosted one and one of each primitive."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.hdl.multipliers import Multiplier
from ropeway.hdl.primitives import Ram


class SmallCore(wiring.Component):
    """Serial bits multiplied, kept and mixed; LEDs that count."""

    def __init__(self, _parameters=None):
        super().__init__(
            {"rx": In(1), "tx": Out(1), "passed": Out(1), "failed": Out(1), "busy": Out(1)}
        )

    def elaborate(self, _platform):
        m = Module()
        m.submodules.multiplier = multiplier = Multiplier(16, 16)
        m.submodules.ram = ram = Ram(36, 64)
        given, mixed, count = Signal(32), Signal(36), Signal(24)
        m.d.sync += [
            given.eq(Cat(self.rx, given)),
            mixed.eq(multiplier.p ^ ram.read_data),
            count.eq(count + 1),
        ]
        m.d.comb += [
            multiplier.a.eq(given[:16]),
            multiplier.b.eq(given[16:]),
            ram.write_data.eq(multiplier.p),
            ram.write_address.eq(given[2:]),
            ram.write_enable.eq(given[8]),
            ram.read_address.eq(given[9:]),
            self.tx.eq(mixed.xor()),
            Cat(self.passed, self.failed, self.busy).eq(count[-3:]),
        ]
        return m
