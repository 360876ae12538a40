# SPDX-License-Identifier: Apache-2.0
"""A FIFO of block RAM gives what it took, in order, and says how much it holds."""

from collections import deque

import numpy as np
import pytest

from ropeway.hdl.block_fifo import BlockFifo
from tests.hdl.benches import simulate, stream_through

LATENCY, INTERVAL = 3, 3


@pytest.mark.parametrize("stall", [0.0, 0.5], ids=["no stall", "stall"])
@pytest.mark.parametrize("idle", [0.7, 0.9], ids=["idle", "more idle"])
@pytest.mark.parametrize("seed", range(2))
def test_items_come_out_in_order(seed, idle, stall):
    items = np.random.default_rng(seed).integers(0, 512, 200).tolist()
    fifo = BlockFifo(9, 256)
    assert stream_through(fifo, items, idle=idle, stall=stall, seed=seed).items == items


def test_an_item_takes_3_clocks_and_so_does_the_next():
    run = stream_through(BlockFifo(8, 16), range(16))
    assert run.items == list(range(16))
    assert run.clocks_out[0] == run.clocks_in[0] + LATENCY
    assert set(np.diff(run.clocks_out)) == {INTERVAL}


@pytest.mark.parametrize("seed", range(3))
def test_it_holds_its_depth_loses_what_is_beyond_and_tells_its_level(seed):
    random, fifo = np.random.default_rng(seed), BlockFifo(8, 16)
    held: deque[int] = deque()
    lost = []

    async def testbench(ctx):
        for clock in range(1200):
            busy = clock // 200 % 2  # now it fills, now it empties
            push, pop = random.random() < (0.2, 0.5)[busy], random.random() < (0.9, 0.3)[busy]
            item = int(random.integers(256))
            ctx.set(fifo.i.valid, push)
            ctx.set(fifo.i.payload, item)
            ctx.set(fifo.o.ready, pop)
            _, _, level, full, valid, out = await ctx.tick().sample(
                fifo.level, fifo.full, fifo.o.valid, fifo.o.payload
            )
            assert (level, full) == (len(held), len(held) == 16)
            if valid:
                assert out == held[0]
            if push and not full:
                held.append(item)
            elif push:
                lost.append(item)
            if valid and pop:
                held.popleft()

    simulate(fifo, testbench)
    assert lost
