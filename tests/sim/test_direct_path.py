# SPDX-License-Identifier: Apache-2.0
"""A core whose vectors pass one unit only equals golden, with whatever it is built without."""

from functools import lru_cache

import numpy as np
import pytest

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing
from ropeway.hdl.core import RopewayCore
from ropeway.hdl.engine import RopeEngine
from ropeway.sim.core_bench import CoreBench, Mixture
from ropeway.sim.core_script import CoreLoad, CoreScript, CoreToken, written
from ropeway.sim.core_traffic import CoreTraffic, preset_tables
from ropeway.sim.random_words import data_words
from tests.geometries import geometry

pytestmark = pytest.mark.slow  # each core is compiled

ROPE = RopeParameters(lanes=1, max_head_dim=64, slots=2)
CORES = {
    "small": CoreParameters(
        rope=ROPE, counters=False, bypass=False, carried=False, keep=False, runs=False
    ),
    "sinusoidal": CoreParameters(sinusoidal=AdderParameters(lanes=1, max_width=64), bypass=False),
}
PAUSES = [(0.0, 0.0), (0.3, 0.3), (0.1, 0.7)]


@lru_cache(maxsize=1)
def bench(core: str) -> CoreBench:
    return CoreBench(CORES[core])


def traffic(core: str, seed: int, **options) -> CoreScript:
    p = CORES[core]
    return written(p, list(CoreTraffic(p, seed).steps(120, loads=8)), **options)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize(("idle", "stall"), PAUSES)
def test_traffic_with_loads_equals_golden(core, idle, stall):
    for carried in (False, True) if CORES[core].carried else (False,):
        seed = int(10 * stall)
        script = traffic(core, seed, carried=carried)
        bench(core).run(script, mixture=Mixture(idle, stall, idle, seed), carried=carried)
    assert bench(core).read("TARGET_STATUS")["busy"] == 0
    flags = bench(core).read("CORE_FLAGS")
    assert set(flags) == {"loaded", *(("partial",) if CORES[core].keep else ())} | (
        {"counted"} if CORES[core].runs else set()
    )


def test_many_short_tokens_are_on_their_way_without_a_bubble():
    p = CORES["small"]
    table = min(preset_tables(ROPE), key=lambda t: t.pattern.heads * t.head_dim)
    size, tokens = table.pattern.heads * table.head_dim, 60
    random = np.random.default_rng(2)
    steps = [CoreToken(data_words(random, (size,), ROPE), 0, (n,)) for n in range(tokens)]
    script = written(p, [CoreLoad(0, table), *steps])
    bench("small").run(written(p, [CoreLoad(0, table), steps[0]]))
    streams = {"s_axis": script.beats, "s_axis_position": script.positions}
    run = bench("small").model.run(streams, {"m_axis": len(script.results)})
    assert np.array_equal(run.items["m_axis"], script.results)
    at, beats = run.at["m_axis"], size // ROPE.beat_elements
    assert at[-1] - at[10 * beats] == (tokens - 10) * ROPE.clocks_per_token(table) - 1


def test_a_position_s_first_result_comes_as_long_after_its_unit_s_as_the_core_says():
    adjacent = geometry(64, HeadPattern(2, 1, 1), pairing=Pairing.ADJACENT)
    data = data_words(np.random.default_rng(0), (4 * 64,), ROPE)
    script = written(CORES["small"], [CoreLoad(0, adjacent), CoreToken(data, 0, (9,))])
    bench("small").run(written(CORES["small"], [CoreLoad(0, adjacent), CoreToken(data, 0)]))
    streams = {"s_axis": script.beats, "s_axis_position": script.positions}
    run = bench("small").model.run(streams, {"m_axis": len(script.results)})
    clocks = run.at["m_axis"][0] - run.at["s_axis_position"][0]
    assert clocks == RopeEngine(ROPE).latency + RopewayCore(CORES["small"]).added_latency


def test_positions_run_ahead_and_results_wait():
    """Results stand for long while everything that can goes on; each keeps its slot and epoch."""
    script = traffic("small", 5)
    bench("small").run(script, mixture=Mixture(0.0, 0.9, 0.0, 5))
