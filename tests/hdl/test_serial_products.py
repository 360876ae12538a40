# SPDX-License-Identifier: Apache-2.0
"""Products two bits at a time are exact, and begin and drop what they are told."""

import numpy as np
import pytest
from amaranth.hdl import signed, unsigned

from ropeway.hdl.serial_products import SerialProducts
from tests.hdl.benches import clock_through

KINDS = {
    "two of 16 bits": (2, 16, signed(16), {"drop": 18}),
    "one, all of it": (1, 9, signed(13), {}),
    "unsigned": (1, 12, unsigned(15), {"drop": 3}),
    "modulo": (1, 48, signed(27), {"drop": 24, "initial": 1 << 23, "modulo": 48}),
}


def corners(bits: int, random: np.random.Generator, count: int) -> list[int]:
    high = (1 << bits) - 1
    return [0, 1, 2, 3, high, high - 1, 1 << bits - 1, *random.integers(0, high, count).tolist()]


@pytest.mark.parametrize("kind", KINDS)
def test_products_come_a_latency_later_and_stay(kind):
    factors, factor_bits, shape, options = KINDS[kind]
    unit = SerialProducts(factors, factor_bits, shape, **options)
    random = np.random.default_rng(factor_bits)
    counts = random.permutation(corners(shape.width, random, 50)).tolist()
    given = [random.permutation(corners(factor_bits, random, 50)).tolist() for _ in range(factors)]
    interval = unit.latency

    def spread(values, *, held=True):
        return [v for value in values for v in (value, *[value * held] * (interval - 1))]

    # A factor is there a clock after its start, and until the products are.
    late = {f"factors.{i}": [0, *spread(values)][:-1] for i, values in enumerate(given)}
    found = clock_through(
        unit,
        {"count": spread(counts, held=False), "start": spread([1] * len(counts), held=False)}
        | late,
        ["done", *(f"products.{i}" for i in range(factors))],
        extra=interval + 1,
    )
    at = interval * (1 + np.arange(len(counts)))
    assert found["done"][at].all()
    assert found["done"].sum() == len(counts)
    drop, width = options.get("drop", 0), len(unit.products[0])
    for i, values in enumerate(given):
        for clock, count, factor in zip(at, counts, values, strict=True):
            sign = (count >> shape.width - 1 << shape.width) if shape.signed else 0
            product = options.get("initial", 0) + (count - sign) * factor >> drop
            assert int(found[f"products.{i}"][clock]) & (1 << width) - 1 == product & (
                (1 << width) - 1
            )
