# SPDX-License-Identifier: Apache-2.0
"""Words become something wider and something wide becomes words, the lowest first."""

import numpy as np
import pytest

from ropeway.hdl.word_gather import WordGather
from ropeway.hdl.word_spread import WordSpread
from tests.hdl.benches import stream_through

TRAFFIC = pytest.mark.parametrize(("idle", "stall"), [(0, 0), (0.5, 0), (0, 0.5), (0.4, 0.4)])
COUNTS = pytest.mark.parametrize("count", [1, 2, 3, 4])


def wide(words: list[int], count: int) -> list[int]:
    return [
        sum(word << 8 * n for n, word in enumerate(words[at : at + count]))
        for at in range(0, len(words), count)
    ]


def random_words(count: int) -> list[int]:
    return np.random.default_rng(count).integers(0, 256, 24).tolist()


@TRAFFIC
@COUNTS
def test_words_are_gathered(count, idle, stall):
    words = random_words(count)
    run = stream_through(
        WordGather(8, count), words, count=24 // count, idle=idle, stall=stall, seed=count
    )
    assert run.items == wide(words, count)
    if not idle and not stall:
        assert (run.clocks_out == run.clocks_in[count - 1 :: count]).all()


@TRAFFIC
@COUNTS
def test_items_are_spread(count, idle, stall):
    words = random_words(count)
    run = stream_through(
        WordSpread(8, count), wide(words, count), count=24, idle=idle, stall=stall, seed=count
    )
    assert run.items == words
    if not idle and not stall:
        assert (np.diff(run.clocks_out) == 1).all()
