# SPDX-License-Identifier: Apache-2.0
"""Phase, sine and cosine against Python's integers and exact mathematics, over all 2^24 phases."""

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.sincos import phase, quadrant_sincos, quarter_wave, row
from ropeway.golden.table import HeadPattern, PhaseTable
from tests.geometries import POSITIONS
from tests.golden.accuracy import QUADRANT, exact_quadrant, single_pair

INCREMENTS = (0, 1, (1 << 23) - 1, 1 << 23, (1 << 24) - 1, 1 << 47, (1 << 48) - 1, 0x28BE_60DB_9391)


def pairs_of(increments, axes=()):
    return PhaseTable(tuple(increments), 2 * len(increments), HeadPattern(1, 0), axes=tuple(axes))


def by_hand(position: int, increment: int) -> int:
    return ((position * increment + (1 << 23)) >> 24) % (1 << 24)


@pytest.mark.parametrize("position", [*POSITIONS, 1 << 31, -(1 << 31), 16_000_000])
def test_a_phase_is_the_exact_product_rounded_once(position):
    random = np.random.default_rng(abs(position) % 1000)
    increments = [*INCREMENTS, *random.integers(0, 1 << 48, 200).tolist()]
    found = phase(pairs_of(increments), np.array([position]))[0]
    assert found.tolist() == [by_hand(position, increment) for increment in increments]


def test_the_conjugate_is_the_negated_position():
    table = pairs_of(INCREMENTS)
    positions = np.array(POSITIONS)
    assert np.array_equal(phase(table, positions, True), phase(table, -positions))


def test_each_pair_follows_its_axis():
    table = pairs_of(INCREMENTS, axes=[0, 1, 2, 3] * 2)
    positions = np.array([[5, -6, 7, 1 << 25], [0, 1, 2, 3]])
    found = phase(table, positions)
    for token, given in enumerate(positions.tolist()):
        assert found[token].tolist() == [
            by_hand(given[axis], increment)
            for axis, increment in zip(table.axes, table.increments, strict=True)
        ]


def test_sine_and_cosine_are_within_their_bound_of_exact_at_every_phase():
    quadrant, cos, sin = quadrant_sincos(np.arange(QUADRANT))
    exact_cos, exact_sin = exact_quadrant()
    assert not quadrant.any()
    assert np.abs(cos * 2.0**-23 - exact_cos).max() <= 0.97 * 2.0**-20
    assert np.abs(sin * 2.0**-23 - exact_sin).max() <= 1.12 * 2.0**-20


def test_no_raw_value_leaves_its_word_at_any_phase():
    _, cos, sin = quadrant_sincos(np.arange(QUADRANT))
    for values in (cos, sin):
        assert values.min() >= 0
        assert values.max() < 1 << 23


@pytest.mark.parametrize("quadrant", range(1, 4))
def test_the_quadrants_are_exact_quarter_turns_of_the_first(quadrant):
    p, table = RopeParameters(), single_pair(12345, 0)
    phases = np.arange(QUADRANT)[:, None]
    first = row(p, table, phases)
    turned = row(p, table, phases + quadrant * QUADRANT)
    cos, sin = first.cos, first.sin
    for _ in range(quadrant):
        cos, sin = -sin, cos
    assert np.array_equal(turned.cos, cos)
    assert np.array_equal(turned.sin, sin)


def test_the_rom_holds_20_bit_words_and_its_largest_is_not_clipped():
    rom = quarter_wave()
    assert rom.shape == (1024,)
    assert np.all(np.diff(rom) >= 0)
    assert rom[0] == np.floor(np.sin(np.pi / 4096) * (1 << 20))
    assert rom[-1] == (1 << 20) - 1
