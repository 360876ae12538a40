# SPDX-License-Identifier: Apache-2.0
"""A sum is exact, or its odd last bit says on which side of the next it is."""

from fractions import Fraction

import numpy as np
import pytest

from ropeway.hdl.float_sum import FloatSum
from tests.hdl.benches import clock_through

COUNT = 1500


@pytest.mark.parametrize(("exponent_bits", "bits"), [(5, 11), (8, 8), (8, 18), (9, 29)])
def test_every_sum_comes_a_latency_later(exponent_bits, bits):
    random, unit = np.random.default_rng(bits), FloatSum(exponent_bits, bits)
    exponents = random.integers(1, 1 << exponent_bits, (2, COUNT))
    near = exponents[0] + random.integers(-bits - 5, bits + 6, COUNT)
    near = np.clip(near, 1, (1 << exponent_bits) - 1)
    exponents[1] = np.where(random.random(COUNT) < 0.8, near, exponents[1])
    significands = random.integers(0, 1 << bits, (2, COUNT)) | 1 << bits - 1
    alike = random.random(COUNT) < 0.2
    significands[1, alike] = significands[0, alike] ^ 1
    negative = random.integers(0, 2, (2, COUNT))
    inputs = {
        f"{port}.{field}": values[number]
        for number, port in enumerate(("one", "other"))
        for field, values in (
            ("negative", negative),
            ("exponent", exponents),
            ("significand", significands),
        )
    }
    found = clock_through(unit, inputs, ["magnitude", "negative", "exponent"], extra=unit.latency)
    found = {name: values[unit.latency :].tolist() for name, values in found.items()}
    assert found["exponent"] == exponents.max(axis=0).tolist()
    inexact = 0
    for number in range(COUNT):
        unit_exponent = found["exponent"][number] - len(unit.magnitude) + 2
        exact = Fraction(0)
        for part in range(2):
            size = Fraction(2) ** (int(exponents[part, number]) - bits + 1 - unit_exponent)
            sign = -1 if negative[part, number] else 1
            exact += sign * int(significands[part, number]) * size
        magnitude = found["magnitude"][number]
        if magnitude & 1:
            inexact += 1
            assert magnitude - 1 < abs(exact) < magnitude + 1
        else:
            assert abs(exact) == magnitude
        assert exact == 0 or found["negative"][number] == (exact < 0)
    assert 100 < inexact < COUNT - 100
