# SPDX-License-Identifier: Apache-2.0
"""A link to the hardware of a board, simulated: loaded, streamed through, tested and shot at."""

import json
import time

import numpy as np
import pytest

from ropeway.boards.link import Link, LinkError
from ropeway.golden import geometry_of
from ropeway.golden.rotation import rope
from ropeway.golden.table import HeadPattern
from ropeway.sim.board import SimulatedBoard
from tests.boards.mangler import FAULTS, Mangler
from tests.boards.simulated import CACHE, DEFAULT, SILENCE, SIMULATED

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}
CONFIG, OPTIONS = "qwen2.5-7b", {"scaling": YARN, "tp": (0, 4)}  # 7 heads and 1 of 128
ARGUMENTS = (CONFIG, "--scaling", json.dumps(YARN), "--tp", "0/4")
POSITIONS = np.array([0, 131_071, -17])
LONGEST = 10.0  # seconds that a call may take, on a busy machine too


@pytest.fixture(scope="module")
def board():
    with SimulatedBoard(SIMULATED, cache=CACHE) as simulated:
        yield simulated


def linked(url: str) -> Link:
    return Link(url, silence=SILENCE)


def heads(count: int, seed: int, tokens: int = len(POSITIONS)) -> np.ndarray:
    shape = (tokens, count, 128)
    return np.random.default_rng(seed).integers(-20_000, 20_000, shape, dtype=np.int16)


def golden(q: np.ndarray, k: np.ndarray, positions=POSITIONS) -> tuple[np.ndarray, np.ndarray]:
    table = geometry_of(CONFIG, **OPTIONS).table(HeadPattern(q.shape[1], k.shape[1]))
    out, _ = rope(SIMULATED.core.rope, table, np.concatenate([q, k], axis=1), positions)
    return out[:, : q.shape[1]], out[:, q.shape[1] :]


def test_a_board_tells_what_it_did_at_power_on(board):
    board.power_cycle()
    with linked(board.url) as link:
        assert link.parameters.core == SIMULATED.core
        assert link.parameters.clock_hz == SIMULATED.clock_hz
        status = link.read("SELF_TEST_STATUS")
        assert status == {"busy": 0, "done": 1, "matched": 1}
        assert link.fingerprint(0) == DEFAULT.fingerprint
        steady = 20 * SIMULATED.core.rope.clocks_per_token(DEFAULT)
        assert 0 <= link.read("SELF_TEST_CLOCKS")["value"] - steady < 256
        assert link.counters()["tokens"] == 20
    assert board.led("passed")
    assert not board.led("failed")


def test_a_yarn_table_is_loaded_heads_are_turned_and_the_core_is_tested(board):
    q, k = heads(7, 1), heads(1, 2)
    with linked(board.url) as link:
        assert link.load(CONFIG, **OPTIONS) == geometry_of(CONFIG, **OPTIONS).fingerprint
        for found, wanted in zip(link.rotate(q, k, POSITIONS), golden(q, k), strict=True):
            assert np.array_equal(found, wanted)
        assert link.fingerprint(0) == geometry_of(CONFIG, **OPTIONS).fingerprint
        counters = link.counters()
        assert counters["tokens"] == counters["positions"] == len(POSITIONS)
        assert counters["beats_in"] == counters["beats_out"] == len(POSITIONS) * 8 * 32
        report = link.self_test(60, seed=9, base=-30)
        assert report.fault is None
        assert report.signature == report.expected_signature
        assert link.counters()["tokens"] == len(POSITIONS) + 60


def test_the_command_does_all_of_it(ropeway, board, tmp_path):
    port = board.url
    np.savez(tmp_path / "in.npz", q=heads(7, 3), k=heads(1, 4), positions=POSITIONS)
    called = ropeway("link", port, "self-test", *ARGUMENTS, "--tokens", 30, "--json")
    assert (called.status, called.err) == (0, "")
    assert json.loads(called.out)["fault"] is None
    output = tmp_path / "out.npz"
    called = ropeway("link", port, "run", *ARGUMENTS, tmp_path / "in.npz", "-o", output)
    assert (called.status, called.err) == (0, "")
    with np.load(output) as archive:
        for kind, wanted in zip("qk", golden(heads(7, 3), heads(1, 4)), strict=True):
            assert np.array_equal(archive[kind], wanted)
    assert ropeway("inspect", "--compare", CONFIG, port, *ARGUMENTS[1:]).status == 0
    assert ropeway("inspect", "--compare", CONFIG, port).status == 1


def called(link: Link) -> bool:
    """Whether a rotation succeeds; then it is right. Else it says why, in bounded time."""
    q, k, start = heads(1, 7, tokens=1), heads(1, 8, tokens=1), time.monotonic()
    try:
        link.load(CONFIG, scaling=YARN, tp=(0, 28))
        found = link.rotate(q, k, POSITIONS[1:2])
    except LinkError:
        return False
    finally:
        assert time.monotonic() - start < LONGEST
    for each, wanted in zip(found, golden(q, k, POSITIONS[1:2]), strict=True):
        assert np.array_equal(each, wanted), "a wrong result"
    return True


def test_a_board_whose_power_went_is_found_and_loaded_again(board):
    with linked(board.url) as link:
        assert called(link)
        board.power_cycle()
        with pytest.raises(LinkError, match="the board is found again"):
            link.fingerprint(0)
        assert called(link)


@pytest.mark.parametrize("side", ["host", "board"])
def test_one_fault_anywhere_is_felt_and_mended(board, side):
    random = np.random.default_rng(5)
    with Mangler(board.url) as line, linked(line.url) as link:
        assert called(link)
        for fault in FAULTS if side == "host" else ("loss", "corruption", "insertion"):
            at = int(random.integers(0, 400))
            line.strike(side, fault, at)
            assert not called(link), f"{fault} at byte {at}"
            assert called(link), f"{fault} at byte {at}"
