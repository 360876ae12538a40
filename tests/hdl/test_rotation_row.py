# SPDX-License-Identifier: Apache-2.0
"""Rows are written a pair at a time and read an entry at a time, from any row of the ring."""

import numpy as np
import pytest
from amaranth.hdl import Value

from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.rotation_row import RotationRow
from tests.hdl.benches import simulate


@pytest.mark.parametrize("lanes", [1, 2, 4])
@pytest.mark.parametrize("rows", [2, 4])
def test_what_is_written_is_read_while_the_next_rows_are_written(lanes, rows):
    p = RopeParameters(lanes=lanes, rows=rows, max_head_dim=32)
    component = RotationRow(p)
    random = np.random.default_rng(lanes)
    lengths = lanes * random.integers(1, p.max_pairs // lanes + 1, 3 * rows)
    width = len(Value.cast(component.coefficients[0]))
    written = [
        [int(w) % (1 << width) for w in random.integers(0, 1 << 62, length)] for length in lengths
    ]
    entries = 0

    async def write(ctx, words):
        nonlocal entries
        ctx.set(component.soon, 1)
        await ctx.tick()
        for number, word in enumerate(words):
            last = number == len(words) - 1
            ctx.set(component.soon, not last)
            ctx.set(component.i.valid, 1)
            ctx.set(Value.cast(component.i.payload.coefficients), word)
            ctx.set(component.i.payload.last, last)
            _, _, whole = await ctx.tick().sample(component.written)
            assert whole == (number % lanes == lanes - 1)
            entries += whole
        ctx.set(component.i.valid, 0)
        for _ in range(3):
            _, _, whole = await ctx.tick().sample(component.written)
            assert not whole

    async def testbench(ctx):
        for number, words in enumerate(written):
            await write(ctx, words)
            # The newest row and, where it is not overwritten yet, the one before.
            for back in range(min(2, number + 1)):
                expected = written[number - back]
                ctx.set(component.row, (number - back) % rows)
                for entry in range(len(expected) // lanes):
                    ctx.set(component.entry, entry)
                    await ctx.tick().repeat(component.latency)
                    found = [ctx.get(Value.cast(c)) for c in component.coefficients]
                    assert found == expected[entry * lanes : (entry + 1) * lanes]

    simulate(component, testbench)
    assert entries == sum(lengths) // lanes
