# SPDX-License-Identifier: Apache-2.0
"""``ropeway regress`` runs what it is told to, and tells what came of it."""

import json

import pytest

from ropeway.cli import main, regress
from ropeway.sim.regression import Outcome, matrix, sample


@pytest.fixture
def ran(monkeypatch):
    """The cases of the last run, each of which passes but those of seed 3."""
    seen = {}

    def run_cases(cases, folder, **options):
        seen.update(cases=list(cases), folder=folder, **options)
        return [
            Outcome(case=case, elements=case.tokens, failure="item 7" if case.seed == 3 else "")
            for case in cases
        ]

    monkeypatch.setattr(regress, "run_cases", run_cases)
    return seen


def test_all_cases_are_run_and_a_failure_is_told(ran, tmp_path, capsys):
    assert main(["regress", "-j", "3", "-o", str(tmp_path / "out")]) == 1
    assert ran["cases"] == list(matrix())
    assert ran["jobs"] == 3
    out, err = capsys.readouterr()
    assert "| all | " in out
    assert "seed 3: item 7" in err
    found = json.loads((tmp_path / "out" / "regress.json").read_text())
    assert found["total"]["cases"] == len(ran["cases"])
    assert (tmp_path / "out" / "regress.md").read_text() == out
    assert (tmp_path / "out" / "regress.xml").read_bytes().startswith(b"<?xml")


def test_a_shard_and_a_sample_are_fewer(ran, tmp_path):
    main(["regress", "--shard", "2/5", "-o", str(tmp_path)])
    assert ran["cases"] == list(matrix())[1::5]
    main(["regress", "--quick", "-o", str(tmp_path)])
    assert ran["cases"] == sample()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-j", "0"], "jobs = 0: must be at least 1"),
        (["-j", "x"], "jobs = x: must be an integer of at least 0"),
        (["--shard", "0/3"], "shard = 0/3: must be K/N, K from 1 to N"),
        (["--shard", "4/3"], "shard = 4/3: must be K/N, K from 1 to N"),
        (["--shard", "1"], "shard = 1: must be K/N, K from 1 to N"),
    ],
)
def test_bad_usage_is_one_line(ran, tmp_path, capsys, options, told):
    assert main(["regress", *options, "-o", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"ropeway: error: {told}\n")
    assert not ran
