# SPDX-License-Identifier: Apache-2.0
"""A bad line ends in an error in bounded time, never in a wrong result, and the next call works."""

import time

import numpy as np
import pytest

from ropeway.boards.link import Link, LinkError
from tests.boards.fake_board import FakeBoard
from tests.boards.mangler import FAULTS, Mangler
from tests.boards.test_link import BOARD, POSITIONS, YARN, golden, heads

CALLS, MOST_CALLS = 3, 40
LONGEST = 5.0  # seconds that a call may take, on a busy machine too
MIXTURE = "everything"


def opened(line: Mangler) -> Link:
    """A link over a bad line, as soon as one can be had."""
    for _ in range(20):
        try:
            return Link(line.url, silence=0.02, patience=0.1)
        except LinkError:
            continue
    raise TimeoutError("no link in twenty attempts")


def called(link: Link, tokens: int = 5) -> bool:
    """Whether a rotation succeeds; then it is right. Else it says why, in bounded time."""
    q, k, start = heads(3, tokens=tokens), heads(1, 2, tokens=tokens), time.monotonic()
    try:
        link.load(YARN)
        found = link.rotate(q, k, POSITIONS[:tokens])
    except LinkError:
        return False
    finally:
        assert time.monotonic() - start < LONGEST
    for array, wanted in zip(found, golden([q, k], POSITIONS[:tokens]), strict=True):
        assert np.array_equal(array, wanted), "a wrong result"
    return True


@pytest.mark.parametrize(
    ("fault", "seed"), [*((fault, 1) for fault in FAULTS), *((MIXTURE, seed) for seed in range(3))]
)
def test_a_bad_line_never_gives_a_wrong_result(fault, seed):
    faults = FAULTS if fault == MIXTURE else (fault,)
    with (
        FakeBoard(BOARD) as board,
        Mangler(board.url, faults, seed, every=4000, garbage=13 * seed) as line,
        opened(line) as link,
    ):
        outcomes = []
        while len(outcomes) < CALLS or all(outcomes):
            outcomes.append(called(link))
            assert len(outcomes) < MOST_CALLS, "no fault is felt"
        line.heal()
        assert called(link) or called(link), "not well again"
        assert called(link)
    assert line.befallen[faults[0]] > 0 or fault == MIXTURE


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("side", ["host", "board"])
def test_one_fault_anywhere_is_felt_and_mended(side, fault):
    """What a call sends, and is answered, is some 3,000 bytes."""
    random = np.random.default_rng(FAULTS.index(fault))
    with FakeBoard(BOARD) as board, Mangler(board.url) as line, opened(line) as link:
        assert called(link)
        for at in random.integers(0, 1200, 3).tolist():
            line.strike(side, fault, at)
            assert not called(link), f"byte {at}"
            assert called(link), f"byte {at}"
    assert line.befallen[fault] == 3
