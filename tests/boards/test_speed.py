# SPDX-License-Identifier: Apache-2.0
"""The speeds that the README states are measured, and only accepted ones are written."""

import json

from ropeway.boards import speed
from ropeway.boards.report import REPORT
from ropeway.boards.report_tables import as_markdown, speed_table
from ropeway.sim.native_rate import Rates

REPORTED = json.loads(REPORT.read_text())


def test_the_golden_rotation_is_fast():
    assert speed.golden_rate(speed.batch_of(256)) > 20e6


def test_what_is_measured_is_written_only_where_asked(monkeypatch, capsys):
    accepted = []
    monkeypatch.setattr(speed, "measure", lambda: Rates(native=2.5e6, simulated=5e3))
    monkeypatch.setattr(speed, "golden_rate", lambda _: 120e6)
    monkeypatch.setattr(speed, "accept", accepted.append)
    monkeypatch.setattr(speed, "find_spec", lambda _: None)
    assert speed.main([]) == 0
    assert "2.50 M clocks/s, 500 × Amaranth's simulator (5,000 clocks/s)" in capsys.readouterr().out
    assert speed.main(["--accept"]) == 2
    assert capsys.readouterr().err.startswith("ropeway: error: torch = not installed: ")
    assert not accepted
    monkeypatch.setattr(speed, "find_spec", bool)
    monkeypatch.setattr(speed, "torch_rate", lambda _: 60e6)
    assert speed.main(["--accept"]) == 0
    (report,) = accepted
    assert report["designs"] == REPORTED["designs"]
    assert "2.00 × PyTorch's eager float32 (60 M pairs/s)" in as_markdown(speed_table(report))


def test_the_reported_speeds_are_those_that_are_promised():
    native, golden = REPORTED["speed"]
    assert float(native["than"].split()[0].replace(",", "")) >= 100
    assert float(golden["rate"].split()[0]) >= 100
    assert "× PyTorch's eager float32" in golden["than"]
