# SPDX-License-Identifier: Apache-2.0
"""Items pass a slice of ready at once, in their order, however its sink waits."""

import numpy as np
import pytest

from ropeway.hdl.ready_slice import ReadySlice
from tests.hdl.benches import stream_through

ITEMS = np.random.default_rng(0).integers(0, 1 << 12, 100).tolist()


@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("idle", [0.0, 0.5])
def test_items_come_out_in_their_order(idle, stall):
    result = stream_through(ReadySlice(12), ITEMS, idle=idle, stall=stall, seed=1)
    assert result.items == ITEMS


def test_the_stated_latency_and_interval_are_measured():
    slice_ = ReadySlice(12)
    result = stream_through(slice_, ITEMS)
    assert result.clocks_out[0] - result.clocks_in[0] == slice_.latency
    assert np.all(np.diff(result.clocks_out) == slice_.interval)
