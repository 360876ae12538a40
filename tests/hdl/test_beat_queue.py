# SPDX-License-Identifier: Apache-2.0
"""A deep queue gives its items in order, one a clock, and holds what waits."""

import numpy as np
import pytest

from ropeway.hdl.beat_queue import BeatQueue
from tests.hdl.benches import stream_through

DEPTH = 32
ITEMS = np.random.default_rng(0).integers(0, 1 << 12, DEPTH - 1).tolist()


@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("idle", [0.0, 0.5])
def test_items_come_out_in_their_order(idle, stall):
    queue = BeatQueue(12, DEPTH)
    result = stream_through(queue, ITEMS, idle=idle, stall=stall, seed=1)
    assert result.items == ITEMS


def test_the_stated_latency_and_interval_are_measured():
    queue = BeatQueue(12, DEPTH)
    result = stream_through(queue, ITEMS)
    assert result.clocks_out[0] - result.clocks_in[0] == queue.latency
    assert np.all(np.diff(result.clocks_out) == queue.interval)


def test_one_item_less_than_its_depth_fits():
    queue = BeatQueue(12, DEPTH)
    result = stream_through(queue, ITEMS, stall=0.98, seed=3, timeout=3000)
    assert result.clocks_in[-1] < result.clocks_out[0]
    assert result.items == ITEMS
