# SPDX-License-Identifier: Apache-2.0
"""Cocotbext-axi's memory with a latency, and words that cannot be read."""

from collections.abc import Callable

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiRamRead, AxiReadBus

PERIOD = 10  # ns


class SlowChannel:
    """An address channel whose bursts are seen ``latency`` clocks late, all at the same time."""

    def __init__(self, channel, clock, latency: Callable[[], int]):
        self.channel, self._clock, self._latency = channel, clock, latency
        self._waiting: Queue = Queue()
        self.bursts: list[tuple[int, int]] = []
        cocotb.start_soon(self._take())

    async def _take(self):
        while True:
            burst = await self.channel.recv()
            self.bursts.append((int(burst.araddr), int(burst.arlen) + 1))
            due = get_sim_time("ns") + PERIOD * self._latency()
            self._waiting.put_nowait((due, burst))

    async def recv(self):
        due, burst = await self._waiting.get()
        early = round((due - get_sim_time("ns")) / PERIOD)
        if early > 0:
            await ClockCycles(self._clock, early)
        return burst

    def clear(self):
        self.channel.clear()


class SlowRam(AxiRamRead):
    """A memory that checks bursts as cocotbext-axi does and says SLVERR where it is ``broken``."""

    def __init__(self, dut, prefix: str, size: int, latency: Callable[[], int]):
        bus = AxiReadBus.from_prefix(dut, prefix)
        super().__init__(bus, dut.clk, size=size)
        self.log.setLevel("ERROR")  # not a line a burst
        self.broken: Callable[[int], bool] = lambda _address: False
        self.slow = self.ar_channel = SlowChannel(self.ar_channel, dut.clk, latency)

    async def _read(self, address, length):
        if address + length > self.size or self.broken(address):
            raise ValueError("no such word")
        return self.read(address, length)
