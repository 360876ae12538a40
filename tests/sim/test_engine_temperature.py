# SPDX-License-Identifier: Apache-2.0
"""A token's temperature scales its queries, all of them, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing
from ropeway.golden.temperature import temperature_word
from ropeway.sim.bench import Load, Token, Traffic
from tests.geometries import elements, geometry, served
from tests.sim.engines import Script, Step, bench_of, check, play, script_of, steps_of

P = RopeParameters(max_head_dim=64, temperature=True)
LARGEST = 2.828
TEMPERATURES = (1.0, 1 + 2**-18, 1.0693147, 1.2197, 1.4142, 1.41422, 1.7159, 2.0, LARGEST)
WORDS = [temperature_word(value) for value in TEMPERATURES]


def heated(script: Script, seed: int) -> Script:
    """The same tokens, two in three of them at some temperature."""
    random = np.random.default_rng(seed)
    steps = [
        Step(step.table, replace(step.token, temperature=int(random.choice([0, *WORDS[1:]]))))
        for step in script.steps
    ]
    return replace(script, steps=steps)


@pytest.mark.parametrize("traffic", [None, 1], ids=["steady", "stalled-1"])
@pytest.mark.parametrize(
    "parameters",
    [
        RopeParameters(lanes=1, temperature=True),
        RopeParameters(lanes=4, temperature=True, generator="shared", data_bits=12),
        RopeParameters(lanes=4, temperature=True, generator="serial"),
        RopeParameters(lanes=2, temperature=True, data_bits=18),
        RopeParameters(lanes=4, temperature=True, coefficient_bits=16),
        RopeParameters(lanes=4, temperature=True, output_bits=10),
    ],
    ids=["1 lane", "shared", "serial", "18 bits", "16-bit coefficients", "narrowed"],
)
def test_every_shape_is_exact_at_every_temperature(parameters, traffic):
    script = script_of(parameters, served(parameters)[::2], each=3, seed=3)
    gates = Traffic() if traffic is None else Traffic.random(traffic)
    play(bench_of(parameters), heated(script, seed=4), gates)


PATTERNS = (
    HeadPattern(2, 1, 1),
    HeadPattern(1, 1, 1, repeat=3),
    HeadPattern(2, 0, 0, repeat=2),
    HeadPattern(0, 2, 1),
    HeadPattern(1, 1, 1, repeat=2, rotated=(False, True, False)),
    HeadPattern(1, 1, 2, repeat=2, rotated=(True, False, True)),
    HeadPattern(2, 1, 1, repeat=2, rotated=(True, False, False)),
    HeadPattern(1, 0, 1, repeat=2, rotated=(True, True, True)),
)


@pytest.mark.parametrize("rotary_dim", [0, 32, 64])
def test_every_pattern_keeps_its_rows_apart(rotary_dim):
    tables = [
        geometry(64, pattern, rotary_dim=rotary_dim, pairing=Pairing.ADJACENT, offset=0)
        for pattern in PATTERNS
    ]
    script = script_of(P, tables, each=5, seed=rotary_dim)
    play(bench_of(P), heated(script, seed=5), Traffic.random(6, idle=0.1, stall=0.1))


def test_a_temperature_of_one_changes_no_bit_and_rows_are_shared_again_afterwards():
    table = geometry(64, HeadPattern(2, 1, 1), theta=500_000.0)
    plain = steps_of(P, table, [7] * 8)
    hot = WORDS[3]
    words = [0, 0, hot, hot, 0, 0, hot, 0]
    mixed = [
        Step(table, replace(step.token, temperature=word))
        for step, word in zip(plain, words, strict=True)
    ]
    cold = check(bench_of(P), plain, [Load(0, table)]).packets
    for word, packet, reference in zip(
        words, check(bench_of(P), mixed, [Load(0, table)]).packets, cold, strict=True
    ):
        queries = 2 * table.head_dim
        assert np.array_equal(packet[queries:], reference[queries:])
        assert np.array_equal(packet[:queries], reference[:queries]) == (word == 0)


def test_queries_grow_by_the_temperature_whether_they_turn_or_not():
    table = geometry(64, HeadPattern(1, 1), rotary_dim=32)
    random = np.random.default_rng(0)
    data = elements(random, (2, 64), 14)
    for value, word in zip(TEMPERATURES[:7], WORDS, strict=False):
        tokens = [Token(data, 1234, temperature=given) for given in (0, word)]
        cold, hot = bench_of(P).run(tokens, [Load(0, table)]).packets
        assert np.abs(hot[:64] - cold[:64] * value).max() <= 0.8 + 0.5 * value + 2**14 * 2**-18
        assert np.array_equal(hot[64:], cold[64:])


def test_a_product_of_amplitude_and_temperature_out_of_range_is_clamped_and_flagged():
    table = geometry(64, HeadPattern(1, 1), attention_factor=1.5)
    step = Step(table, Token(np.ones((2, 64), int), 3, temperature=temperature_word(2.0)))
    result = check(bench_of(P), [step], [Load(0, table)])
    assert result.status["saturated"] == 1
    assert result.packets[0].max() <= 4


def test_a_tempered_token_takes_as_long_as_its_two_rows_or_its_beats():
    pattern = HeadPattern(6, 1, 1)
    table = geometry(64, pattern)
    hot = [
        Step(table, replace(step.token, temperature=WORDS[5]))
        for step in steps_of(P, table, range(12))
    ]
    result = check(bench_of(P), hot, [Load(0, table)])
    beats = result.result_clocks.reshape(len(hot), -1)
    clocks = P.clocks_per_token(table, tempered=True)
    assert clocks == max(pattern.heads * 8, 2 * 32)
    assert np.all(np.diff(beats[4:, -1]) == clocks)
