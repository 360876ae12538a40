# SPDX-License-Identifier: Apache-2.0
"""Two banks serve natural and pair order, without conflict, for blocks of every size."""

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.head_buffer import HeadBuffer
from tests.hdl.benches import simulate

P = RopeParameters(lanes=1, max_head_dim=64)


def bank_of(word: int, half: int) -> int:
    """A word's bank: its parity, flipped in the second half where that begins evenly."""
    return (word & 1) ^ (word >= half and half % 2 == 0)


@pytest.mark.parametrize("half", range(1, 17))
def test_a_block_is_read_in_both_orders_in_one_access_each(half):
    # 2·half words: written beat by beat; read as words g and half + g, and beat by beat.
    buffer = HeadBuffer(P)
    words = np.random.default_rng(half).integers(1, 1 << 16, 2 * half).tolist()
    found: dict[str, list[tuple[int, int]]] = {"pairs": [], "beats": []}

    async def read(ctx, first: int, second: int) -> tuple[int, int]:
        banks = bank_of(first, half), bank_of(second, half)
        assert sorted(banks) == [0, 1], "two words of one access in one bank"
        ctx.set(buffer.read_addresses[banks[0]], first // 2)
        ctx.set(buffer.read_addresses[banks[1]], second // 2)
        await ctx.tick().repeat(buffer.latency)
        by_bank = [ctx.get(word) for word in buffer.read_words]
        return by_bank[banks[0]], by_bank[banks[1]]

    async def testbench(ctx):
        for beat in range(half):
            ctx.set(buffer.write_enable, 1)
            for place in range(2):
                bank = bank_of(2 * beat + place, half)
                ctx.set(buffer.write_addresses[bank], beat)
                ctx.set(buffer.write_words[bank], words[2 * beat + place])
            await ctx.tick()
        ctx.set(buffer.write_enable, 0)
        await ctx.tick()
        for number in range(half):
            found["pairs"].append(await read(ctx, number, half + number))
            found["beats"].append(await read(ctx, 2 * number, 2 * number + 1))

    simulate(buffer, testbench)
    assert found["pairs"] == list(zip(words[:half], words[half:], strict=True))
    assert found["beats"] == list(zip(words[0::2], words[1::2], strict=True))
