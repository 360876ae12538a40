# SPDX-License-Identifier: Apache-2.0
"""Floating-point words against NumPy's own float16 and float32, for every word there is."""

import numpy as np
import pytest

from ropeway.golden.floats import BF16, FORMATS, FP16, FloatFormat

WORDS = np.arange(1 << 16)
each_format = pytest.mark.parametrize("floats", FORMATS.values(), ids=FORMATS)


def reference(floats: FloatFormat) -> np.ndarray:
    """Every word's value as NumPy has it: bf16 is the upper half of a binary32."""
    if floats is FP16:
        return WORDS.astype(np.uint16).view(np.float16).astype(np.float64)
    with np.errstate(invalid="ignore"):
        return (WORDS.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


@each_format
def test_every_word_decodes_to_its_value(floats):
    values = floats.to_float64(WORDS)
    assert np.array_equal(values, reference(floats), equal_nan=True)
    assert np.array_equal(np.signbit(values)[values == 0], [False, True])
    assert np.array_equal(floats.is_nan(WORDS), np.isnan(values))
    assert np.array_equal(floats.is_finite(WORDS), np.isfinite(values))


@each_format
def test_every_word_but_a_nan_survives_a_round_trip(floats):
    number = ~floats.is_nan(WORDS)
    again = floats.from_float64(floats.to_float64(WORDS))
    assert np.array_equal(again[number], WORDS[number])
    assert np.all(again[~number] == floats.nan)
    signed = WORDS.astype(np.uint16).view(np.int16)
    assert np.array_equal(floats.to_float64(signed), floats.to_float64(WORDS), equal_nan=True)


@each_format
def test_between_two_words_the_nearest_is_taken_and_the_even_one_in_the_middle(floats):
    below = np.arange(floats.infinity - 1)
    low, high = floats.to_float64(below), floats.to_float64(below + 1)
    middle = (low + high) / 2
    assert np.array_equal(floats.from_float64(middle), below + (below & 1))
    assert np.array_equal(floats.from_float64(np.nextafter(middle, low)), below)
    assert np.array_equal(floats.from_float64(np.nextafter(middle, high)), below + 1)
    assert np.array_equal(floats.from_float64(-middle), below + (below & 1) | 0x8000)


def test_rounding_agrees_with_numpy_s_float16():
    random = np.random.default_rng(0)
    values = random.standard_normal(200_000) * 2.0 ** random.integers(-30, 18, 200_000)
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16).view(np.uint16)
    assert np.array_equal(FP16.from_float64(values), expected)


@each_format
def test_what_rounds_beyond_the_largest_number_is_infinite(floats):
    largest = floats.to_float64(floats.infinity - 1)
    ulp = largest - floats.to_float64(floats.infinity - 2)
    edge = largest + ulp / 2
    found = floats.from_float64([np.nextafter(edge, 0), edge, -edge, 1e300, np.inf, -np.inf])
    top, minus = floats.infinity, 0x8000
    assert found.tolist() == [top - 1, top, top | minus, top, top, top | minus]
    words, overflows = floats.pack([False, True], [1, 1], [0, 300])
    assert words.tolist() == [0, top | minus]
    assert overflows.tolist() == [False, True]


def test_the_formats_are_those_of_ieee_and_of_binary32_s_upper_half():
    assert (BF16.bits, BF16.bias, BF16.infinity, BF16.nan) == (16, 127, 0x7F80, 0x7FC0)
    assert (FP16.bits, FP16.bias, FP16.infinity, FP16.nan) == (16, 15, 0x7C00, 0x7E00)
