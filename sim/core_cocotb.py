# SPDX-License-Identifier: Apache-2.0
"""Runs within a simulation: plays scripts to a core through cocotbext-axi, held to golden."""

import json
from pathlib import Path

import cocotb
import numpy as np
from cocotb.triggers import ClockCycles, Event, RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiStreamFrame

from ropeway.sim.cocotb_run import case
from ropeway.sim.core_cocotb_ports import PERIOD, CorePorts, differs, frames

__all__ = ["Play", "the_core_equals_golden_before_and_after_resets"]

COUNTED = ("elements", "loads", "resets", "accesses", "clocks")
QUIET = 20_000  # clocks in which something must have come out or gone in
PAUSE = 20  # clocks between accesses that have nothing to do with the traffic, at most
DIGEST = 12  # clocks that a word of an image takes to be digested, and some


class Play:
    """One run of a script from a reset on.

    ``plan`` is what CoreSimulation wrote, ``data`` its arrays.
    """

    def __init__(self, ports: CorePorts, plan: dict, data, seed: int):
        self.ports, self.plan, self.data = ports, plan, data
        self.registers: dict[str, int] = plan["addresses"]
        self.images = np.split(data["images"], data["image_ends"][:-1])
        self.accesses = self.loaded = self.moved = 0
        self.over = False
        self.results = {name: 0 for name in ports.sinks if name in data}
        self._random = np.random.default_rng(seed)
        self._progress = Event()

    async def run(self):
        """All of it, with what the registers say at the end."""
        watch, meddle, *others = self.begin()
        for task in others:
            await task
        self.over = True
        await meddle
        watch.cancel()
        await ClockCycles(self.ports.clock, DIGEST * max(map(len, self.images), default=1))
        for name, address, size, mask, value in self.plan["finals"]:
            found = await self._read(address, size) & mask
            assert found == value, f"{name} is {found:#x}, not {value:#x}"
        assert int(self.ports.dut.irq.value) == 0
        assert all(sink.empty() for sink in self.ports.sinks.values()), "a packet too many"

    async def break_off(self, beat: int):
        """Begin, and reset in the middle of the packet that has this beat, or of the next."""
        tasks = self.begin()
        dut, count = self.ports.dut, 0
        name = "s_axis" if "s_axis" in self.data else "s_axis_score"
        valid, ready, last = (getattr(dut, f"{name}_{s}") for s in ("tvalid", "tready", "tlast"))
        while True:
            await RisingEdge(self.ports.clock)
            if int(valid.value) and int(ready.value):
                count += 1
                if count > beat and not int(last.value):
                    break
        assert not all(task.done() for task in tasks[2:]), "nothing was left to be broken off"
        for task in tasks:
            task.cancel()
        await self.ports.reset()

    def begin(self) -> list:
        """The tasks that play it: one that never ends, one until it is over, and the others."""
        parts = [self._watch(), self._meddle(), self._load(), self._send()]
        parts += [self._compare(name) for name in self.results]
        return [cocotb.start_soon(part) for part in parts]

    async def _watch(self):
        while True:
            before = self.moved
            await ClockCycles(self.ports.clock, QUIET)
            state = f"{self.loaded} of {len(self.images)} images in, packets out: {self.results}"
            assert self.moved != before, f"nothing moved for {QUIET} clocks; {state}"

    def _move(self):
        self.moved += 1
        self._progress.set()

    async def _until(self, holds):
        while not holds():
            self._progress.clear()
            await self._progress.wait()

    async def _load(self):
        """Settings, and every image when its slot is free; after its first word it may wait."""
        load, status, window = (self.registers[n] for n in ("LOAD", "LOAD_STATUS", "LOAD_WINDOW"))
        for address, word in self.plan["settings"]:
            await self._write(address, word)
        size = self.plan["window_words"]
        for target, wait, image in zip(
            self.data["targets"].tolist(), self.data["waits"].tolist(), self.images, strict=True
        ):
            await self._until(lambda wait=wait: self.results.get("m_axis", 0) >= wait)
            await self._write(load, target | len(image) << 8)
            await self._write(window, int(image[0]))
            while await self._read(status) & 1:
                self._move()
            for first in range(0, len(image), size):
                skip = first == 0
                words = image[first + skip : first + size].tolist()
                if words:
                    await self._write(window + 4 * skip, *words)
            self.loaded += 1
            self._move()

    async def _send(self):
        """Every stream as soon as it may go: a token when the images that it needs are in."""
        sources, data = self.ports.sources, self.data
        packets = {n: frames(s.bus, data[n]) for n, s in sources.items() if n in data}
        waits = "s_axis" if self.plan["carried"] else "s_axis_position"
        for name, some in packets.items():
            for packet in some if name != waits else ():
                sources[name].send_nowait(packet)
        for need, packet in zip(data["needs"].tolist(), packets.get(waits, ()), strict=True):
            await self._until(lambda need=need: self.loaded >= need)
            sources[waits].send_nowait(packet)

    async def _compare(self, name: str):
        """Every packet that comes is the next one of the script."""
        sink = self.ports.sinks[name]
        for number, wanted in enumerate(frames(sink.bus, self.data[name])):
            found: AxiStreamFrame = await sink.recv(compact=False)
            wrong = differs(found, wanted)
            assert not wrong, f"{name}: packet {number}: {wrong}"
            self.results[name] += 1
            self._move()

    async def _meddle(self):
        """Read registers and write those of no consequence, all the while."""
        counters: dict[int, int] = {}
        while not self.over:
            kind = self._random.random()
            if kind < 0.5:
                address, mask, value = self._one("constants")
                assert await self._read(address) & mask == value, f"{address:#x} has changed"
            elif kind < 0.8:
                address, mask = self._one("kept")
                word = int(self._random.integers(1 << 32))
                await self._write(address, word)
                found = await self._read(address)
                assert found == word & mask, f"{address:#x} is {found:#x}, not {word & mask:#x}"
                await self._write(address, 0)
            else:
                (address,) = self._one("counters")
                count = await self._read(address, 8)
                assert count >= counters.get(address, 0), f"the counter at {address:#x} fell"
                counters[address] = count
            await ClockCycles(self.ports.clock, int(self._random.integers(1, PAUSE)))

    def _one(self, kind: str) -> list[int]:
        return self.plan[kind][int(self._random.integers(len(self.plan[kind])))]

    async def _read(self, address: int, size: int = 4) -> int:
        self.accesses += size // 4
        return await self.ports.read(address, size)

    async def _write(self, address: int, *words: int):
        self.accesses += len(words)
        await self.ports.write(address, *words)


@cocotb.test()
async def the_core_equals_golden_before_and_after_resets(dut):
    """The whole script, and as often as is said broken off by a reset and then whole again."""
    plan = case()
    data = np.load(plan["data"])
    pauses = {name: plan[name] for name in ("idle", "stall", "bus")}
    ports = CorePorts(dut, **pauses, seed=plan["seed"])
    if ports.memory:
        ports.memory.write(plan["memory_base"], data["memory"].tobytes())
    await ports.start()
    counts = dict.fromkeys(COUNTED, 0)
    for number in range(len(plan["breaks"]) + 1):
        if number:
            await ports.reset()
            broken = Play(ports, plan, data, plan["seed"] + 1000 * number)
            await broken.break_off(plan["breaks"][number - 1])
            counts["accesses"] += broken.accesses
            counts["resets"] += 1
        play = Play(ports, plan, data, plan["seed"] + number)
        await play.run()
        counts["elements"] += plan["elements"]
        counts["loads"] += play.loaded
        counts["accesses"] += play.accesses
    counts["clocks"] = round(get_sim_time("ns") / PERIOD)
    Path(plan["counts"]).write_text(json.dumps(counts))
