# SPDX-License-Identifier: Apache-2.0
"""A magnitude becomes the word that golden's packing makes of it."""

import numpy as np
import pytest

from ropeway.golden.floats import FORMATS
from ropeway.hdl.float_rounder import FloatRounder
from tests.hdl.benches import clock_through

COUNT = 3000


@pytest.mark.parametrize("bits", [15, 22, 36])
@pytest.mark.parametrize("floats", FORMATS.values(), ids=FORMATS)
def test_every_magnitude_is_rounded_once_a_latency_later(floats, bits):
    random, unit = np.random.default_rng(bits), FloatRounder(floats, bits)
    magnitude = random.integers(0, 1 << bits, COUNT) >> random.integers(0, bits, COUNT)
    halves = random.integers(0, 1 << 13, COUNT) * 2 + 1 << random.integers(0, bits - 13, COUNT)
    magnitude = np.where(random.random(COUNT) < 0.5, halves % (1 << bits), magnitude)
    magnitude[:8] = 0
    reach = random.integers(0, 2 << floats.exponent_bits, COUNT)
    low = random.random(COUNT) < 0.4
    reach[low] = random.integers(0, bits + 2, low.sum())
    negative, passes = random.integers(0, 2, (2, COUNT))
    exponent = reach + 1 - (bits - 1) + floats.fraction_bits
    words, overflows = floats.pack(negative, magnitude, exponent)
    # What passes is no more than an all-ones exponent's word, and a zero has the special's sign.
    passes &= overflows == 0
    special = {"nan": random.random(COUNT) < 0.05, "infinite": random.random(COUNT) < 0.05}
    sign = random.integers(0, 2, COUNT)
    words = np.where(magnitude == 0, sign << 15, words)
    words = np.where(special["infinite"], floats.infinity | sign << 15, words)
    words = np.where(special["nan"], floats.nan, words)
    overflows &= ~(special["nan"] | special["infinite"])
    inputs = {"magnitude": magnitude, "reach": reach, "negative": negative, "passes": passes}
    inputs |= {f"special.{name}": values for name, values in (*special.items(), ("negative", sign))}
    found = clock_through(unit, inputs, ["word", "overflow"], extra=unit.latency)
    assert np.array_equal(found["word"][unit.latency :], words)
    assert np.array_equal(found["overflow"][unit.latency :], overflows)
    assert 0 < overflows.sum() < COUNT
