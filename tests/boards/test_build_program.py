# SPDX-License-Identifier: Apache-2.0
"""`ropeway program` hands what was built to the board's loader, or says how."""

import hashlib
import json

import pytest

BITS = b"\xff\x00bits"


@pytest.fixture
def built(tmp_path):
    """A folder with a bitstream of an iCEBreaker."""
    folder = tmp_path / "built"
    folder.mkdir()
    record = {
        "board": "icebreaker",
        "bitstream": "icebreaker.bin",
        "bitstream_sha256": hashlib.sha256(BITS).hexdigest(),
    }
    (folder / "icebreaker.bin").write_bytes(BITS)
    (folder / "build.json").write_text(json.dumps(record))
    return folder


@pytest.fixture
def loader(tmp_path, monkeypatch):
    """An iceprog that notes what it is asked, and fails where a file says so."""
    tools = tmp_path / "tools"
    tools.mkdir()
    script = tools / "iceprog"
    script.write_text(f'#!/bin/sh\necho "$@" > {tools}/asked\ntest ! -e {tools}/fails\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    return tools


def test_the_loader_gets_the_bitstream(built, loader, ropeway):
    called = ropeway("program", "icebreaker", "-d", built)
    assert (called.status, called.err) == (0, "")
    assert (loader / "asked").read_text() == f"{built}/icebreaker.bin\n"


def test_a_loader_that_fails_is_a_failure(built, loader, ropeway):
    (loader / "fails").touch()
    called = ropeway("program", "icebreaker", "-d", built)
    assert called.status == 1
    assert called.err == f"ropeway: failed: {loader}/iceprog: status 1\n"


def test_a_loader_that_is_not_there_is_named_with_the_command(built, ropeway, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    called = ropeway("program", "icebreaker", "-d", built)
    assert called.status == 2
    command = f"iceprog {built}/icebreaker.bin"
    told = f"loader = iceprog: is not on the PATH; with it, run: {command}"
    assert called.err == f"ropeway: error: {told}\n"


def test_only_the_board_s_own_whole_bitstream_is_handed_over(
    built, loader, ropeway, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)  # where nobody has built anything

    def refused(*words: object) -> str:
        called = ropeway("program", *words)
        assert called.status == 2
        assert called.err.count("\n") == 1
        assert not (loader / "asked").exists()
        return called.err

    assert "board = upduino-v3: " in refused("upduino-v3", "-d", built)
    (built / "icebreaker.bin").write_bytes(BITS + b"!")
    assert "is not the one of build.json: build it again" in refused("icebreaker", "-d", built)
    (built / "icebreaker.bin").unlink()
    assert f"is not there: ropeway build icebreaker -o {built}" in refused(
        "icebreaker", "-d", built
    )
    assert "build/icebreaker" in refused("icebreaker")
    assert "board = icebraker" in refused("icebraker")
