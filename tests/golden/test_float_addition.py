# SPDX-License-Identifier: Apache-2.0
"""Floating-point sums are the words nearest to the exact ones, whatever is added."""

from fractions import Fraction

import numpy as np
import pytest

from ropeway.golden.adder import add_rows, scale_word
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import LearnedGeometry
from ropeway.golden.errors import InputError
from ropeway.golden.float_addition import add_to_floats
from ropeway.golden.floats import BF16, FORMATS, FP16
from ropeway.golden.learned import add_learned
from tests.geometries import float_words
from tests.golden.float_sum_accuracy import (
    COUNT,
    Sums,
    corners,
    near_opposites,
    nearest,
    pairs,
    to_odd,
    waves,
    worst,
)

MINUS_ZERO = -0x8000
each_format = pytest.mark.parametrize("floats", FORMATS.values(), ids=FORMATS)


def check(floats, sums: Sums) -> int:
    """Every sum must be the nearest word; how many sums."""
    exact = to_odd(*sums.terms(floats))
    words, overflows = sums.found(floats)
    right = nearest(floats, exact)
    wrong = np.flatnonzero(words != right)
    assert not wrong.size, [hex(a[wrong[0]] & 0xFFFF) for a in (sums.embeddings, words, right)]
    assert np.array_equal(overflows, np.isfinite(exact) & ~floats.is_finite(right))
    return len(words)


@each_format
def test_a_sum_of_two_words_is_the_word_nearest_to_the_exact_one(floats):
    random, total = np.random.default_rng(0), 0
    for _, sums in pairs(floats, random, COUNT // 2):
        total += check(floats, sums)
    assert total > 1_000_000


@each_format
def test_a_scaled_sum_with_a_sine_is_the_word_nearest_to_the_exact_one(floats):
    random, total = np.random.default_rng(1), 0
    for _, sums in waves(floats, random, COUNT // 8):
        total += check(floats, sums)
    assert total > 1_000_000


@each_format
def test_every_corner_beside_every_other_is_right(floats):
    for _, sums in corners(floats):
        check(floats, sums)


@each_format
def test_the_oracle_s_float64_rounds_as_the_rational_number_does(floats):
    random, finite = np.random.default_rng(2), floats.infinity
    words = random.integers(0, finite, (2, 2000)) | random.integers(0, 2, (2, 2000)) << 15
    words[:, 1000:] = near_opposites(floats, random, 1000)
    values = floats.to_float64(words)
    numbers = floats.to_float64(np.arange(finite))
    for a, b, word in zip(*values, nearest(floats, to_odd(*values)), strict=True):
        exact = abs(Fraction(a) + Fraction(b))
        low = int(np.searchsorted(numbers, float(exact), "right")) - 1
        near = [at for at in (low - 1, low, low + 1, low + 2) if 0 <= at < finite]
        best = min(near, key=lambda at: (abs(Fraction(numbers[at]) - exact), at % 2))
        if word & 0x7FFF != finite:
            assert word & 0x7FFF == best


def test_zeros_infinities_and_nans_are_those_of_ieee_754():
    for floats in (BF16, FP16):
        inf, nan, one = floats.infinity, floats.nan, floats.bias << floats.fraction_bits
        minus = inf - 0x8000
        for x, row, out in (
            (0, 0, 0),
            (0, MINUS_ZERO, 0),
            (MINUS_ZERO, 0, 0),
            (MINUS_ZERO, MINUS_ZERO, MINUS_ZERO),
            (one, one - 0x8000, 0),
            (one - 0x8000, one, 0),
            (inf, minus, nan),
            (minus, minus, minus),
            (inf, one, inf),
            (one, minus, minus),
            (inf + 1, one, nan),
            (one, -1, nan),
            (inf - 1, inf - 1, inf),
        ):
            words, overflows = add_to_floats(floats, np.array([x]), np.array([row]))
            assert words.tolist() == [out], (floats.name, x, row)
            assert overflows.tolist() == [x == row == inf - 1]
        words, _ = add_to_floats(
            floats, np.array([MINUS_ZERO]), np.array([0]), row_fraction_bits=16
        )
        assert words.tolist() == [0]


@each_format
def test_a_sum_errs_by_half_an_ulp_and_one_rounded_op_by_op_by_more(floats):
    random, most = np.random.default_rng(3), []
    for name, sums in waves(floats, random, 1 << 14):
        most.append(worst(floats, sums)[[0, 2]])
        assert most[-1][0] <= 0.5, name
    assert 1.1 < max(eager for _, eager in most) <= 1.26


@each_format
def test_a_token_without_a_row_keeps_every_bit_and_an_overflow_counts(floats):
    p, table = AdderParameters(format=floats.name), LearnedGeometry(rows=2, width=64, offset=0)
    random = np.random.default_rng(4)
    data = float_words(random, (3, 64), floats)
    data[:, :3] = MINUS_ZERO, floats.infinity + 1, -1
    rows = np.full((2, 64), floats.infinity - 1)
    data[1] = floats.infinity - 1
    sums, saturated = add_learned(p, table, rows, data, np.array([-1, 0, 2]))
    assert np.array_equal(sums[[0, 2]], data[[0, 2]])
    assert np.all(sums[1] == floats.infinity)
    assert saturated == 64


def test_parameters_of_floats_say_what_they_cannot_have():
    for fields, match in (
        ({"format": "fp8"}, "format"),
        ({"format": "bf16", "data_bits": 12}, "bits"),
        ({"format": "fp16", "fraction_bits": 3}, "fraction_bits"),
    ):
        with pytest.raises(InputError, match=match):
            AdderParameters(**fields)
    p = AdderParameters(format="bf16")
    assert p.floating is BF16
    assert AdderParameters().floating is None
    with pytest.raises(InputError, match="without multipliers"):
        add_rows(p, np.zeros((1, 2), int), np.zeros((1, 2), int), 16, scale=scale_word(2.0))
