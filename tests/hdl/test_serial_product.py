# SPDX-License-Identifier: Apache-2.0
"""Shifts and additions give the exact product, in the clocks that are stated."""

import numpy as np
import pytest

from ropeway.hdl.serial_product import SerialProduct
from tests.hdl.benches import simulate


@pytest.mark.parametrize("bits", [10, 17, 28])
def test_every_product_is_exact_a_latency_after_its_start(bits):
    product, random = SerialProduct(48, bits), np.random.default_rng(bits)
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    counts = [0, 1, -1, 2, -2, low, high, *random.integers(low, high + 1, 60).tolist()]
    factors = [0, 1, (1 << 48) - 1, *random.integers(0, 1 << 48, 7).tolist()]

    async def bench(ctx):
        for number, count in enumerate(counts):
            factor = factors[number % len(factors)]
            ctx.set(product.factor, factor)
            ctx.set(product.count, count)
            ctx.set(product.start, 1)
            await ctx.tick()
            ctx.set(product.start, 0)
            clocks = 1
            while not ctx.get(product.done):
                await ctx.tick()
                clocks += 1
                assert clocks < 40
            assert ctx.get(product.product) == factor * count
            assert clocks == product.latency

    simulate(product, bench)


def test_a_second_start_drops_the_first():
    product = SerialProduct(48, 28)

    async def bench(ctx):
        ctx.set(product.factor, 12345)
        for count in (-77, 99):
            ctx.set(product.count, count)
            ctx.set(product.start, 1)
            await ctx.tick()
            ctx.set(product.start, 0)
            await ctx.tick().repeat(4)
        dones = 0
        for _ in range(30):
            dones += ctx.get(product.done)
            await ctx.tick()
        assert dones == 1
        assert ctx.get(product.product) == 12345 * 99

    simulate(product, bench)
