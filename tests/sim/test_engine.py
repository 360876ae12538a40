# SPDX-License-Identifier: Apache-2.0
"""The RoPE engine equals the golden model, bit for bit, in every shape and under any traffic."""

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing, PhaseTable, amplitude_code
from ropeway.sim.bench import Load, Traffic
from tests.geometries import SHAPES, geometry, served
from tests.sim.engines import bench_of, check, play, script_of, steps_of

TRAFFIC = {
    "steady": Traffic(),
    "idle, seed 1": Traffic.random(1, idle=0.4, stall=0.0),
    "stalls, seed 2": Traffic.random(2, idle=0.0, stall=0.4),
    "idle and stalls, seed 3": Traffic.random(3),
}
any_traffic = pytest.mark.parametrize("traffic", TRAFFIC.values(), ids=TRAFFIC)


@any_traffic
@pytest.mark.parametrize("bits", [8, 12, 16, 18])
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_every_shape_position_and_flag_is_exact_under(traffic, lanes, bits):
    p = RopeParameters(lanes=lanes, data_bits=bits)
    tables = served(p)
    assert len(tables) == len(SHAPES) - (lanes == 8)  # 8 lanes do not divide GPT-NeoX's 12 pairs
    script = script_of(p, tables, each=max(1, lanes // 2), seed=traffic.seed)
    play(bench_of(p), script, traffic)


VARIANTS = {
    "four multipliers": RopeParameters(multipliers=4, max_head_dim=128),
    "shared generator": RopeParameters(generator="shared", max_head_dim=128),
    "serial generator": RopeParameters(generator="serial", max_head_dim=128),
    "shared generator, one lane, 16-bit coefficients": RopeParameters(
        lanes=1, generator="shared", coefficient_bits=16, max_head_dim=128
    ),
    "serial generator, one lane, 16-bit coefficients": RopeParameters(
        lanes=1, generator="serial", coefficient_bits=16, position_bits=32, max_head_dim=128
    ),
    "16-bit coefficients": RopeParameters(coefficient_bits=16, max_head_dim=128),
    "two rows, two slots": RopeParameters(rows=2, slots=2, tokens=16, max_head_dim=128),
    "one lane, one slot": RopeParameters(
        lanes=1, slots=1, rows=2, coefficient_bits=16, generator="shared", max_head_dim=128
    ),
    "eight rows, eight slots": RopeParameters(rows=8, slots=8, tokens=32, max_head_dim=128),
    "17-bit data": RopeParameters(data_bits=17, max_head_dim=128),
    "16-bit data narrowed to 8": RopeParameters(output_bits=8, max_head_dim=128),
    "18-bit data narrowed to 16": RopeParameters(data_bits=18, output_bits=16, max_head_dim=128),
    "32-bit positions": RopeParameters(position_bits=32, max_head_dim=128),
    "no larger than its heads": RopeParameters(lanes=8, max_head_dim=128),
    "sixteen lanes": RopeParameters(lanes=16, data_bits=8, max_head_dim=128),
}


@pytest.mark.parametrize("p", VARIANTS.values(), ids=VARIANTS)
def test_every_build_is_exact(p):
    tables = [table for table in served(p) if table.head_dim <= p.max_head_dim]
    play(bench_of(p), script_of(p, tables, each=1, seed=5), Traffic.random(5))


@pytest.mark.parametrize("axes", [2, 3, 4])
def test_pairs_follow_their_axes(axes):
    p = RopeParameters(axes=axes, max_head_dim=128)
    table = geometry(64, HeadPattern(1, 1), axes=tuple(pair % axes for pair in range(32)))
    positions = np.random.default_rng(axes).integers(-(1 << 25), 1 << 25, (6, axes))
    steps = steps_of(p, table, [tuple(position) for position in positions.tolist()])
    check(bench_of(p), steps, [Load(0, table)], Traffic.random(axes))


def test_a_whole_llama_token_is_exact():
    p = RopeParameters()
    table = geometry(128, HeadPattern(32, 8, 8), theta=500_000.0)
    result = check(bench_of(p), steps_of(p, table, [131_071]), [Load(0, table)])
    assert len(result.result_clocks) == 48 * 16


@pytest.mark.parametrize("pairing", Pairing)
def test_every_small_head_is_exact(pairing):
    """Every block of up to six beats, whole heads and partial ones, at every offset."""
    p = RopeParameters(lanes=1, data_bits=8, max_head_dim=16)
    tables = [
        geometry(
            2 * beats,
            HeadPattern(1, 0, 1),
            rotary_dim=2 * block,
            offset=2 * offset,
            pairing=pairing,
            theta=3.0,
        )
        for beats in range(1, 7)
        for block in range(1, beats + 1)
        for offset in range(beats - block + 1)
    ]
    play(bench_of(p), script_of(p, tables, each=1, seed=1))


def test_eight_bit_positions_wrap_nowhere():
    p = RopeParameters(position_bits=8, max_head_dim=64)
    table = geometry(64, HeadPattern(1, 1))
    check(bench_of(p), steps_of(p, table, [-128, -1, 0, 1, 127]), [Load(0, table)])


@pytest.mark.parametrize("seed", range(4))
def test_random_geometries_are_exact(seed):
    random = np.random.default_rng(seed)
    p = RopeParameters(lanes=int(random.choice([1, 2, 4])), max_head_dim=64)
    tables = [random_geometry(p, random) for _ in range(12)]
    play(bench_of(p), script_of(p, tables, each=2, seed=seed), Traffic.random(seed))


def random_geometry(p: RopeParameters, random: np.random.Generator) -> PhaseTable:
    """Any geometry that ``p`` serves: sizes, offset, pattern, amplitude, pairing, increments."""
    beats = int(random.integers(1, p.max_head_beats + 1))
    block = int(random.integers(0, beats + 1))
    counts = random.integers(0, 3, 3)
    counts[random.integers(3)] += 1
    code, scale = amplitude_code(float(random.uniform(0.5, 2.82)))
    return PhaseTable(
        increments=tuple(random.integers(0, 1 << 48, block * p.lanes).tolist()),
        head_dim=beats * p.beat_elements,
        pattern=HeadPattern(
            *counts.tolist(),
            repeat=int(random.integers(1, 4)),
            rotated=tuple((random.random(3) < 0.6).tolist()),
        ),
        pairing=list(Pairing)[random.integers(2)],
        rotary_offset=int(random.integers(0, beats - block + 1)) * p.beat_elements,
        amplitude=code,
        scale=scale,
    )
