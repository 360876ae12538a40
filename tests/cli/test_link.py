# SPDX-License-Identifier: Apache-2.0
"""``ropeway link`` and ``ropeway inspect --compare`` with a board at a port."""

import json

import numpy as np
import pytest

from ropeway.golden import geometry_of
from ropeway.golden.rotation import rope
from ropeway.golden.table import HeadPattern
from tests.boards.fake_board import FakeBoard
from tests.boards.test_link import BOARD


@pytest.fixture
def board():
    with FakeBoard(BOARD) as fake:
        yield fake


def heads(count: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.integers(-20_000, 20_000, (4, count, 16), dtype=np.int16)


ARRAYS = {"q": heads(4, 1), "k": heads(2, 2), "positions": np.array([0, 3, -1, 120])}


def test_info_says_what_the_board_is_and_holds(ropeway, board, tiny):
    called = ropeway("link", board.url, "info", "--json")
    assert (called.status, called.err) == (0, "")
    facts = json.loads(called.out)
    assert (facts["lanes"], facts["bits"], facts["units"]) == (2, 16, ["rope"])
    assert facts["slots"] == {"0": None, "1": None}
    assert facts["self_test"] == "none"
    print_of = geometry_of(tiny).fingerprint
    called = ropeway("link", board.url, "load", tiny)
    assert (called.status, called.err) == (0, "")
    assert called.out == f"{board.url}: default of {tiny}, fingerprint {print_of}\n"
    called = ropeway("link", board.url, "info")
    assert called.status == 0
    assert f"slots 0                {print_of}\n" in called.out
    assert "max_head_dim           64\n" in called.out


def test_a_board_s_digest_is_compared_with_a_config_s(ropeway, board, tiny):
    called = ropeway("inspect", "--compare", tiny, board.url)
    assert called.status == 1
    assert called.out.endswith(f"{board.url} has nothing\n")
    assert ropeway("link", board.url, "load", tiny).status == 0
    called = ropeway("inspect", "--compare", tiny, board.url)
    assert (called.status, called.err) == (0, "")
    assert called.out == f"{tiny} and {board.url}: the same geometry\n"
    called = ropeway("inspect", "--compare", "llama-3.2-1b", board.url, tiny)
    assert called.status == 1
    first, second = called.out.splitlines()
    assert first == (
        f"default.fingerprint differs: llama-3.2-1b has"
        f" {geometry_of('llama-3.2-1b').fingerprint}, {board.url} has"
        f" {geometry_of(tiny).fingerprint} in slot 0"
    )
    assert "differs" in second


def test_arrays_are_rotated_on_the_board_and_reported(ropeway, board, tiny, tmp_path):
    np.savez(tmp_path / "in.npz", **ARRAYS)
    output = tmp_path / "out.npz"
    called = ropeway("link", board.url, "run", tiny, tmp_path / "in.npz", "-o", output, "--json")
    assert (called.status, called.err) == (0, "")
    report = json.loads(called.out)
    assert (report["engine"], report["lanes"], report["bits"]) == ("board", 2, 16)
    assert report["fingerprint"] == geometry_of(tiny).fingerprint
    assert 0.2 < report["max_error_lsb"] < 1
    table = geometry_of(tiny).table(HeadPattern(4, 2))
    data = np.concatenate([ARRAYS["q"], ARRAYS["k"]], axis=1)
    wanted, _ = rope(BOARD.core.rope, table, data, ARRAYS["positions"])
    with np.load(output) as archive:
        assert np.array_equal(archive["q"], wanted[:, :4])
        assert np.array_equal(archive["k"], wanted[:, 4:])
        assert json.loads(str(archive["report"])) == report


@pytest.mark.parametrize("option", ["--conjugate", "--no-amplitude", "--k-only"])
@pytest.mark.parametrize("dtype", [np.int16, np.float32])
def test_the_board_gives_what_run_gives(ropeway, board, tiny, tmp_path, option, dtype):
    given = ARRAYS if option != "--k-only" else {n: a for n, a in ARRAYS.items() if n != "q"}
    arrays = {n: a if n == "positions" else a.astype(dtype) for n, a in given.items()}
    np.savez(tmp_path / "in.npz", **arrays)
    scaling = '{"rope_type": "yarn", "factor": 8, "original_max_position_embeddings": 32}'
    found = []
    for words in (("run",), ("link", board.url, "run")):
        output = tmp_path / f"{len(found)}.npz"
        options = (tmp_path / "in.npz", "-o", output, option, "--scaling", scaling)
        assert ropeway(*words, tiny, *options).status == 0
        with np.load(output) as archive:
            found.append(dict(archive))
    for kind in given.keys() - {"positions"}:
        assert found[1][kind].dtype == dtype
        assert np.array_equal(found[0][kind], found[1][kind])
        assert not np.array_equal(found[1][kind], arrays[kind])


def test_a_board_that_turns_wrongly_is_told_and_the_output_is_written(
    ropeway, board, tiny, tmp_path, monkeypatch
):
    turn = board.device._turn
    monkeypatch.setattr(board.device, "_turn", lambda words, place: turn(words ^ 1, place))
    np.savez(tmp_path / "in.npz", **ARRAYS)
    output = tmp_path / "out.npz"
    called = ropeway("link", board.url, "run", tiny, tmp_path / "in.npz", "-o", output)
    assert called.status == 1
    assert "elements of q differ from golden, the first at [0, 0, 0]" in called.err
    assert output.exists()


def test_the_self_test_is_compared_with_golden(ropeway, board, tiny):
    called = ropeway("link", board.url, "self-test", tiny, "--tokens", 50, "--json")
    assert (called.status, called.err) == (0, "")
    report = json.loads(called.out)
    assert (report["tokens"], report["fault"]) == (50, None)
    board.device.wrong.add("stimulus")
    called = ropeway("link", board.url, "self-test", tiny, "--tokens", 50)
    assert called.status == 1
    assert called.err.startswith("ropeway: failed: self-test: the signature is ")
    assert len(called.err.splitlines()) == 1


def test_registers_are_read_and_written(ropeway, board):
    called = ropeway("link", board.url, "read", "targets")
    assert called.status == 0
    assert called.out.splitlines()[2] == "targets.ROPE_SLOTS = 2 (0x2)"
    for values, wanted in (
        (("slot=1", "pure=1"), [1, 0, 1, 0]),
        (("0x102",), [2, 1, 0, 0]),
    ):
        assert ropeway("link", board.url, "write", "AUTO_USE", *values).status == 0
        told = ropeway("link", board.url, "read", "AUTO_USE").out.splitlines()
        assert [int(line.split()[2]) for line in told] == wanted
    assert ropeway("link", board.url, "write", "AUTO_BASE", -5).status == 0
    assert ropeway("link", board.url, "read", "AUTO_BASE").out.startswith("AUTO_BASE = -5 ")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["run", "TINY", "none.npz", "-o", "out.npz"], "none.npz"),
        (["load", "llama-3.1-8b"], "head_dim = 128: must be at most 64"),
        (["load", "mpt-7b"], "scheme = alibi"),
        (["self-test", "TINY", "--tokens", "0"], "tokens = 0"),
        (["self-test", "TINY", "--seed", "no"], "seed = no"),
        (["read", "NOTHING"], "register = NOTHING: is not of this board"),
        (["read", "LOAD"], "register = LOAD: is only to be written"),
        (["read", "A-B"], "register = A-B: must be NAME or NAME[N]"),
        (["read", "FINGERPRINT[7]"], "FINGERPRINT = 7"),
        (["write", "IDENT", "1"], "register = IDENT: is only to be read"),
        (["write", "AUTO_COUNT", "many"], "AUTO_COUNT = many: must be an integer"),
        (["write", "AUTO_USE", "turn=1"], "AUTO_USE.turn = 1"),
        (["write", "AUTO_USE", "slot=256"], "AUTO_USE_SLOT = 256: must be from 0 to 255"),
        (["fly"], "invalid choice"),
        ([], "ACTION"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    ropeway, board, tiny, tmp_path, monkeypatch, words, names
):
    monkeypatch.chdir(tmp_path)
    called = ropeway("link", board.url, *(tiny if word == "TINY" else word for word in words))
    assert (called.status, called.out) == (2, "")
    assert called.err.startswith("ropeway: error: ")
    assert len(called.err.splitlines()) == 1
    assert names in called.err
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize(
    ("port", "options", "names"),
    [
        ("socket://127.0.0.1:1", [], "port = socket://127.0.0.1:1: cannot be opened"),
        ("/dev/not-there", [], "port = /dev/not-there: cannot be opened: No such file"),
        ("gopher://x", [], "port = gopher://x: cannot be opened"),
        ("elsewhere", [], "port = elsewhere: must be like"),
        ("/dev/not-there", ["--baud", "7"], "baud = 7: must be from 300"),
    ],
)
def test_a_port_that_cannot_be_is_one_line_and_exit_2(ropeway, port, options, names):
    called = ropeway("link", port, *options, "info")
    assert (called.status, called.out) == (2, "")
    assert called.err.startswith(f"ropeway: error: {names}")
    assert len(called.err.splitlines()) == 1


def test_a_board_that_is_silent_is_one_line_and_exit_1(ropeway, board, monkeypatch):
    monkeypatch.setattr(board.device, "take", lambda _data: b"")
    called = ropeway("link", board.url, "info")
    assert (called.status, called.out) == (1, "")
    assert called.err.startswith(f"ropeway: failed: link: no board is found at {board.url}: 0 of")
    assert len(called.err.splitlines()) == 1


def test_what_is_no_ropeway_board_is_told(ropeway, board, monkeypatch):
    read = board.device._read

    def other(register, number):
        return 0xBAD if register.name == "BOARD_IDENT" else read(register, number)

    monkeypatch.setattr(board.device, "_read", other)
    called = ropeway("link", board.url, "info")
    assert called.status == 1
    assert "is no Ropeway board: it identifies as 0x00000bad" in called.err


def test_a_config_stands_first_in_a_comparison(ropeway, board, tiny):
    called = ropeway("inspect", "--compare", board.url, tiny)
    assert called.status == 2
    assert "must be a config, and boards' ports behind it" in called.err
