# SPDX-License-Identifier: Apache-2.0
"""A memory of LUTs in a block RAM's place, to be measured against it."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["DistributedRam"]


class DistributedRam(wiring.Component):
    """What ``primitives.Ram`` is, with the same latency of 2 clocks, in distributed RAM.

    Parameters
    ----------
    width, depth : bits of a word, words

    Ports
    -----
    write_enable, write_address, write_data : In
    read_address : In
    read_data : Out
    """

    latency = 2

    def __init__(self, width: int, depth: int):
        self._width, self._depth = width, depth
        super().__init__(
            {
                "write_enable": In(1),
                "write_address": In(range(depth)),
                "write_data": In(width),
                "read_address": In(range(depth)),
                "read_data": Out(width),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.memory = memory = Memory(
            shape=self._width, depth=self._depth, init=[], attrs={"ram_style": "distributed"}
        )
        write, read = memory.write_port(), memory.read_port(domain="comb")
        word = Signal(self._width, reset_less=True)
        m.d.comb += [
            write.en.eq(self.write_enable),
            write.addr.eq(self.write_address),
            write.data.eq(self.write_data),
            read.addr.eq(self.read_address),
        ]
        m.d.sync += [word.eq(read.data), self.read_data.eq(word)]
        return m
