# SPDX-License-Identifier: Apache-2.0
"""Work in several processes: what comes first is given first, and one that raises ends all."""

import time

import pytest

from ropeway.sim.pool import as_they_come


def waited(seconds: float) -> float:
    """Sleeps; raises where it should be less than nothing."""
    time.sleep(seconds)
    return seconds


def test_what_is_done_first_comes_first():
    assert list(as_they_come(waited, [0.5, 0.0], jobs=2, address=None)) == [0.0, 0.5]


def test_an_item_that_raises_ends_all_others():
    begun = time.monotonic()
    with pytest.raises(ValueError, match="sleep length must be non-negative"):
        list(as_they_come(waited, [-1.0, *[2.0] * 20], jobs=2, address=None))
    assert time.monotonic() - begun < 15
