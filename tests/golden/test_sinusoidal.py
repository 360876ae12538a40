# SPDX-License-Identifier: Apache-2.0
"""Golden's sinusoidal sums against exact mathematics, to position 16 million."""

from decimal import Decimal
from math import sqrt

import mpmath
import numpy as np
import pytest

from ropeway.golden.adder import SCALE_ONE, add_rows, scale_value, scale_word
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import SinusoidalGeometry
from ropeway.golden.errors import InputError
from ropeway.golden.floats import FORMATS
from ropeway.golden.schedules import TURN
from ropeway.golden.sinusoidal import ROW_FRACTION_BITS, add_sinusoidal, sinusoidal_rows

POSITIONS = np.array([0, 1, 2, 511, 4096, 131_071, 1 << 20, (1 << 24) - 1, (1 << 24), -1, -65536])
# A row's word: half of its last bit, the sine's 1.2 · 2^-20 and the phase's 2^-25 turn; then the
# increment's half of 2^-48 turn, 16 million times.
ROW_BOUND = 2**-17 + 1.2 * 2**-20 + 2 * np.pi * (2**-25 + 2.0**24 * 2**-49)


def geometry(width: int, layout: str = "interleaved", **fields) -> SinusoidalGeometry:
    count = (width + 1) // 2
    frequencies = tuple(Decimal(10000) ** (Decimal(-2 * i) / width) for i in range(count))
    return SinusoidalGeometry(width=width, inv_freq=frequencies, layout=layout, **fields)


def exact_rows(table: SinusoidalGeometry, positions: np.ndarray) -> np.ndarray:
    with mpmath.workdps(50):
        frequencies = [mpmath.mpf(str(w)) for w in table.inv_freq]
        angles = [[(int(p) + table.offset) * w for w in frequencies] for p in positions]
        sine = np.array([[float(mpmath.sin(a)) for a in row] for row in angles])
        cosine = np.array([[float(mpmath.cos(a)) for a in row] for row in angles])
    return table.laid_out(sine, cosine)


@pytest.mark.parametrize("layout", ["interleaved", "sin-cos", "cos-sin"])
@pytest.mark.parametrize("width", [64, 63])
def test_rows_are_within_their_bound_at_any_position(width, layout):
    table = geometry(width, layout, offset=2)
    rows = sinusoidal_rows(table, POSITIONS) / (1 << ROW_FRACTION_BITS)
    assert np.abs(rows - exact_rows(table, POSITIONS)).max() < ROW_BOUND
    assert rows.shape == (len(POSITIONS), width)


@pytest.mark.parametrize("scale", [1.0, sqrt(512), sqrt(384), 255.999])
def test_a_sum_at_16_bits_is_within_an_lsb_to_16_million(scale):
    """0.54 LSB, and 2^-18 of the scaled embedding where there is a scale."""
    p = AdderParameters(scaled=scale != 1.0)
    table, random = geometry(512, scale=scale), np.random.default_rng(0)
    most = int(28000 / scale)
    words = random.integers(-most, most + 1, (len(POSITIONS), 512))
    out, saturated = add_sinusoidal(p, table, words, POSITIONS)
    one = 1 << p.fraction_bits
    error = np.abs(out - (words * scale + one * exact_rows(table, POSITIONS)))
    assert saturated == 0
    assert error.max() < 0.5 + ROW_BOUND * one + (most * scale * 2**-18 if scale != 1.0 else 0)
    assert error.max() < (0.55 if scale == 1.0 else 0.67)


@pytest.mark.parametrize("floats", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("scale", [1.0, sqrt(512), 255.999])
def test_a_sum_of_floats_is_half_an_ulp_and_its_words_own_errors_from_exact(floats, scale):
    p = AdderParameters(format=floats.name, scaled=scale != 1.0)
    table, random = geometry(512, scale=scale), np.random.default_rng(0)
    words = floats.from_float64(random.standard_normal((len(POSITIONS), 512)) / scale)
    out, saturated = add_sinusoidal(p, table, words, POSITIONS)
    product = floats.to_float64(words) * scale
    exact = product + exact_rows(table, POSITIONS)
    allowed = ROW_BOUND + (2**-18 * np.abs(product) if scale != 1.0 else 0)
    ulp = np.exp2(np.frexp(np.abs(exact) + allowed)[1] - 1.0 - floats.fraction_bits)
    assert saturated == 0
    assert np.all(np.abs(floats.to_float64(out) - exact) <= ulp / 2 + allowed)


def test_bits_of_other_widths_keep_their_bounds():
    for bits, bound in ((8, 0.51), (12, 0.51), (18, 0.64)):
        p, table = AdderParameters(data_bits=bits), geometry(256)
        out, _ = add_sinusoidal(p, table, np.zeros((len(POSITIONS), 256), int), POSITIONS)
        exact = exact_rows(table, POSITIONS) * (1 << p.fraction_bits)
        assert np.abs(out - exact).max() < bound


def test_a_sum_is_rounded_once_a_half_upwards_and_saturated():
    p = AdderParameters(data_bits=8, fraction_bits=0)
    words = np.array([[5, -5, 127, -128, 126]])
    rows = np.array([[1 << 15, 1 << 15, 1 << 15, -(1 << 15) - 1, 1 << 16]])
    out, saturated = add_rows(p, words, rows, 16)
    assert out.tolist() == [[6, -4, 127, -128, 127]]
    assert saturated == 2
    out, saturated = add_rows(p, words, rows, 16, passes=np.array([True]))
    assert np.array_equal(out, words)
    assert saturated == 0


def test_a_scale_s_word_is_within_2_to_the_minus_18():
    for scale in (1.0, 1.5, sqrt(384), sqrt(512), sqrt(65536), 2 - 2**-20, 32767.0):
        value = scale_value(scale_word(scale))
        assert abs(value / scale - 1) <= 2**-18
        assert scale_word(value) == scale_word(scale)
    assert scale_word(1.0) == SCALE_ONE
    for scale in (0.5, 0.0, 32768.0, 32767.99):
        with pytest.raises(InputError, match="scale"):
            scale_word(scale)
    with pytest.raises(InputError, match="without multipliers"):
        add_rows(AdderParameters(), np.zeros((1, 2)), np.zeros((1, 2)), 16, scale=scale_word(2.0))


def test_increments_stand_in_the_image_as_they_are_used():
    table = geometry(64, "cos-sin", offset=2, scale=8.0)
    words = table.image()
    low, high = words[5::2].astype(np.uint64), words[6::2].astype(np.uint64)
    assert tuple((low | high << np.uint64(32)).tolist()) == table.increments
    assert max(table.increments) < TURN
    assert words[4] == scale_word(8.0)
