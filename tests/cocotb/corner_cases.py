# SPDX-License-Identifier: Apache-2.0
"""Runs within a simulation: what AXI4-Lite allows and registers must answer, on a whole core."""

import cocotb
import numpy as np
from cocotb import start_soon
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiResp

from ropeway.sim.cocotb_run import case
from ropeway.sim.core_cocotb_ports import CorePorts

OKAY, SLVERR, DECERR = AxiResp.OKAY, AxiResp.SLVERR, AxiResp.DECERR
LATE = 12  # clocks by which one channel is behind the other
TIMES = 60


async def started(dut, pause: float = 0.0) -> CorePorts:
    ports = CorePorts(dut, bus=pause, seed=7)
    await ports.start()
    return ports


def at(name: str, number: int = 0) -> int:
    """The address of one of a register's words."""
    return case()["addresses"][name] + 4 * number


async def put(ports: CorePorts, address: int, data: bytes) -> AxiResp:
    return (await ports.bus.write(address, data)).resp


async def get(ports: CorePorts, address: int, size: int = 4) -> tuple[AxiResp, bytes]:
    answer = await ports.bus.read(address, size)
    return answer.resp, bytes(answer.data)


@cocotb.test()
async def an_address_of_no_register_is_a_decoding_error_and_nothing_changes(dut):
    ports = await started(dut)
    await ports.write(at("AUTO_BASE"), 0x1234_5678)
    for address in case()["unmapped"]:
        assert await put(ports, address, b"\xff" * 4) is DECERR, hex(address)
        assert await get(ports, address) == (DECERR, bytes(4)), hex(address)
    assert await ports.read(at("AUTO_BASE")) == 0x1234_5678
    assert await ports.read(at("IDENT")) == 0x524F_5045


@cocotb.test()
async def what_is_only_read_or_only_written_refuses_the_other(dut):
    ports = await started(dut)
    for name in ("IDENT", "LOAD_STATUS", "VECTOR_TOKENS", "TARGET_STATUS", "FINGERPRINT"):
        assert await put(ports, at(name), bytes(4)) is SLVERR, name
    for name in ("LOAD", "LOAD_WINDOW", "COUNTERS_CLEAR", "AUTO_CONTROL"):
        assert (await get(ports, at(name)))[0] is SLVERR, name
    assert await put(ports, at("LOAD_WINDOW"), bytes(4)) is SLVERR, "no load was begun"
    assert await put(ports, at("LOAD"), b"\xff\x01\x00\x00") is SLVERR, "there is no such target"


@cocotb.test()
async def bytes_are_written_one_by_one_at_unaligned_addresses(dut):
    ports = await started(dut)
    random, kept = np.random.default_rng(1), bytearray(4)
    for _ in range(TIMES):
        first = int(random.integers(4))
        data = random.bytes(int(random.integers(1, 5 - first)))
        assert await put(ports, at("AUTO_BASE") + first, data) is OKAY
        kept[first : first + len(data)] = data
        assert await get(ports, at("AUTO_BASE")) == (OKAY, bytes(kept))
        first = int(random.integers(4))
        assert await get(ports, at("AUTO_BASE") + first, 1) == (OKAY, bytes(kept[first:][:1]))


@cocotb.test()
async def a_part_of_what_acts_when_written_is_refused(dut):
    ports = await started(dut)
    for name in ("LOAD", "CORE_FLAGS", "LOAD_WINDOW", "AUTO_CONTROL", "LOAD_ABORT"):
        for first, size in ((0, 1), (1, 1), (2, 2), (0, 3), (3, 1)):
            code = await put(ports, at(name) + first, b"\x01" * size)
            assert code is SLVERR, (name, first, size)
    assert await ports.read(at("LOAD_STATUS")) == 0
    assert await ports.read(at("AUTO_LEFT")) == 0


@cocotb.test()
async def words_go_back_to_back(dut):
    ports = await started(dut)
    words = np.random.default_rng(2).integers(1 << 32, size=(TIMES, 2), dtype="<u4")
    for pair in words:
        assert await put(ports, at("AUTO_BASE"), pair.tobytes()) is OKAY
        assert await get(ports, at("AUTO_BASE"), 8) == (OKAY, pair.tobytes())


@cocotb.test()
@cocotb.parametrize(pause=[0.0, 0.4])
async def reads_and_writes_at_once_are_all_answered(dut, pause):
    ports = await started(dut, pause)
    writes = [start_soon(put(ports, at("AUTO_BASE"), bytes([n] * 4))) for n in range(TIMES)]
    places = [at("AUTO_BASE" if n % 2 else "IDENT") for n in range(TIMES)]
    reads = [start_soon(get(ports, place)) for place in places]
    assert [await write for write in writes] == [OKAY] * TIMES
    found = [await read for read in reads]
    assert found[::2] == [(OKAY, b"EPOR")] * (TIMES // 2)
    assert all(code is OKAY for code, _ in found)
    seen = [word for _, word in found[1::2]]
    assert len(set(seen)) > 1, "reads and writes were not at once"
    assert all(word == word[:1] * 4 for word in seen), "a word torn by a write"
    assert seen == sorted(seen), "writes came out of order"
    assert await get(ports, at("AUTO_BASE")) == (OKAY, bytes([TIMES - 1] * 4))


@cocotb.test()
@cocotb.parametrize(first=["aw", "w"])
async def an_address_and_its_data_come_in_either_order(dut, first):
    ports = await started(dut)
    write = ports.bus.write_if
    assert write is not None
    late = write.w_channel if first == "aw" else write.aw_channel
    for word in range(1, TIMES):
        late.pause = True
        answer = start_soon(put(ports, at("AUTO_COUNT"), word.to_bytes(4, "little")))
        await ClockCycles(ports.clock, LATE)
        assert not answer.done(), "answered before all of it was there"
        assert await ports.read(at("AUTO_COUNT")) == word - 1
        late.pause = False
        assert await answer is OKAY
        assert await ports.read(at("AUTO_COUNT")) == word
