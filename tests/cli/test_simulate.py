# SPDX-License-Identifier: Apache-2.0
"""``ropeway simulate`` is refused in one line where it cannot be; tests/sim has what it does."""

import pytest

from ropeway.cli import main

REFUSED = {
    "no such board": (["nothing"], "board = "),
    "no such port": (["icebreaker", "--tcp", "65536"], "tcp = 65536"),
    "no number": (["icebreaker", "--tcp", "x"], "tcp = x"),
    "both ports": (["icebreaker", "--tcp", "0", "--pty"], "command = "),
    "no such scheme": (["icebreaker", "--scheme", "alibi"], "scheme = alibi"),
    "slow": (["icebreaker", "--baud", "0"], "baud = 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_simulated_is_named_in_one_line(case, capsys):
    words, key = REFUSED[case]
    assert main(["simulate", *words]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"ropeway: error: {key}")
    assert printed.err.count("\n") == 1


def test_a_board_that_does_not_compile_fails_and_says_so(capsys, monkeypatch):
    def broken(*_args, **_more):
        raise RuntimeError("no compiler\nhere")

    monkeypatch.setattr("ropeway.sim.board.NativeModel", broken)
    assert main(["simulate", "icebreaker"]) == 1
    assert capsys.readouterr().err == "ropeway: failed: simulation: no compiler here\n"


def test_its_port_is_told_and_it_lasts_until_it_is_stopped(capsys, monkeypatch):
    waited = []

    class Board:
        def __init__(self, hosted, port):
            waited.append((hosted.baud, hosted.clock_hz, bool(hosted.image)))
            self.url, self._port = port.url, port

        def __enter__(self):
            return self

        def __exit__(self, *_error):
            self._port.close()

        def wait(self):
            raise KeyboardInterrupt

    monkeypatch.setattr("ropeway.sim.board.SimulatedBoard", Board)
    assert main(["simulate", "icebreaker", "--pty", "--baud", "5000"]) == 130
    assert waited == [(5000, 20_000, True)]
    assert capsys.readouterr().out.startswith("/dev/")
