# SPDX-License-Identifier: Apache-2.0
"""Leading zeros are counted, a value every clock."""

import numpy as np
import pytest

from ropeway.hdl.leading_zeros import LeadingZeros
from tests.hdl.benches import clock_through


@pytest.mark.parametrize("bits", [8, 16, 20, 36])
def test_every_count_comes_a_latency_later(bits):
    random = np.random.default_rng(bits)
    lengths = random.permutation(np.repeat(np.arange(bits + 1), 8))
    values = [int(random.integers(0, 1 << n)) | 1 << n >> 1 for n in lengths.tolist()]
    unit = LeadingZeros(bits)
    found = clock_through(unit, {"value": values}, ["zeros", "none"], extra=unit.latency)
    assert np.array_equal(found["zeros"][unit.latency :], np.minimum(bits - lengths, bits - 1))
    assert np.array_equal(found["none"][unit.latency - 1 : -1], lengths == 0)
