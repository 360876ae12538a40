# SPDX-License-Identifier: Apache-2.0
"""Runs within a simulation: a core's ports, each with the model of cocotbext-axi that drives it."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
    AxiRamRead,
    AxiReadBus,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamSink,
    AxiStreamSource,
)

__all__ = ["PERIOD", "CorePorts", "differs", "frames"]

PERIOD = 10  # ns
RESET = 3  # clocks
MEMORY = 1 << 20  # bytes
SOURCES = ("s_axis", "s_axis_position", "s_axis_table", "s_axis_score", "s_axis_segment")
SINKS = ("m_axis", "m_axis_score")
FIELDS = ("tdata", "tkeep", "tlast", "tuser")


def frames(bus: Any, words: np.ndarray) -> list[AxiStreamFrame]:
    """Packets from uint32 [beats, words], whose columns are the signals that a port has."""
    columns, at = {}, 0
    for name in FIELDS:
        if hasattr(bus, name):
            bits = len(getattr(bus, name))
            raw = np.ascontiguousarray(words[:, at : at + -(-bits // 32)]).view(np.uint8)
            columns[name], at = raw, at + -(-bits // 32)
    assert at == words.shape[1], f"{words.shape[1]} words a beat, not {at}"
    size = len(bus.tdata) // 8
    keep = np.unpackbits(columns.get("tkeep", np.zeros((0, 4), np.uint8)), 1, bitorder="little")
    user = [int.from_bytes(row.tobytes(), "little") for row in columns.get("tuser", ())]
    last = columns["tlast"][:, 0] if "tlast" in columns else np.ones(len(words))
    return [
        AxiStreamFrame(
            columns["tdata"][first:end, :size].tobytes(),
            tkeep=keep[first:end, :size].ravel().tolist() or None,
            tuser=[mark for mark in user[first:end] for _ in range(size)] or None,
        )
        for first, end in pairwise((0, *(np.flatnonzero(last) + 1).tolist()))
    ]


def differs(found: AxiStreamFrame, wanted: AxiStreamFrame) -> str:
    """What is not the same in every beat of two packets, in words; empty where all is."""
    for name in ("tdata", "tkeep", "tuser"):
        mine, theirs = (list(getattr(frame, name) or ()) for frame in (found, wanted))
        if len(mine) != len(theirs):
            return f"{len(mine)} bytes of {name}, not {len(theirs)}"
        for at, pair in enumerate(zip(mine, theirs, strict=True)):
            if pair[0] != pair[1]:
                return f"{name} of byte {at} is {pair[0]:#x}, not {pair[1]:#x}"
    return ""


class CorePorts:
    """A core under ``dut``; inputs pause with the chance ``idle``, outputs with ``stall``.

    The channels of the registers and of memory pause with ``bus``.
    """

    def __init__(
        self, dut, *, idle: float = 0.0, stall: float = 0.0, bus: float = 0.0, seed: int = 0
    ):
        self.dut, self.clock = dut, dut.aclk
        self._random = np.random.default_rng(seed)
        resets = {"reset": dut.aresetn, "reset_active_level": False}
        there = {name for name in (*SOURCES, *SINKS) if hasattr(dut, f"{name}_tvalid")}
        self.sources = {
            name: AxiStreamSource(AxiStreamBus.from_prefix(dut, name), dut.aclk, **resets)
            for name in SOURCES
            if name in there
        }
        self.sinks = {
            name: AxiStreamSink(AxiStreamBus.from_prefix(dut, name), dut.aclk, **resets)
            for name in SINKS
            if name in there
        }
        self.bus: Any = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.aclk, **resets)
        self.memory = None
        if hasattr(dut, "m_axi_arvalid"):
            memory = AxiReadBus.from_prefix(dut, "m_axi")
            self.memory = AxiRamRead(memory, dut.aclk, **resets, size=MEMORY)
        self._pause(self.sources.values(), idle)
        self._pause(self.sinks.values(), stall)
        self._pause(self._channels(), bus)
        for model in self._quiet():
            model.log.setLevel("ERROR")  # not a line a packet

    def _channels(self) -> Iterator:
        """The channels of buses."""
        write, read = self.bus.write_if, self.bus.read_if
        yield from (write.aw_channel, write.w_channel, write.b_channel)
        yield from (read.ar_channel, read.r_channel)
        if self.memory:
            yield from (self.memory.ar_channel, self.memory.r_channel)

    def _quiet(self) -> Iterator:
        yield from (*self.sources.values(), *self.sinks.values(), *self._channels())
        yield from (self.bus.write_if, self.bus.read_if)
        if self.memory:
            yield self.memory

    def _pause(self, models: Iterable, chance: float):
        for model in models if chance else ():
            model.set_pause_generator(self._chances(chance))

    def _chances(self, chance: float) -> Iterator[bool]:
        while True:
            yield from (self._random.random(256) < chance).tolist()

    async def start(self):
        """The clock runs, and a reset is over."""
        self.dut.aresetn.value = 1
        Clock(self.clock, PERIOD, unit="ns").start()
        await RisingEdge(self.clock)
        await self.reset()

    async def reset(self):
        """Reset the core; what its ports were to carry is forgotten."""
        self.dut.aresetn.value = 0
        await ClockCycles(self.clock, RESET)
        for stream in (*self.sources.values(), *self.sinks.values()):
            stream.clear()
        self.dut.aresetn.value = 1
        await RisingEdge(self.clock)

    async def read(self, address: int, size: int = 4) -> int:
        """Read a register, or two of them as one."""
        answer = await self.bus.read(address, size)
        assert answer.resp == 0, f"a read of {address:#x} was answered {answer.resp!r}"
        return int.from_bytes(answer.data, "little")

    async def write(self, address: int, *words: int):
        """Write words one after the other."""
        answer = await self.bus.write(address, np.array(words, "<u4").tobytes())
        assert answer.resp == 0, f"a write of {address:#x} was answered {answer.resp!r}"
