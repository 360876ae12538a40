# SPDX-License-Identifier: Apache-2.0
"""What is written at power-on is written, in its order, however long the registers refuse it."""

from itertools import pairwise

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern
from ropeway.hdl.boot import Boot, boot_content
from ropeway.hdl.core import RopewayCore
from ropeway.hdl.core_bus import bus_ports
from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.register_bus import Answer
from ropeway.hdl.streams import connect
from ropeway.sim.core_bench import load_writes
from tests.geometries import geometry
from tests.hdl.benches import simulate
from tests.hdl.host import Host

P = CoreParameters(rope=RopeParameters(lanes=1, max_head_dim=16, slots=2), bus="registers")
TABLES = [geometry(16, HeadPattern(1, 1), theta=theta) for theta in (10_000.0, 500.0)]
WRITES = [
    *((0x40, 0x1234_5678), (0x44, 1), (0x48, 0xFFFF_FFFF)),
    *((0x48, 2), (0x3FFC, 0), (0x0, 7)),
]


def written(content: list[int]) -> list[tuple[int, int]]:
    """The writes that a memory holds."""
    found, at = [], 0
    while content[at]:
        count, start = content[at : at + 2]
        halves = content[at + 2 : at + 2 + 2 * count]
        found += [(4 * (start + n), halves[2 * n] | halves[2 * n + 1] << 16) for n in range(count)]
        at += 2 + 2 * count
    return found


@pytest.mark.parametrize("count", range(7))
def test_content_is_writes_in_runs_and_an_end(count):
    content = boot_content(WRITES[:count])
    assert written(content) == WRITES[:count]
    assert len(content).bit_count() == 1
    assert max(content) < 1 << 16


def test_an_image_takes_two_words_of_memory_a_word():
    assert len(boot_content([(4 * n, n) for n in range(125)])) == 256
    assert len(boot_content([(8 * n, n) for n in range(63)])) == 256


async def answered(ctx, boot: Boot, codes, *, delay: int, clocks: int):
    """The writes that come in so many clocks, with when; each gets the next of ``codes``."""
    found, due, codes = [], {}, list(codes)
    for clock in range(clocks):
        code = due.pop(clock, None)
        ctx.set(boot.answer.valid, code is not None)
        ctx.set(boot.answer.payload.code, Answer.OKAY if code is None else code)
        _, _, valid, request, done = await ctx.tick().sample(
            boot.request.valid, boot.request.payload, boot.done
        )
        if valid:
            assert not due, "a request before the answer to the one before"
            assert (request.write, request.strobe) == (1, 0xF)
            found.append((request.address, request.word, clock))
            due[clock + delay] = codes.pop(0) if codes else Answer.OKAY
        assert not (valid and done)
    return found


@pytest.mark.parametrize("delay", [1, 9])
@pytest.mark.parametrize("wait", [0, 100])
def test_writes_come_one_by_one_after_a_while(delay, wait):
    boot = Boot(WRITES, wait=wait, address_bits=14)

    async def testbench(ctx):
        found = await answered(ctx, boot, [], delay=delay, clocks=wait + 300)
        assert [each[:2] for each in found] == WRITES
        assert wait < found[0][2] < wait + 20
        assert all(b[2] - a[2] <= delay + 16 for a, b in pairwise(found))
        assert ctx.get(boot.done)

    simulate(boot, testbench)


def test_what_is_refused_is_written_again_until_it_is_taken():
    boot = Boot(WRITES, wait=0, address_bits=14)
    codes = [Answer.OKAY, Answer.SLVERR, Answer.SLVERR, Answer.OKAY, Answer.DECERR]

    async def testbench(ctx):
        found = await answered(ctx, boot, codes, delay=3, clocks=300)
        times = [1, 3, 2, 1, 1, 1]
        wanted = [write for write, n in zip(WRITES, times, strict=True) for _ in range(n)]
        assert [each[:2] for each in found] == wanted

    simulate(boot, testbench)


def test_nothing_to_write_is_done_at_once():
    boot = Boot([], wait=5, address_bits=14)

    async def testbench(ctx):
        assert await answered(ctx, boot, [], delay=1, clocks=30) == []
        assert ctx.get(boot.done)

    simulate(boot, testbench)


class Booted(wiring.Component):
    """A core that is loaded from memory, and then a host's."""

    def __init__(self, writes):
        self.core, self.boot = RopewayCore(P), Boot(writes, wait=9, address_bits=16)
        super().__init__(bus_ports("registers", 16))

    def elaborate(self, _platform):
        m = Module()
        m.submodules.core, m.submodules.boot = self.core, self.boot
        connect(m, self.core.answer, self.boot.answer)
        m.d.comb += [
            self.answer.valid.eq(self.core.answer.valid),
            self.answer.payload.eq(self.core.answer.payload),
            self.core.request.valid.eq(self.boot.request.valid),
            self.core.request.payload.eq(self.boot.request.payload),
        ]
        with m.If(self.boot.done):
            m.d.comb += [
                self.core.request.valid.eq(self.request.valid),
                self.core.request.payload.eq(self.request.payload),
            ]
        return m


def test_a_core_is_loaded_with_two_tables_the_second_as_soon_as_the_first_is_digested():
    registers = core_registers(P)
    loads = [load_writes(registers, slot, table.image()) for slot, table in enumerate(TABLES)]
    unit = Booted([(write.address, write.word) for load in loads for write in load])

    async def testbench(ctx):
        refused, done = 0, 0
        while not done:
            _, _, done, valid, code = await ctx.tick().sample(
                unit.boot.done, unit.answer.valid, unit.answer.payload.code
            )
            refused += bool(valid and code != Answer.OKAY)
        assert refused > 0, "the second image's first word waits for the first one's digest"
        await ctx.tick().repeat(300)
        host = Host(ctx, unit, registers, "registers")
        for slot, table in enumerate(TABLES):
            assert (await host.read("TARGET_STATUS", slot))["epoch"] == 1
            assert f"{await host.get('FINGERPRINT', slot):016x}" == table.fingerprint
        assert (await host.read("ROPE_FLAGS"))["malformed"] == 0

    simulate(unit, testbench)
