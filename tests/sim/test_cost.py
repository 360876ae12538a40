# SPDX-License-Identifier: Apache-2.0
"""The clocks that the cost model states are those that the simulated hardware takes."""

from decimal import Decimal

import numpy as np
import pytest

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import AlibiGeometry, SinusoidalGeometry, alibi_slopes
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.cost import (
    Latency,
    adder_clocks,
    rope_clocks,
    rope_first_beat,
    rope_last_beat,
    score_clocks,
)
from ropeway.golden.generators import GENERATORS
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing, PhaseTable
from ropeway.hdl.sinusoidal_adder import SinusoidalAdder
from ropeway.sim.adder_bench import AdderBench, Embedding
from ropeway.sim.alibi_bench import AlibiBench, Segment
from ropeway.sim.bench import Load, Traffic
from ropeway.sim.traffic import from_clock
from ropeway.sim.unit_bench import Image
from tests.geometries import geometry
from tests.sim.engines import bench_of, check, steps_of

LOADED, TOKENS = 400, 4  # clocks until a table is in its slot
FOUR, ONE = RopeParameters(max_head_dim=64), RopeParameters(lanes=1, max_head_dim=64)
SHARED = RopeParameters(lanes=2, generator="shared", max_head_dim=64)
WIDE = RopeParameters(lanes=2, multipliers=4, max_head_dim=64)
DISTANT = RopeParameters(lanes=8, generator="shared", max_head_dim=64)
PAIR = HeadPattern(1, 1)
SHAPES = {
    "whole heads": {"head_dim": 64, "pattern": PAIR},
    "many heads": {"head_dim": 32, "pattern": HeadPattern(4, 2, 2)},
    "one head": {"head_dim": 32, "pattern": HeadPattern(1, 0)},
    "partial": {"head_dim": 64, "pattern": HeadPattern(2, 1, 1), "rotary_dim": 32},
    "trailing": {"head_dim": 64, "pattern": PAIR, "rotary_dim": 32, "offset": 32},
    "odd entries": {"head_dim": 40, "pattern": HeadPattern(3, 1)},
    "no rotation": {"head_dim": 64, "pattern": PAIR, "rotary_dim": 0},
}
ENGINES = {"4 lanes": FOUR, "1 lane": ONE, "2 lanes, shared": SHARED}


def ends(p: RopeParameters, table: PhaseTable) -> tuple[np.ndarray, Latency]:
    """Clocks of each beat of the results, [tokens, beats], from the first position on."""
    steps, traffic = steps_of(p, table, range(TOKENS)), Traffic(position=from_clock(LOADED))
    result = check(bench_of(p), steps, [Load(0, table)], traffic)
    engine = bench_of(p).engine
    latency = Latency(engine.latency, engine.passing_latency)
    return result.result_clocks.reshape(TOKENS, -1) - result.position_clocks[0], latency


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pairing", Pairing)
@pytest.mark.parametrize("engine", ENGINES)
def test_first_beat_last_beat_and_many_tokens_come_when_they_are_said_to(engine, pairing, shape):
    p, table = ENGINES[engine], geometry(**SHAPES[shape], pairing=pairing)
    if table.pairs % p.lanes:
        pytest.skip("not served")
    compare(p, table)


@pytest.mark.parametrize("shape", ["whole heads", "no rotation"])
@pytest.mark.parametrize("p", [WIDE, DISTANT], ids=["four multipliers", "eight lanes"])
def test_another_lane_s_latency_is_its_own(p, shape):
    compare(p, geometry(**SHAPES[shape]))


def compare(p: RopeParameters, table: PhaseTable):
    out, latency = ends(p, table)
    assert out[0, 0] == rope_first_beat(p, table, latency)
    assert out[0, -1] == rope_last_beat(p, table, latency)
    for tokens in range(1, TOKENS + 1):
        assert out[tokens - 1, -1] == rope_clocks(p, table, tokens, latency)


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("width", [16, 64])
def test_a_sinusoidal_adder_takes_what_is_said(generator, width):
    p = AdderParameters(lanes=2, max_width=64, generator=generator)
    exponents = (Decimal(2 * pair) / width for pair in range(width // 2))
    inv_freq = tuple(Decimal(10_000) ** -exponent for exponent in exponents)
    table = SinusoidalGeometry(width=width, inv_freq=inv_freq, layout="interleaved")
    bench = AdderBench(p, SinusoidalAdder(p))
    tokens = [Embedding(np.zeros(width, np.int64), at) for at in range(TOKENS)]
    run = bench.run(tokens, [Image(table.image())]).run
    lasts = run.result_clocks.reshape(TOKENS, -1)[:, -1] - run.position_clocks[0]
    said = [
        adder_clocks(p, width, n + 1, bench.unit.latency, interval=p.generator_interval)
        for n in range(TOKENS)
    ]
    assert lasts.tolist() == said


def test_rows_of_scores_take_what_is_said():
    p, keys, rows = AlibiParameters(lanes=2), 80, 3
    slopes = AlibiGeometry(model_slopes=alibi_slopes(2), heads=2)
    segments = [Segment(np.zeros(keys, np.int64), 0, keys + n, 0) for n in range(rows)]
    bench = AlibiBench(p)
    waiting = Traffic(data=from_clock(LOADED))
    run = bench.run(segments, [Image(slopes.image())], waiting).run
    clocks = run.result_clocks[-1] - run.beat_clocks[0]
    assert clocks == score_clocks(p, keys, rows, bench.unit.latency)
