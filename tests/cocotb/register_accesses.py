# SPDX-License-Identifier: Apache-2.0
"""Runs within a simulation: cocotbext-axi's manager at registers, held to their table."""

from dataclasses import dataclass

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.register_bus import Answer
from tests.cocotb.axi import PERIOD
from tests.cocotb.register_units import CORE
from tests.cocotb.streams import Sink
from tests.hdl.register_model import SAMPLE, RegisterModel, random_access

CHANNELS = ("write_if.aw_channel", "write_if.w_channel", "write_if.b_channel")
CHANNELS += ("read_if.ar_channel", "read_if.r_channel")


async def manager(dut, name: str, pause: float, seed: int = 0) -> AxiLiteMaster:
    """A manager after reset, each of whose channels pauses with a chance."""
    Clock(dut.clk, PERIOD, unit="ns").start()
    dut.loaded.value = 0
    dut.load__ready.value = 0
    dut.rst.value = 1
    master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, f"{name}_"), dut.clk, dut.rst)
    for interface in (master.write_if, master.read_if):
        interface.log.setLevel("ERROR")
    random = np.random.default_rng(seed)
    for path in CHANNELS if pause else ():
        interface, channel = path.split(".")
        chosen = getattr(getattr(master, interface), channel)
        chosen.set_pause_generator(iter(lambda: bool(random.random() < pause), None))
    await ClockCycles(dut.clk, 3)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 2)
    return master


async def put(master, address: int, word: int, strobe: int = 0xF) -> int:
    """A write of the lanes that are strobed, which must be side by side."""
    lanes = [lane for lane in range(4) if strobe >> lane & 1]
    data = word.to_bytes(4, "little")[lanes[0] : lanes[-1] + 1]
    return int((await master.write(address + lanes[0], data)).resp)


async def get(master, address: int) -> tuple[int, int]:
    answer = await master.read(address, 4)
    return int(answer.resp), int.from_bytes(answer.data, "little")


@cocotb.test()
@cocotb.parametrize(pause=[0.0, 0.4])
async def any_access_comes_to_what_the_table_says(dut, pause):
    master, model = await manager(dut, "sample", pause, 1), RegisterModel(SAMPLE)
    random, codes = np.random.default_rng(2), set()
    for _ in range(400):
        address, write, word, _ = random_access(random, SAMPLE)
        address &= ~3  # `put` adds the lane
        strobe = int(random.choice([1, 2, 4, 8, 3, 6, 12, 7, 14, 15, 15, 15]))
        if write:
            found = (await put(master, address, word, strobe), 0)
        else:
            found = await get(master, address)
        wanted = model.access(address, bool(write), word, strobe if write else 0xF)
        assert found == wanted, (hex(address), write, hex(word), strobe)
        codes.add(found[0])
    assert codes == set(Answer)


@cocotb.test()
@cocotb.parametrize(pause=[0.0, 0.4])
async def reads_and_writes_at_once_do_not_disturb_each_other(dut, pause):
    master = await manager(dut, "sample", pause, 3)
    modes, ident = SAMPLE["MODES"], SAMPLE["IDENT"]

    async def write():
        for n in range(60):
            assert await put(master, modes.offset, modes.encode(low=n % 32, wide=n)) == 0

    async def read():
        for _ in range(60):
            assert await get(master, ident.offset) == (0, ident.reset)

    tasks = [cocotb.start_soon(write()), cocotb.start_soon(read())]
    for task in tasks:
        await task
    code, word = await get(master, modes.offset)
    assert code == 0
    assert modes.decode(word) == {"low": 59 - 32, "wide": 59, "top": 0}


@dataclass
class Unit:
    """The stream of images under the names that drivers look for."""

    dut: object

    def __getattr__(self, name: str):
        return getattr(self.dut, name)


@cocotb.test()
@cocotb.parametrize(pause=[0.0, 0.3])
async def an_image_comes_through_the_window_and_interrupts_when_loaded(dut, pause):
    master, registers = await manager(dut, "core", pause, 4), core_registers(CORE)
    sink = Sink(Unit(dut), "load", 0.5, 5)

    async def take():
        clock = 0
        while True:
            await RisingEdge(dut.clk)
            sink.clock(clock)
            clock += 1

    taker = cocotb.start_soon(take())
    words = [0xA000_0000 | n for n in range(30)]
    enable, flags = registers["CORE_ENABLE"], registers["CORE_FLAGS"]
    assert await put(master, enable.offset, enable.encode(loaded=1)) == 0
    load, window = registers["LOAD"], registers["LOAD_WINDOW"]
    assert await put(master, load.offset, load.encode(target=0, words=len(words))) == 0
    for number, word in enumerate(words):
        while await put(master, window.address(number), word) != Answer.OKAY:
            pass
    await ClockCycles(dut.clk, 30)
    last = 1 << 32
    assert sink.items == [*words[:-1], words[-1] | last]
    assert int(dut.irq.value) == 0
    dut.loaded.value = 1
    await ClockCycles(dut.clk, 10)
    assert int(dut.irq.value) == 1
    assert await put(master, flags.offset, flags.encode(loaded=1)) == 0
    await ClockCycles(dut.clk, 5)
    assert int(dut.irq.value) == 0
    taker.cancel()
