# SPDX-License-Identifier: Apache-2.0
"""The bit-true model against exact mathematics: every phase, every pair, every profile's bound."""

import numpy as np
import pytest

from ropeway.golden.errors import InputError
from ropeway.golden.exact import cos_sin, rotate_exact
from ropeway.golden.fixed import limits
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope, rotate
from ropeway.golden.sincos import quadrant_sincos, row
from ropeway.golden.table import (
    LARGEST_UNSCALED_CODE,
    HeadPattern,
    Pairing,
    PhaseTable,
    amplitude_code,
)
from tests.geometries import geometry
from tests.golden.accuracy import PROFILES, SCALED, UNSCALED, bounds, quadrant_row, worst


@pytest.mark.parametrize("name", PROFILES)
def test_below_root_two_every_unsaturated_pair_at_every_phase_is_within_the_bound(name):
    p, bound, _ = PROFILES[name]
    found = worst(p, UNSCALED, 0)
    assert 0.5 < found.unsaturated < bound


@pytest.mark.parametrize("name", PROFILES)
def test_above_root_two_every_unsaturated_pair_at_every_phase_is_within_the_bound(name):
    p, _, bound = PROFILES[name]
    found = worst(p, SCALED, 1)
    assert 0.5 < found.unsaturated <= bound
    assert found.fitting < (1 if p == RopeParameters() else bound)


def test_no_amplitude_breaks_the_bounds_on_one_phase_in_61():
    random, p = np.random.default_rng(0), RopeParameters()
    low, high = amplitude_code(1.4143)[0], amplitude_code(2.8284)[0]
    unscaled = tuple(random.integers(-131072, LARGEST_UNSCALED_CODE + 1, 400).tolist())
    scaled = tuple(random.integers(low, high + 1, 400).tolist())
    assert worst(p, unscaled, 0, every=61).unsaturated < 1
    above = worst(p, scaled, 1, every=61)
    assert above.unsaturated <= 1.25
    assert above.fitting < 1


def test_corner_pairs_at_all_phases_are_within_one_lsb():
    """All 2^24 phases, through the very functions that golden outputs come from."""
    p, pairs, tokens = RopeParameters(), 1 << 12, 1 << 6
    low, high = limits(p.data_bits)
    corners = np.array([(high, high), (low, low), (high, low), (0, high)], dtype=np.int32)
    table = PhaseTable(
        increments=(0,) * pairs,
        head_dim=2 * pairs,
        pattern=HeadPattern(len(corners), 0),
        pairing=Pairing.ADJACENT,
    )
    heads = np.broadcast_to(np.tile(corners, pairs), (tokens, len(corners), 2 * pairs))
    out = np.empty_like(heads)
    worst_error, block = 0.0, tokens * pairs
    for start in range(0, 1 << 24, block):
        phases = np.arange(start, start + block, dtype=np.int64).reshape(tokens, pairs)
        rotate(p, table, row(p, table, phases), heads, out)
        angle = phases * (2 * np.pi / (1 << 24))
        cos, sin = np.cos(angle), np.sin(angle)
        for head, (x, y) in enumerate(corners.tolist()):
            turned = x * cos - y * sin, x * sin + y * cos
            fits = np.logical_and(*((low <= t) & (t <= high) for t in turned))
            for part, t in enumerate(turned):
                error = np.abs(out[:, head, part::2] - t)
                worst_error = max(worst_error, float(np.max(error, where=fits, initial=0)))
    assert 0.5 < worst_error < 1
    assert worst_error <= bounds(p, 0, 0).unsaturated


@pytest.mark.parametrize("factor", [1.0, 1.1902380714, 1.3465736])
@pytest.mark.parametrize("pairing", Pairing)
def test_random_pairs_at_positions_to_16_million_are_within_one_lsb(factor, pairing):
    # Two pairings and three amplitudes: 10 million pairs in all.
    p, tokens, pairs = RopeParameters(), 13_100, 64
    low, high = limits(p.data_bits)
    random = np.random.default_rng(int(1000 * factor))
    table = geometry(
        2 * pairs, HeadPattern(2, 0), pairing=pairing, theta=500_000.0, attention_factor=factor
    )
    inv_freq = 500_000.0 ** (-np.arange(pairs) / pairs)
    worst_error = 0.0
    positions = random.integers(-16_000_000, 16_000_000, tokens)
    heads = random.integers(low, high + 1, (tokens, 2, 2 * pairs), dtype=np.int32)
    out, saturated = rope(p, table, heads, positions)
    exact = rotate_exact(heads, *cos_sin(inv_freq, positions, factor), pairing)
    halves = (..., slice(0, pairs)), (..., slice(pairs, None))
    evens = (..., slice(0, None, 2)), (..., slice(1, None, 2))
    first, second = evens if pairing is Pairing.ADJACENT else halves
    beyond = (exact < low) | (exact > high)
    fits = ~(beyond[first] | beyond[second])
    for part in (first, second):
        error = np.abs(out[part] - exact[part])
        worst_error = max(worst_error, float(np.max(error, where=fits, initial=0)))
    assert saturated > 0
    assert 0.5 < worst_error < 1


@pytest.mark.parametrize("factor", [0.0, 0.4999, 2 * 2**0.5, 3.0, -1.0, float("inf")])
def test_an_amplitude_outside_its_range_is_refused(factor):
    with pytest.raises(InputError, match="attention_factor"):
        amplitude_code(factor)


def test_an_amplitude_at_the_ends_of_its_range_is_taken():
    assert amplitude_code(0.5) == (-131072, 0)
    assert amplitude_code(1.0) == (0, 0)
    code, scale = amplitude_code(2.8284271)
    assert scale == 1
    assert 2 * (1 + code * 2**-18) == pytest.approx(2.8284271, abs=2**-18)


def test_cos_and_sin_together_fit_their_word_up_to_the_largest_unscaled_code_and_no_further():
    # Sums grow with the code, so the largest code speaks for all below.
    phases = np.arange(1 << 22)
    _, cos, sin = quadrant_sincos(phases)

    def largest(code: int) -> int:
        return int(max_sum(code, cos, sin))

    assert largest(LARGEST_UNSCALED_CODE) == (1 << 18) - 1
    assert largest(LARGEST_UNSCALED_CODE + 1) == 1 << 18
    with pytest.raises(InputError, match="amplitude = 108583"):
        PhaseTable((1,), 2, HeadPattern(1, 1), amplitude=LARGEST_UNSCALED_CODE + 1)


def max_sum(code: int, cos: np.ndarray, sin: np.ndarray) -> int:
    """The largest sum of a row's cos and sin words with an amplitude code, by the formula."""
    words = [(raw + ((raw >> 5) * code >> 13) + 32) >> 6 for raw in (cos, sin)]
    return np.max(words[0] + words[1])


@pytest.mark.parametrize("coefficient_bits", [16, 18])
def test_no_coefficient_leaves_its_word_at_the_extreme_amplitudes(coefficient_bits):
    p = RopeParameters(coefficient_bits=coefficient_bits)
    for code, scale in ((-131072, 0), (LARGEST_UNSCALED_CODE, 0), (-76767, 1), (108577, 1)):
        cos, sin, _, _ = quadrant_row(p, code, scale)
        assert min(cos.min(), sin.min()) >= 0
        assert max(cos.max(), sin.max()) < 2 ** (scale + 1)
        if p.multipliers == 3:
            assert np.max(cos + sin) < 2 ** (scale + 1)


@pytest.mark.parametrize("bits", [8, 12, 16, 18])
@pytest.mark.parametrize("coefficient_bits", [16, 18])
def test_position_zero_and_increment_zero_are_the_identity(bits, coefficient_bits):
    p = RopeParameters(data_bits=bits, coefficient_bits=coefficient_bits)
    low, high = limits(bits)
    values = np.unique([low, low + 1, -1, 0, 1, high - 1, high])
    heads = np.stack(np.meshgrid(values, values), axis=-1).reshape(1, -1, 2)
    turning = PhaseTable((12345678901234,), 2, HeadPattern(heads.shape[1], 0))
    still = PhaseTable((0,), 2, HeadPattern(heads.shape[1], 0))
    for table, position in ((turning, 0), (still, 0), (still, 123_456), (still, -(1 << 25))):
        out, saturated = rope(p, table, heads, np.array([position]))
        assert np.array_equal(out, heads)
        assert saturated == 0
