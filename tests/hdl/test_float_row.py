# SPDX-License-Identifier: Apache-2.0
"""A fixed-point word becomes the same number with its first one at the top."""

import numpy as np
import pytest

from ropeway.golden.floats import FORMATS
from ropeway.hdl.float_row import FloatRow
from tests.geometries import elements
from tests.hdl.benches import clock_through

BITS, FRACTION_BITS = 18, 16


@pytest.mark.parametrize("floats", FORMATS.values(), ids=FORMATS)
def test_every_word_is_the_same_number_a_latency_later(floats):
    random = np.random.default_rng(0)
    words = elements(random, (2000,), BITS) >> random.integers(0, BITS, 2000)
    words = np.concatenate([words, np.arange(-40, 41), [0x10000, -0x10000, -0x20000]])
    unit = FloatRow(floats, BITS, FRACTION_BITS)
    names = [f"number.{name}" for name in ("negative", "exponent", "significand")]
    found = clock_through(unit, {"word": words}, names, extra=unit.latency)
    negative, exponent, significand = (found[name][unit.latency :] for name in names)
    value = np.ldexp(significand.astype(float), exponent - floats.bias - (BITS - 1))
    assert np.array_equal(np.where(negative, -value, value), words / 2.0**FRACTION_BITS)
    assert np.all((significand >> BITS - 1 == 1) | (exponent == 1))
