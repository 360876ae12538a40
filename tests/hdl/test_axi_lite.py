# SPDX-License-Identifier: Apache-2.0
"""Every AXI4-Lite access is made once, in order, and answered as its registers answer."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from ropeway.hdl.register_bus import Answer
from tests.hdl.axi_manager import FULL, Pace, read, transfer, write
from tests.hdl.benches import simulate
from tests.hdl.register_model import SAMPLE, random_access, sample_model
from tests.hdl.subordinate import Subordinate

MODES, IDENT = SAMPLE["MODES"].offset, SAMPLE["IDENT"].offset
OUTPUTS = ("awready", "wready", "arready", "bvalid", "bresp", "rvalid", "rresp", "rdata")
INPUTS = ("awvalid", "wvalid", "arvalid", "bready", "rready")


@dataclass
class Seen:
    """Responses in their order; accesses as they reached the registers, and when."""

    latency: int
    b: list[tuple[int, ...]] = field(default_factory=list)
    r: list[tuple[int, ...]] = field(default_factory=list)
    accesses: list[tuple[int, int, int, int]] = field(default_factory=list)
    clocks: list[int] = field(default_factory=list)


def drive(writes, reads, pace: Pace = FULL) -> Seen:
    unit = Subordinate()
    seen = Seen(unit.file.latency)

    async def testbench(ctx):
        seen.b, seen.r = await transfer(ctx, unit.s_axi, writes, reads, pace)

    async def watch(ctx):
        clock, request = 0, unit.bus.request
        async for _, _, valid, p in ctx.tick().sample(request.valid, request.payload):
            clock += 1
            if valid:
                seen.accesses.append((p.address, p.write, p.word, p.strobe))
                seen.clocks.append(clock)

    simulate(unit, testbench, background=[watch, unit.hardware])
    return seen


def check(seen: Seen, writes, reads):
    """Each access was made once and in order, and answered as the registers did."""
    made = [(address, word, strobe) for address, writing, word, strobe in seen.accesses if writing]
    assert made == list(writes)
    assert [address for address, writing, *_ in seen.accesses if not writing] == list(reads)
    model, b, r = sample_model(), [], []
    for address, writing, word, strobe in seen.accesses:
        code, found = model.access(address, bool(writing), word, strobe)
        if writing:
            b.append((code,))
        else:
            r.append((code, found))
    assert seen.b == b
    assert seen.r == r


def random_accesses(seed: int, count: int):
    random = np.random.default_rng(seed)
    accesses = [random_access(random, SAMPLE) for _ in range(count)]
    writes = [(address, word, strobe) for address, writing, word, strobe in accesses if writing]
    return writes, [address for address, writing, *_ in accesses if not writing]


@pytest.mark.parametrize("stall", [0.0, 0.6], ids=["no stall", "stall"])
@pytest.mark.parametrize("idle", [0.0, 0.6], ids=["no idle", "idle"])
@pytest.mark.parametrize("seed", range(2), ids=lambda seed: f"seed {seed}")
def test_reads_and_writes_at_once_are_each_made_once_and_answered_in_order(seed, idle, stall):
    writes, reads = random_accesses(seed, 300)
    seen = drive(writes, reads, Pace(idle, stall, seed))
    check(seen, writes, reads)
    assert {code for (code,) in seen.b} == {code for code, _ in seen.r} == set(Answer)


@pytest.mark.parametrize("lag", [(0, 9), (9, 0), (0, 1), (1, 0), (0, 40), (40, 0)], ids=str)
def test_a_write_s_address_and_data_come_in_either_order(lag):
    writes, reads = random_accesses(5, 60)
    check(drive(writes, reads, Pace(lag=lag)), writes, reads)


def test_back_to_back_an_access_takes_the_latency_and_reads_and_writes_take_turns():
    writes, reads = [(MODES, n, 0xF) for n in range(20)], [MODES] * 20
    alone = drive(writes, [])
    check(alone, writes, [])
    assert set(np.diff(alone.clocks)) == {alone.latency + 2}
    both = drive(writes, reads)
    check(both, writes, reads)
    assert set(np.diff([writing for _, writing, *_ in both.accesses])) == {-1, 1}
    assert set(np.diff(both.clocks)) == {both.latency + 1}


def test_a_response_not_taken_holds_up_its_own_direction_alone():
    unit = Subordinate()
    axi = unit.s_axi

    async def testbench(ctx):
        for name, value in (("awaddr", MODES), ("wstrb", 15), ("awvalid", 1), ("wvalid", 1)):
            ctx.set(getattr(axi, name), value)
        await ctx.tick().repeat(60)
        held = (axi.bvalid, axi.awready, axi.wready)
        assert [ctx.get(signal) for signal in held] == [1, 0, 0]
        assert await read(ctx, axi, IDENT) == (Answer.OKAY, 0xDEAD_BEEF)
        assert [ctx.get(signal) for signal in held] == [1, 0, 0]

    simulate(unit, testbench)


def test_a_response_comes_as_many_clocks_after_its_access_as_stated():
    unit = Subordinate()
    axi = unit.s_axi

    async def testbench(ctx):
        ctx.set(axi.arvalid, 1)
        await ctx.tick()
        ctx.set(axi.arvalid, 0)
        for _ in range(unit.file.latency + 1):
            assert not ctx.get(axi.rvalid)
            await ctx.tick()
        assert ctx.get(axi.rvalid)
        assert await write(ctx, axi, MODES, 1) == Answer.OKAY

    simulate(unit, testbench)


def test_no_output_follows_an_input_within_a_clock():
    unit, random = Subordinate(), np.random.default_rng(1)
    axi, seen = unit.s_axi, set()
    outputs = [getattr(axi, name) for name in OUTPUTS]

    async def testbench(ctx):
        for _ in range(300):
            before = [ctx.get(output) for output in outputs]
            seen.add(tuple(before[:4]))
            for name in INPUTS:
                ctx.set(getattr(axi, name), int(random.integers(2)))
                assert [ctx.get(output) for output in outputs] == before, name
            await ctx.tick()

    simulate(unit, testbench)
    assert len(seen) > 4
