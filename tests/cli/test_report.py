# SPDX-License-Identifier: Apache-2.0
"""``ropeway report``: what it writes, when it fails, and what it refuses."""

import json
from pathlib import Path

import pytest

from ropeway.boards import report as boards_report
from ropeway.boards import report_run
from ropeway.boards.designs import DESIGNS, Design
from ropeway.boards.report import as_json
from ropeway.cli import main, report
from ropeway.golden.adder_parameters import AdderParameters

TINY = Design(
    "tiny",
    "lfe5u-25f-6",
    AdderParameters(lanes=1, data_bits=8, max_width=16),
    {"depth": 16},
    seeds=1,
    quick=True,
)
COMMITTED = json.loads(boards_report.REPORT.read_text())
README = "before\n<!-- begin figures -->\n<!-- end figures -->\nafter\n"


@pytest.fixture
def place(monkeypatch, tmp_path) -> Path:
    """Where the committed files are, of a report whose only measured design is the ALiBi unit."""
    files = {
        "REPORT": "report.json",
        "README": "README.md",
        "DOCUMENT": "report.md",
        "ERROR": "e.svg",
    }
    for name, file in files.items():
        monkeypatch.setattr(boards_report, name, tmp_path / file)
    monkeypatch.setattr(report, "REPORT", tmp_path / "report.json")
    monkeypatch.setattr(report, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(report, "facts", lambda _: {})
    (tmp_path / "report.json").write_text(as_json(COMMITTED))
    (tmp_path / "README.md").write_text(README)
    return tmp_path


@pytest.fixture
def measured(monkeypatch):
    """What measuring finds: what is reported already, until it is changed."""
    found = json.loads(json.dumps(COMMITTED["designs"]))
    asked = []

    def measure(designs, _cache, **options):
        asked.append((list(designs), options["seeds"]))
        return {name: found[name] for name in designs}

    monkeypatch.setattr(report, "measure", measure)
    return found, asked


def run(place, *options):
    return main(["report", "-o", str(place / "out"), *options])


def test_the_same_figures_pass_and_are_written(place, measured, capsys):
    assert run(place) == 0
    assert {path.name for path in (place / "out").iterdir()} == {
        "report.json",
        "report.md",
        "report.html",
    }
    assert json.loads((place / "out" / "report.json").read_text()) == COMMITTED
    out, err = capsys.readouterr()
    assert "rope, LFE5U-25F-6: median " in out
    assert not err
    assert measured[1] == [(list(DESIGNS), None)]
    assert (place / "README.md").read_text() == README


def test_a_planted_growth_fails_with_both_values_and_is_not_committed(place, measured, capsys):
    cells = measured[0]["rope"]["cells"]
    was = cells["luts"]
    cells["luts"] = 2 * was
    assert run(place, "--only", "rope") == 1
    told = f"ropeway: failed: rope: luts = {2 * was}, was {was}: may grow by 2%\n"
    assert capsys.readouterr().err == told
    assert json.loads((place / "report.json").read_text()) == COMMITTED


def test_a_planted_drop_of_a_feature_fails(place, measured, capsys):
    measured[0]["rope"]["parameters"]["slots"] = 1
    measured[0]["rope"]["configuration"] = "0" * 64
    assert run(place) == 1
    said = capsys.readouterr().err
    assert "rope: parameters.slots = 1, was 4: must not change" in said
    assert "rope: configuration = 000000000000, was " in said


@pytest.mark.usefixtures("measured")
def test_a_design_that_is_dropped_fails(place, monkeypatch, capsys):
    monkeypatch.setattr(report, "DESIGNS", {n: d for n, d in DESIGNS.items() if n != "alibi"})
    assert run(place) == 1
    assert "alibi: design = absent, was reported" in capsys.readouterr().err


def test_accepted_is_what_is_committed_then(place, measured, capsys):
    measured[0]["rope"]["latency_clocks"] = 99
    assert run(place, "--accept") == 0
    assert "ropeway: accepted: rope: latency_clocks = 99, was " in capsys.readouterr().err
    assert json.loads((place / "report.json").read_text())["designs"] == measured[0]
    assert "| 99 clocks |" in (place / "README.md").read_text()
    assert (place / "report.md").read_text() == (place / "out" / "report.md").read_text()
    assert run(place) == 0


def test_quick_is_of_the_quick_designs_and_one_seed(place, measured):
    assert run(place, "--quick") == 0
    ((names, seeds),) = measured[1]
    assert names == [name for name, design in DESIGNS.items() if design.quick]
    assert names
    assert seeds == 1


def test_a_tool_that_fails_is_told_in_a_line(place, monkeypatch, capsys):
    def fails(*_args, **_options):
        raise RuntimeError("Yosys failed with status 1:\n no such cell")

    monkeypatch.setattr(report, "measure", fails)
    assert run(place) == 1
    assert capsys.readouterr().err == (
        "ropeway: failed: Yosys failed with status 1: no such cell\n"
    )
    assert not (place / "out").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--only", "ropes"], "only = ropes: must be one of rope, "),
        (["--seeds", "0"], "seeds = 0: must be at least 1\n"),
        (["--jobs", "0"], "jobs = 0: must be at least 1\n"),
        (["--only", "rope", "--quick"], "only = rope: cannot stand beside --quick\n"),
        (["--quick", "--accept"], "seeds = 1: must be no fewer than the designs' own to be"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(place, measured, capsys, options, told):
    assert run(place, *options) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"ropeway: error: {told}")
    assert err.count("\n") == 1
    assert not out
    assert not measured[1]


@pytest.mark.slow
def test_a_tiny_design_is_really_measured_and_not_twice(place, monkeypatch, request):
    """Yosys, nextpnr and the simulator, and a gate that its own result passes."""
    monkeypatch.chdir(request.config.rootpath)
    monkeypatch.setattr(report, "DESIGNS", {"tiny": TINY})
    (place / "report.json").write_text('{"designs": {}}')
    assert run(place, "--accept") == 0
    first = json.loads((place / "report.json").read_text())["designs"]["tiny"]
    assert first["cells"]["multipliers"] == 1
    assert 50 < first["median_mhz"] <= 212
    assert first["simulated"]["first_beat_latency"] == first["latency_clocks"]
    kept = sorted(path.name for path in (place / "cache").iterdir())
    assert len(kept) == 3
    for work in ("synthesize_design", "place_seed", "simulate_design"):
        monkeypatch.setattr(report_run, work, None)  # nothing of it is left to do
    assert run(place, "--accept") == 0
    assert sorted(path.name for path in (place / "cache").iterdir()) == kept
