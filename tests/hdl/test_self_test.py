# SPDX-License-Identifier: Apache-2.0
"""What a core makes of the self-test's stimulus has the signature that the golden model says."""

from decimal import Decimal

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import SinusoidalGeometry
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.self_test import (
    expected_signature,
    lane_seeds,
    lane_words,
    signature,
    stimulus,
    token_beats,
)
from ropeway.golden.table import HeadPattern
from ropeway.hdl.core import RopewayCore
from ropeway.hdl.self_test import SelfTest
from tests.geometries import geometry
from tests.hdl.benches import simulate
from tests.hdl.host import Host

TABLE = geometry(16, HeadPattern(2, 1))
BASE = -2
CORES = {
    "1 lane": {"lanes": 1, "coefficient_bits": 16},
    "4 lanes": {"lanes": 4},
    "8 bits": {"lanes": 2, "data_bits": 8},
    "18 bits": {"lanes": 2, "data_bits": 18},
    "16 to 9 bits": {"lanes": 2, "output_bits": 9},
    "fp16": {"lanes": 1, "format": "fp16"},
}


def parameters(**fields) -> CoreParameters:
    rope = RopeParameters(max_head_dim=16, slots=2, **fields)
    return CoreParameters(rope=rope, bus="registers")


class Bench(wiring.Component):
    """A core and the test that runs through it."""

    def __init__(self, p: CoreParameters):
        self.core, self.test = RopewayCore(p), SelfTest(p)
        super().__init__({})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.core, m.submodules.test = self.core, self.test
        wiring.connect(m, self.test.o, self.core.s_axis)
        wiring.connect(m, self.core.m_axis, self.test.i)
        return m


async def run(ctx, test: SelfTest, beats: int, expected=(), *, tokens: int = 9, seed: int = 0):
    """What a test of so many tokens ends with, or the clocks for which it would not."""
    for number, word in enumerate(expected):
        ctx.set(test.expected_number, number)
        ctx.set(test.expected, word)
        ctx.set(test.expect, 1)
        await ctx.tick()
    ctx.set(test.expect, 0)
    for name, value in (("tokens", tokens), ("beats", beats), ("seed", seed)):
        ctx.set(getattr(test, name), value)
    await ctx.tick()
    ctx.set(test.start, 1)
    await ctx.tick()
    ctx.set(test.start, 0)


async def ended(ctx, test: SelfTest, patience: int = 3000) -> bool:
    """Whether a test ended; in the end its match and signature are there."""
    for _ in range(patience):
        if ctx.get(test.done):
            await ctx.tick()
            return True
        await ctx.tick()
    return False


async def words(ctx, test: SelfTest, lanes: int) -> tuple[int, ...]:
    found = []
    for number in range(lanes):
        ctx.set(test.signature_number, number)
        await ctx.tick()
        found.append(ctx.get(test.signature_word))
    return tuple(found)


async def positions(host: Host, tokens: int):
    await host.put("AUTO_BASE", value=BASE)
    await host.put("AUTO_COUNT", value=tokens)
    await host.put("AUTO_CONTROL", start=1)


@pytest.mark.parametrize("name", CORES)
def test_a_core_s_signature_is_what_the_golden_model_expects(name):
    p = parameters(**CORES[name])
    bench, lanes, tokens, beats = Bench(p), p.beat_elements // 2, 9, token_beats(p, TABLE)
    expected = expected_signature(p, TABLE, tokens, seed=5, base=BASE)

    async def testbench(ctx):
        host = Host(ctx, bench.core, bench.core.control.map, "registers")
        await host.load(0, TABLE.image())
        await host.until("TARGET_STATUS", 0, loaded=1)
        for wanted, matches in ((expected, 1), ((expected[0] ^ 1, *expected[1:]), 0)):
            await positions(host, tokens)
            await run(ctx, bench.test, beats, wanted, seed=5)
            assert ctx.get(bench.test.busy)
            assert await ended(ctx, bench.test)
            assert not ctx.get(bench.test.busy)
            assert await words(ctx, bench.test, lanes) == expected
            assert ctx.get(bench.test.matched) == matches
            steady = tokens * p.rope.clocks_per_token(TABLE)
            assert 0 <= ctx.get(bench.test.clocks) - steady < 80
        assert await host.get("VECTOR_TOKENS") == 2 * tokens

    simulate(bench, testbench)


def test_sums_with_sinusoids_have_a_signature_too():
    adder = AdderParameters(lanes=2, max_width=32)
    p = CoreParameters(sinusoidal=adder, bus="registers")
    frequencies = tuple(Decimal(10) ** -n for n in range(8))
    rows = SinusoidalGeometry(width=16, inv_freq=frequencies)
    bench, expected = Bench(p), expected_signature(p, rows, 9, base=BASE)

    async def testbench(ctx):
        host = Host(ctx, bench.core, bench.core.control.map, "registers")
        await host.load(0, rows.image())
        await host.until("TARGET_STATUS", 0, loaded=1)
        await positions(host, 9)
        await run(ctx, bench.test, token_beats(p, rows), expected)
        assert await ended(ctx, bench.test)
        assert await words(ctx, bench.test, 2) == expected
        assert ctx.get(bench.test.matched)

    simulate(bench, testbench)


class Loop:
    """A core that is none: gives each beat back, when it likes."""

    def __init__(self, p: CoreParameters, *, pause: float, wrong: int | None = None):
        self.pause, self.wrong, self.random = pause, wrong, np.random.default_rng(3)
        self.beats: list[int] = []
        self._mark = 1 << 16 if wrong is not None else 0
        self.test = SelfTest(p)

    async def play(self, ctx):
        o, i, waiting = self.test.o, self.test.i, []
        while True:
            takes = self.random.random() >= self.pause
            gives = bool(waiting) and self.random.random() >= self.pause
            ctx.set(o.tready, takes)
            ctx.set(i.tvalid, gives)
            if gives:
                ctx.set(i.tdata, waiting[0][0])
                ctx.set(i.tlast, waiting[0][1])
                ctx.set(i.tuser, self._mark if len(self.beats) - len(waiting) == self.wrong else 0)
            _, _, valid, word, last, ready = await ctx.tick().sample(
                o.tvalid, o.tdata, o.tlast, i.tready
            )
            if gives:
                assert ready, "a result waits"
                waiting.pop(0)
            if valid and takes:
                self.beats.append(word)
                waiting.append((word, last))


@pytest.mark.parametrize("pause", [0.0, 0.5], ids=["no pause", "pauses"])
@pytest.mark.parametrize(("tokens", "beats"), [(1, 1), (1, 5), (4, 1), (3, 2), (5, 6)])
def test_beats_are_the_golden_ones_whatever_waits(tokens, beats, pause):
    p = parameters(lanes=2)
    loop = Loop(p, pause=pause)
    data = stimulus(p, lane_seeds(2, 77), tokens, beats)
    expected = signature(lane_words(p, data))
    sent = [
        sum((int(e) & 0xFFFF) << 16 * n for n, e in enumerate(beat)) for beat in data.reshape(-1, 4)
    ]

    async def testbench(ctx):
        await run(ctx, loop.test, beats, expected.tolist(), tokens=tokens, seed=77)
        assert await ended(ctx, loop.test)
        await ctx.tick().repeat(10)
        assert loop.beats == sent
        assert await words(ctx, loop.test, 2) == tuple(expected.tolist())
        assert ctx.get(loop.test.matched)
        if not pause:
            assert ctx.get(loop.test.clocks) == tokens * beats

    simulate(loop.test, testbench, background=[loop.play])


@pytest.mark.parametrize("wrong", [0, 7, 11])
def test_a_result_with_an_error_s_mark_is_no_match_until_the_next_test(wrong):
    p = parameters(lanes=1)
    loop = Loop(p, pause=0.0, wrong=wrong)
    expected = signature(lane_words(p, stimulus(p, lane_seeds(1, 0), 2, 6)))

    async def testbench(ctx):
        for matches in (0, 1):
            await run(ctx, loop.test, 6, expected.tolist(), tokens=2)
            assert await ended(ctx, loop.test)
            assert await words(ctx, loop.test, 1) == tuple(expected.tolist())
            assert ctx.get(loop.test.matched) == matches

    simulate(loop.test, testbench, background=[loop.play])


def test_a_start_while_one_lasts_is_none_and_a_lost_token_never_ends():
    p = parameters(lanes=1)
    loop = Loop(p, pause=0.0)

    async def testbench(ctx):
        await run(ctx, loop.test, 10, tokens=3)
        await ctx.tick().repeat(5)
        ctx.set(loop.test.start, 1)
        await ctx.tick().repeat(3)
        ctx.set(loop.test.start, 0)
        assert await ended(ctx, loop.test)
        assert len(loop.beats) == 30

    simulate(loop.test, testbench, background=[loop.play])

    silent = SelfTest(p)

    async def nothing_comes(ctx):
        ctx.set(silent.o.tready, 1)
        await run(ctx, silent, 4, tokens=2)
        assert not await ended(ctx, silent, 100)
        assert ctx.get(silent.busy)

    simulate(silent, nothing_comes)
