# SPDX-License-Identifier: Apache-2.0
"""The engine's compiled Verilog equals the golden model, and the simulator clock by clock."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from ropeway.golden import geometry_of
from ropeway.golden.batch import RopeBatch, rope_geometry
from ropeway.golden.engines import golden
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern
from ropeway.sim.bench import EngineBench, Load
from ropeway.sim.native_engine import NativeEngine, Pauses, simulate_native
from ropeway.sim.native_rate import measure
from ropeway.sim.simulate import simulate
from tests.geometries import geometry, served
from tests.sim.engines import Step, check, script_of, steps_of, token_of

SMALL = RopeParameters(lanes=1, data_bits=8, max_head_dim=16, slots=2)
TABLE = geometry(16, HeadPattern(2, 1, 1), theta=100.0)
OTHER = geometry(16, HeadPattern(1, 1), theta=7.0)
ENGINES = {
    "4 lanes of 16 bits": RopeParameters(),
    "1 lane of 16 bits": RopeParameters(lanes=1, max_head_dim=96),
    "4 lanes of bf16": RopeParameters(format="bf16", max_head_dim=96),
    "1 lane of fp16, two axes": RopeParameters(lanes=1, format="fp16", axes=2, max_head_dim=96),
}
CLOCKS = ("beat_clocks", "position_clocks", "load_clocks", "result_clocks")
RESETS = 1000
BEGUN = 8  # words of an image after which its load holds positions back


@lru_cache(maxsize=1)
def native_of(p: RopeParameters) -> NativeEngine:
    return NativeEngine(p)


@pytest.mark.slow
@pytest.mark.parametrize("p", ENGINES.values(), ids=ENGINES)
def test_every_shape_is_exact_under_random_idles_and_stalls_and_loads(p):
    tables = [table for table in served(p) if table.head_dim <= p.max_head_dim]
    for seed, pauses in enumerate((Pauses(), Pauses(0.5, 0.1, 0.2, 0.4), Pauses(0.1, 0.9, 0.5))):
        script = script_of(p, tables, each=3, seed=seed)
        traffic = replace(pauses, seed=seed)
        check(native_of(p), script.steps, script.loads, traffic, position_after=script.words)


def test_every_clock_is_the_simulators():
    steps, loads = steps_of(SMALL, TABLE, range(-3, 9)), [Load(0, TABLE)]
    later = [*steps, *steps_of(SMALL, OTHER, [5, 6], slot=1)]
    loads.append(Load(1, OTHER, after=3))
    native, simulated = (
        check(engine, later, loads, extra_clocks=5)
        for engine in (native_of(SMALL), EngineBench(SMALL))
    )
    assert native.clocks == simulated.clocks
    for name in CLOCKS:
        assert np.array_equal(getattr(native, name), getattr(simulated, name)), name


def test_a_table_is_loaded_over_a_used_one_when_so_many_packets_are_out():
    before, after = (
        steps_of(SMALL, table, range(20), seed=seed) for seed, table in enumerate((TABLE, OTHER))
    )
    loads = [Load(0, TABLE), Load(0, OTHER, after=len(before))]
    words = len(TABLE.image())
    waits = [words] * len(before) + [words + BEGUN] * len(after)
    for seed in range(20):
        traffic = Pauses(0.2, 0.2, 0.2, 0.2, seed)
        result = check(native_of(SMALL), [*before, *after], loads, traffic, position_after=waits)
        last_beat = result.result_clocks[len(before) * TABLE.pattern.heads * 8 - 1]
        assert result.load_clocks[words] > last_beat


def test_malformed_packets_are_marked_and_harm_no_other():
    random, beats = np.random.default_rng(0), TABLE.pattern.heads * 8
    lasts = [None, 0, beats - 2, beats, beats + 30, None, 3, None]
    for seed in range(20):
        steps = [
            Step(TABLE, token_of(SMALL, TABLE, random, position=at, last_at=last))
            for at, last in enumerate(lasts)
        ]
        check(native_of(SMALL), steps, [Load(0, TABLE)], Pauses(0.3, 0.3, 0.3, 0.3, seed))


def test_after_a_reset_in_any_clock_of_a_packet_everything_is_exact():
    steps, loads = steps_of(SMALL, TABLE, range(4)), [Load(0, TABLE)]
    whole = check(native_of(SMALL), steps, loads)
    assert whole.clocks < RESETS
    for clock in range(1, RESETS + 1):
        traffic = Pauses(seed=clock) if clock % 2 else Pauses(0.2, 0.2, 0.2, 0.2, clock)
        resets = [clock % whole.clocks + 1]
        result = check(native_of(SMALL), steps, loads, traffic, resets=resets)
        assert clock % 2 == 0 or np.array_equal(result.result_clocks, whole.result_clocks)


def test_one_run_survives_many_resets():
    steps, loads = steps_of(SMALL, TABLE, range(4)), [Load(0, TABLE)]
    resets = np.random.default_rng(0).integers(1, 400, RESETS).tolist()
    check(native_of(SMALL), steps, loads, Pauses(0.1, 0.1, 0.1, 0.1), resets=resets)


def test_a_position_for_an_unloaded_slot_waits_for_ever():
    with pytest.raises(TimeoutError, match=r"i_position 0 of 1, i_load 0 of 0, o 0 of 1"):
        native_of(SMALL).run([steps_of(SMALL, TABLE, [1])[0].token], [], timeout=300)


def test_a_batch_comes_out_as_the_simulator_and_golden_have_it(tiny):
    geometry = rope_geometry(geometry_of(tiny))
    random = np.random.default_rng(5)
    heads = {
        kind: random.integers(-128, 128, (5, count, geometry.head_dim))
        for kind, count in zip("qkv", geometry.pattern.counts, strict=True)
    }
    batch = RopeBatch(heads=heads, positions=np.arange(7, 12), geometries=(geometry,))
    told = []
    out, timing = simulate_native(SMALL, batch, lambda *said: told.append(said))
    simulated, simulated_timing = simulate(SMALL, batch)
    wanted, _ = golden(SMALL, batch)
    assert timing == simulated_timing
    for kind in heads:
        assert np.array_equal(out[kind], wanted[kind])
        assert np.array_equal(out[kind], simulated[kind])
    assert told[-1] == ("simulation", 5, 5)


@pytest.mark.slow
def test_it_is_far_faster_than_the_simulator_blocks_of_numpy_in_and_out():
    rates = measure(tokens=64, simulated_tokens=1)
    assert rates.ratio >= 30, rates
