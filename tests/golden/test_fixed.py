# SPDX-License-Identifier: Apache-2.0
"""Rounding and saturation, value by value."""

import numpy as np
import pytest

from ropeway.golden.fixed import limits, round_half_up, saturate


def test_a_half_rounds_towards_plus_infinity():
    values = np.array([-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6])
    assert round_half_up(values, 2).tolist() == [-1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1, 2]
    assert round_half_up(values, 0).tolist() == values.tolist()


@pytest.mark.parametrize("shift", [1, 7, 24])
def test_rounding_is_that_of_exact_halves(shift):
    values = np.random.default_rng(shift).integers(-(1 << 40), 1 << 40, 1000)
    assert np.array_equal(round_half_up(values, shift), np.floor(values / 2.0**shift + 0.5))


@pytest.mark.parametrize("bits", [8, 16, 18])
def test_saturation_holds_the_ends_of_the_word(bits):
    low, high = limits(bits)
    assert (low, high) == (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    values = np.array([low - 5, low - 1, low, -1, 0, 1, high, high + 1, high + 5])
    assert saturate(values, bits).tolist() == [low, low, low, -1, 0, 1, high, high, high]
