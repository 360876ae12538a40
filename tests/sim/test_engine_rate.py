# SPDX-License-Identifier: Apache-2.0
"""How fast the engine is: the rate law on both sides of its boundary, and the latency it states."""

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing
from ropeway.sim.bench import Load, Result, Traffic
from ropeway.sim.traffic import from_clock
from tests.geometries import geometry
from tests.sim.engines import bench_of, check, steps_of

LOADED = 400  # clocks after which every table here is in its slot


def clocks_a_token(result: Result, tokens: int) -> float:
    """The steady interval of the last ``tokens`` tokens, from one's last beat to the next one's."""
    beats = len(result.result_clocks) // len(result.packets)
    ends = result.result_clocks[beats - 1 :: beats]
    return (ends[-1] - ends[-1 - tokens]) / tokens


def test_llama_streams_a_beat_every_clock_with_no_bubble_between_heads_or_tokens():
    table = geometry(128, HeadPattern(32, 8, 8), theta=500_000.0)
    p = RopeParameters()
    result = check(bench_of(p), steps_of(p, table, [0, 131_071, 7]), [Load(0, table)])
    token = 48 * 16
    assert len(result.result_clocks) == 3 * token
    assert np.all(np.diff(result.result_clocks[token // 48 :]) == 1)  # all but the first row's head


@pytest.mark.parametrize(
    ("generator", "heads"),
    [("pipelined", heads) for heads in (1, 3, 4, 5)]
    + [("shared", heads) for heads in (1, 11, 12, 13)]
    + [("serial", heads) for heads in (1, 15, 16)],
)
def test_the_slower_of_beats_and_row_decides_the_rate(generator, heads):
    dim, lanes = 32 if generator == "pipelined" else 16, 1 if generator == "serial" else 4
    p = RopeParameters(lanes=lanes, generator=generator, max_head_dim=dim, data_bits=8)
    table = geometry(dim, HeadPattern(heads, 0))
    result = check(bench_of(p), steps_of(p, table, range(24)), [Load(0, table)])
    beats, row = heads * dim // p.beat_elements, dim // 2 * p.generator_interval
    assert p.clocks_per_token(table) == max(beats, row)
    assert clocks_a_token(result, 12) == max(beats, row)
    bubbles = np.count_nonzero(np.diff(result.result_clocks[12 * beats :]) > 1)
    assert (bubbles == 0) == (beats >= row)


@pytest.mark.parametrize(
    ("rotary_dim", "heads"), [(16, 1), (32, 1), (48, 1), (32, 2), (64, 3), (0, 1)]
)
def test_a_partial_rotation_needs_a_shorter_row(rotary_dim, heads):
    p = RopeParameters(max_head_dim=64)
    table = geometry(64, HeadPattern(heads, 0, 1), rotary_dim=rotary_dim)
    result = check(bench_of(p), steps_of(p, table, range(20)), [Load(0, table)])
    assert clocks_a_token(result, 8) == p.clocks_per_token(table)


def test_heads_of_a_single_beat_take_a_clock_each_to_name():
    p = RopeParameters(max_head_dim=8, data_bits=8)
    table = geometry(8, HeadPattern(12, 1, 1))
    result = check(bench_of(p), steps_of(p, table, range(30)), [Load(0, table)])
    assert clocks_a_token(result, 12) == p.clocks_per_token(table) == 18


def test_a_repeated_position_takes_its_row_again():
    p = RopeParameters(max_head_dim=128)
    table = geometry(128, HeadPattern(1, 0))
    apart = check(bench_of(p), steps_of(p, table, range(14)), [Load(0, table)])
    repeated = check(bench_of(p), steps_of(p, table, [9] * 14), [Load(0, table)])
    assert clocks_a_token(apart, 6) == 64
    assert clocks_a_token(repeated, 6) == 16


@pytest.mark.parametrize("lanes", [4, 8])
def test_a_shift_of_cached_keys_streams_a_beat_every_clock(lanes):
    # One head a token, and one delta for all: beats alone decide.
    p = RopeParameters(lanes=lanes, max_head_dim=64)
    table = geometry(64, HeadPattern(0, 1))
    result = check(bench_of(p), steps_of(p, table, [-100] * 40), [Load(0, table)])
    assert clocks_a_token(result, 20) == 64 // p.beat_elements


def latency_of(p: RopeParameters, pairing: Pairing) -> int:
    """Clocks from a position to the first beat of its result, data waiting."""
    table = geometry(64, HeadPattern(1, 1), pairing=pairing)
    traffic = Traffic(position=from_clock(LOADED))
    result = check(bench_of(p), steps_of(p, table, [1234]), [Load(0, table)], traffic)
    assert result.load_clocks[-1] < result.position_clocks[0]
    return int(result.result_clocks[0] - result.position_clocks[0])


@pytest.mark.parametrize(
    "p",
    [
        *(RopeParameters(lanes=lanes, max_head_dim=64) for lanes in (1, 2, 4, 8)),
        RopeParameters(multipliers=4, max_head_dim=64),
        RopeParameters(generator="shared", max_head_dim=64),
        RopeParameters(generator="serial", max_head_dim=64),
        *(
            RopeParameters(generator=form, lanes=1, coefficient_bits=16, max_head_dim=64)
            for form in ("shared", "serial")
        ),
    ],
    ids=lambda p: f"{p.lanes} lanes, {p.multipliers} multipliers, {p.generator}",
)
def test_the_stated_latency_is_measured(p):
    assert latency_of(p, Pairing.ADJACENT) == bench_of(p).engine.latency


def test_four_lanes_answer_within_thirty_six_clocks():
    assert latency_of(RopeParameters(), Pairing.ADJACENT) <= 36


def test_half_split_pairs_wait_for_half_of_the_first_head():
    p = RopeParameters(max_head_dim=64)
    half = 64 // (4 * p.lanes)
    extra = latency_of(p, Pairing.HALF_SPLIT) - latency_of(p, Pairing.ADJACENT)
    assert 0 <= extra <= half + 1


def test_a_table_loads_in_two_clocks_a_pair_and_eight():
    p = RopeParameters(max_head_dim=64)
    table = geometry(64, HeadPattern(1, 1))
    result = check(bench_of(p), steps_of(p, table, [5]), [Load(0, table)])
    assert result.load_clocks[-1] - result.load_clocks[0] + 1 == 2 * table.pairs + 8
