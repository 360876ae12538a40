# SPDX-License-Identifier: Apache-2.0
"""Runs within a simulation: a user who has the C headers, docs/core.md and cocotbext-axi alone."""

import json
import os
import re
import struct
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamSink,
    AxiStreamSource,
)

GIVEN = json.loads(os.environ["ROPEWAY_CASE"])
ELEMENT, OUT_OF_SLOTS = "<h", 200
FLAGS = re.MULTILINE | re.IGNORECASE


def defines(path: str) -> dict[str, int]:
    """The numbers that a header defines."""
    found = re.findall(r"^#define (\w+) (0x[0-9a-f]+|[0-9]+)u?(?:ll)?$", text(path), FLAGS)
    return {name: int(value, 0) for name, value in found}


def array(path: str) -> list[int]:
    """The words of the one array in a header."""
    (size, body), *others = re.findall(r"uint32_t \w+\[(\d+)\] = \{(.*?)\};", text(path), re.DOTALL)
    assert not others
    words = [int(word, 16) for word in re.findall(r"0x([0-9a-f]{8})u", body)]
    assert len(words) == int(size)
    return words


def text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


class Device:
    """The core at the end of an AXI4-Lite bus, by the names of its header."""

    def __init__(self, dut, names: dict[str, int]):
        self._names = names
        bus = AxiLiteBus.from_prefix(dut, "s_axi")
        self._bus = AxiLiteMaster(bus, dut.aclk, dut.aresetn, reset_active_level=False)

    def at(self, register: str, number: int = 0) -> int:
        stride = self._names.get(f"ROPEWAY_{register}_STRIDE", 0)
        return self._names[f"ROPEWAY_{register}_OFFSET"] + stride * number

    async def word(self, register: str, number: int = 0) -> int:
        return await self._bus.read_dword(self.at(register, number))

    async def two_words(self, register: str, number: int = 0) -> int:
        low = await self._bus.read_dword(self.at(register, number))
        return low | await self._bus.read_dword(self.at(register, number) + 4) << 32

    async def put(self, register: str, value: int, number: int = 0):
        await self._bus.write_dword(self.at(register, number), value)

    def field(self, name: str, word: int) -> int:
        return (word & self._names[f"ROPEWAY_{name}_MASK"]) >> self._names[f"ROPEWAY_{name}_SHIFT"]

    def placed(self, **values: int) -> int:
        return sum(value << self._names[f"ROPEWAY_{n}_SHIFT"] for n, value in values.items())

    async def load(self, target: int, image: list[int]):
        await self.put("LOAD", self.placed(LOAD_TARGET=target, LOAD_WORDS=len(image)))
        for number, word in enumerate(image):
            await self.put("LOAD_WINDOW", word, number % self._names["ROPEWAY_LOAD_WINDOW_COUNT"])
            while number == 0 and self.field("LOAD_STATUS_PENDING", await self.word("LOAD_STATUS")):
                pass


def place(position: int, slot: int) -> bytes:
    return struct.pack("<iI", position, slot)


def packet(elements: list[int]) -> bytes:
    return b"".join(struct.pack(ELEMENT, element) for element in elements)


def elements_of(frame: AxiStreamFrame) -> list[int]:
    return [value for (value,) in struct.iter_unpack(ELEMENT, bytes(frame.tdata))]


def marks_of(frame: AxiStreamFrame, size: int) -> list[dict[str, int]]:
    """What TUSER says, beat by beat."""
    tuser: Any = frame.tuser
    users = tuser[::size]
    return [{"slot": u & 0xFF, "epoch": u >> 8 & 0xFF, "error": u >> 16 & 1} for u in users]


@cocotb.test()
async def the_headers_and_the_manual_are_enough(dut):
    names = defines(GIVEN["header"])
    device = Device(dut, names)

    def source(name: str) -> AxiStreamSource:
        bus = AxiStreamBus.from_prefix(dut, name)
        return AxiStreamSource(bus, dut.aclk, dut.aresetn, reset_active_level=False)

    vectors, positions = source("s_axis"), source("s_axis_position")
    results = AxiStreamSink(
        AxiStreamBus.from_prefix(dut, "m_axis"), dut.aclk, dut.aresetn, reset_active_level=False
    )
    dut.aresetn.value = 0
    Clock(dut.aclk, 8, unit="ns").start()
    await ClockCycles(dut.aclk, 5)
    dut.aresetn.value = 1
    await ClockCycles(dut.aclk, 2)

    # Is it one, and what can it do?
    assert await device.word("IDENT") == names["ROPEWAY_IDENT_RESET"] == 0x524F5045
    units, vector = await device.word("UNITS"), await device.word("VECTORS")
    assert device.field("UNITS_ROPE", units) == 1
    assert device.field("VECTORS_DATA_BITS", vector) == 16
    beat = 2 * device.field("VECTORS_ELEMENTS", vector)  # bytes
    slots = device.field("TARGETS_SLOTS", await device.word("TARGETS"))

    slot = GIVEN["slot"]
    assert device.field("TARGET_STATUS_LOADED", await device.word("TARGET_STATUS", slot)) == 0
    await device.load(slot, array(GIVEN["table"]))
    while not await device.two_words("FINGERPRINT", slot):
        pass
    assert await device.two_words("FINGERPRINT", slot) == GIVEN["fingerprint"]
    assert device.field("TARGET_STATUS_LOADED", await device.word("TARGET_STATUS", slot)) == 1

    await vectors.send(packet(GIVEN["elements"]))
    await positions.send(place(GIVEN["position"], slot))
    result = await results.recv(compact=False)
    assert elements_of(result) == GIVEN["expected"]
    beats = len(result.tdata) // beat
    assert marks_of(result, beat) == [{"slot": slot, "epoch": 1, "error": 0}] * beats
    assert await device.two_words("VECTOR_TOKENS") == 1
    assert await device.two_words("VECTOR_BEATS_IN") == beats
    assert await device.two_words("VECTOR_BEATS_OUT") == beats

    # A slot that is none: unchanged, marked and flagged, until the flag is cleared.
    flags = device.placed(CORE_FLAGS_UNKNOWN=1)
    assert not await device.word("CORE_FLAGS") & flags
    await device.put("CORE_ENABLE", device.placed(CORE_ENABLE_UNKNOWN=1))
    assert int(dut.irq.value) == 0
    await vectors.send(packet(GIVEN["elements"][: beat // 2]))
    await positions.send(place(0, OUT_OF_SLOTS))
    result = await results.recv(compact=False)
    assert elements_of(result) == GIVEN["elements"][: beat // 2]
    assert marks_of(result, beat) == [{"slot": slots, "epoch": 0, "error": 1}]
    assert await device.word("CORE_FLAGS") & flags
    assert device.field("INTERRUPTS_CORE", await device.word("INTERRUPTS")) == 1
    assert int(dut.irq.value) == 1
    await device.put("CORE_FLAGS", flags)
    assert not await device.word("CORE_FLAGS") & flags
    await ClockCycles(dut.aclk, 5)
    assert int(dut.irq.value) == 0
