# SPDX-License-Identifier: Apache-2.0
"""The command's frame: verbs, exit codes and the one line that every error is told in."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from ropeway import cli

COMMAND = [sys.executable, "-m", "ropeway.cli"]


def process(*words: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, check=False, **options
    )


def assert_one_line(text: str):
    assert text.startswith("ropeway: error: ")
    assert text.count("\n") == 1
    assert " = " in text
    assert ": " in text.split(" = ", 1)[1]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], "VERB"),
        (["levitate"], "levitate"),
        (["run"], "INPUT.npz"),
        (["run", "config.json", "in.npz"], "--output"),
        (["run", "config.json", "in.npz", "-o"], "--output"),
        (["run", "config.json", "in.npz", "-o", "out.npz", "--colour", "red"], "--colour"),
        (["run", "config.json", "in.npz", "-o", "out.npz", "--eng", "sim"], "--eng"),
        (["run", "config.json", "in.npz", "extra.npz", "-o", "out.npz"], "extra.npz"),
        (["run", "config.json", "in.npz", "-o", "out.npz", "--bits", "wide"], "wide"),
        (["table", "config.json"], "--output"),
        (["inspect", "no such\nfile"], "no such file"),
        (["demo", "surplus"], "surplus"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(ropeway, words, names):
    called = ropeway(*words)
    assert called.status == 2
    assert called.out == ""
    assert_one_line(called.err)
    assert names in called.err


def test_help_names_every_verb_and_every_verb_has_a_module(capsys):
    with pytest.raises(SystemExit) as exited:
        cli.main(["--help"])
    assert exited.value.code == 0
    told = capsys.readouterr().out
    for verb in cli.VERBS:
        assert f"    {verb} " in told
        assert callable(import_module(f"ropeway.cli.{verb}").run)


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_explains_itself(capsys, verb):
    with pytest.raises(SystemExit) as exited:
        cli.main([verb, "--help"])
    assert exited.value.code == 0
    assert cli.VERBS[verb] in capsys.readouterr().out.replace("\n", " ")


def test_help_imports_neither_numpy_nor_amaranth():
    script = (
        "import sys; from ropeway.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'numpy', 'amaranth', 'matplotlib'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_module_is_the_command():
    done = process("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("ropeway ")


def test_terminal_of_few_letters_is_written_to(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = process("inspect", "llama-3.1-8b")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()


def test_closed_output_is_no_error():
    done = subprocess.run(
        ["bash", "-c", f"{COMMAND[0]} -m ropeway.cli inspect --list >&-"],
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_full_disk_is_one_line():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "inspect", "--list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert_one_line(done.stderr)


def test_reader_that_leaves_early_causes_no_traceback():
    with subprocess.Popen(
        [*COMMAND, "inspect", "llama-3.1-8b", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        told = running.stderr.read()
    assert running.returncode == 141
    assert told == b""


@pytest.mark.parametrize(
    ("raised", "status", "told"),
    [
        (KeyboardInterrupt(), 130, ""),
        (PermissionError(13, "Permission denied", "x.npz"), 2, "x.npz: Permission denied"),
        (MemoryError(), 2, "memory"),
        (TimeoutError("nothing moved"), 1, "ropeway: failed: simulation: nothing moved"),
    ],
)
def test_what_goes_wrong_underneath_is_told_in_a_line(ropeway, monkeypatch, raised, status, told):
    def fail(_args):
        raise raised

    monkeypatch.setattr("ropeway.cli.inspect.run", fail)
    called = ropeway("inspect", "llama-3.1-8b")
    assert called.status == status
    assert told in called.err
    assert "Traceback" not in called.err


def test_a_mistake_of_our_own_keeps_its_traceback(ropeway, monkeypatch):
    def fail(_args):
        raise ValueError("not the user's")

    monkeypatch.setattr("ropeway.cli.inspect.run", fail)
    with pytest.raises(ValueError, match="not the user's"):
        ropeway("inspect", "llama-3.1-8b")
