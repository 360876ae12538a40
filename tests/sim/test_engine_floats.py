# SPDX-License-Identifier: Apache-2.0
"""The engine of bf16 and fp16 data equals the golden model, bit for bit, under any traffic."""

from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing
from ropeway.golden.temperature import temperature_word
from ropeway.sim.bench import Load, Token, Traffic
from tests.geometries import geometry, served
from tests.sim.engines import Step, bench_of, check, play, script_of

TRAFFIC = {
    "steady": Traffic(),
    "idle, seed 1": Traffic.random(1, idle=0.4, stall=0.0),
    "stalls, seed 2": Traffic.random(2, idle=0.0, stall=0.4),
    "idle and stalls, seed 3": Traffic.random(3),
}
BUILDS = {
    "bf16": RopeParameters(format="bf16", max_head_dim=96),
    "fp16": RopeParameters(format="fp16", max_head_dim=96),
}


def tables_of(p: RopeParameters):
    return [table for table in served(p) if table.head_dim <= p.max_head_dim]


@pytest.mark.parametrize("traffic", TRAFFIC.values(), ids=TRAFFIC)
@pytest.mark.parametrize("p", BUILDS.values(), ids=BUILDS)
def test_every_shape_position_and_flag_is_exact_under(traffic, p):
    play(bench_of(p), script_of(p, tables_of(p), each=1, seed=traffic.seed), traffic)


VARIANTS = {
    "one lane": RopeParameters(format="bf16", lanes=1, max_head_dim=96),
    "eight lanes, shared generator": RopeParameters(
        format="fp16", lanes=8, generator="shared", max_head_dim=64
    ),
    "16-bit coefficients": RopeParameters(
        format="fp16", lanes=2, coefficient_bits=16, max_head_dim=96
    ),
}


@pytest.mark.parametrize("p", VARIANTS.values(), ids=VARIANTS)
def test_every_build_is_exact(p):
    play(bench_of(p), script_of(p, tables_of(p)[::2], each=1, seed=5), Traffic.random(5))


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_every_temperature_scales_queries_whole(name):
    p = RopeParameters(format=name, max_head_dim=64, temperature=True)
    tables = [
        geometry(64, HeadPattern(2, 1, 1), rotary_dim=width, pairing=pairing)
        for width in (0, 32, 64)
        for pairing in Pairing
    ]
    script = script_of(p, tables, each=2, seed=7)
    words = [0, *(temperature_word(value) for value in (1 + 2**-18, 1.2197, 1.4143, 2.0))]
    random = np.random.default_rng(8)
    steps = [
        Step(step.table, replace(step.token, temperature=int(random.choice(words))))
        for step in script.steps
    ]
    play(bench_of(p), replace(script, steps=steps), Traffic.random(9, idle=0.1, stall=0.1))


def test_a_finite_pair_that_overflows_sets_saturated_and_an_infinite_one_does_not():
    p = BUILDS["fp16"]
    table = geometry(8, HeadPattern(1, 0), attention_factor=2.0)
    for word, saturated in ((0x7C00, 0), (0x7BFF, 1)):
        data = np.full((1, 8), word)
        result = check(bench_of(p), [Step(table, Token(data, 0))], [Load(0, table)])
        assert result.status["saturated"] == saturated


def test_a_token_s_latency_is_that_of_its_stages():
    for name, p in BUILDS.items():
        table = geometry(64, HeadPattern(2, 0), pairing=Pairing.ADJACENT)
        token = Token(np.zeros((2, 64), int), 5)
        traffic = Traffic(position=lambda progress, _random: progress.clock > 600)
        result = check(bench_of(p), [Step(table, token)], [Load(0, table)], traffic)
        found = result.result_clocks[0] - result.position_clocks[0]
        assert found == bench_of(p).engine.latency, name
