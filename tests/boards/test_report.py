# SPDX-License-Identifier: Apache-2.0
"""The README's figures come from the report, and the report from these very designs."""

import json
from dataclasses import replace

import pytest

from ropeway.boards import fmax
from ropeway.boards.designs import DESIGNS
from ropeway.boards.devices import DEVICES
from ropeway.boards.place import Placement
from ropeway.boards.report import (
    README,
    REPORT,
    configuration_hash,
    entry,
    markdown,
    merged,
    with_figures,
)
from ropeway.golden.parameters import RopeParameters

REPORTED = json.loads(REPORT.read_text())
NAMES = list(DESIGNS)
PLACEMENTS = [
    Placement(seed, 200.0 + seed, {"TRELLIS_COMB": 5, "LUT4": 1}, ["path"]) for seed in (1, 2, 3)
]


def test_the_readme_s_figures_are_those_of_the_report():
    text = README.read_text()
    assert with_figures(text, REPORTED) == text
    assert markdown(REPORTED) in text


def test_every_design_is_reported_and_no_other():
    assert list(REPORTED["designs"]) == NAMES


def test_every_scheme_is_reported_on_both_families_where_it_fits():
    found = {(design.scheme, DEVICES[design.device].device) for design in DESIGNS.values()}
    schemes = ("rope", "alibi", "sinusoidal", "learned")
    assert {(scheme, "LFE5U-25F") for scheme in schemes} <= found
    assert {(scheme, "iCE40UP5K") for scheme in schemes[1:]} <= found


@pytest.mark.parametrize("name", NAMES)
def test_the_report_is_of_this_design(name):
    """Stale figures: run `make fmax ARGS="--write --only NAME"`."""
    design, reported = DESIGNS[name], REPORTED["designs"][name]
    component = design.build()
    assert reported["parameters"] == design.configuration()
    assert reported["configuration"] == configuration_hash(component, design.device)
    assert reported["latency_clocks"] == getattr(component, "latency", None)


@pytest.mark.parametrize("name", NAMES)
def test_a_reported_rate_is_a_median_of_three_seeds_or_more_within_the_silicon_s_limit(name):
    design, reported = DESIGNS[name], REPORTED["designs"][name]
    seeds = sorted(reported["seeds_mhz"].values())
    assert len(seeds) >= 3
    assert reported["median_mhz"] <= DEVICES[design.device].ceiling
    assert reported["median_mhz"] == pytest.approx(seeds[len(seeds) // 2], abs=0.06)
    rate, unit = design.rate
    clocks = reported[f"{unit}_per_second"] / rate
    assert clocks == pytest.approx(reported["median_mhz"] * 1e6, abs=0.06e6)
    assert reported["critical_path"]


def test_the_engine_takes_at_most_22_multipliers():
    assert REPORTED["designs"]["rope"]["cells"]["multipliers"] <= 22


def test_another_design_has_another_hash():
    def hashed(bits):
        design = replace(DESIGNS["rope"], parameters=RopeParameters(lanes=1, data_bits=bits))
        return configuration_hash(design.build(), design.device)

    assert hashed(16) == hashed(16)
    assert hashed(16) != hashed(12)


@pytest.mark.parametrize(
    ("name", "unit", "a_second"),
    [
        ("rope", "pairs", 808_000_000),
        ("alibi", "scores", 808_000_000),
        ("sinusoidal", "elements", 1_616_000_000),
        ("learned-ram", "elements", 1_616_000_000),
    ],
)
def test_an_entry_says_what_was_measured(name, unit, a_second):
    design = DESIGNS[name]
    component = design.build()
    found = entry(design, component, {"LUT4": 7}, PLACEMENTS, 215.0)
    assert found["median_mhz"] == 202.0
    assert found[f"{unit}_per_second"] == a_second
    assert found["cells"] == {"luts": 7, "placed": 5, "multipliers": 0, "memories": 0}
    assert found["latency_clocks"] == component.latency
    assert found["critical_path"] == ["path"]


def test_a_unit_that_reads_external_memory_has_its_latency():
    design = DESIGNS["learned-axi4"]
    found = entry(design, design.build(), {}, PLACEMENTS, 215.0)
    assert found["latency_clocks"] is None
    assert "| the memory's |" in markdown({"designs": {"learned-axi4": found}})


def test_a_rate_with_shared_generators_counts_their_interval():
    assert DESIGNS["sinusoidal-up5k"].rate == (2 / 3, "elements")


def test_measuring_some_keeps_what_is_reported_of_the_others():
    report = {"tools": {}, "designs": {"a": {"x": 1}, "gone": {}, "b": {"x": 2}}}
    found = merged(report, {"tool": "1"}, {"b": {"x": 3}}, ["b", "a", "never"])
    assert found == {"tools": {"tool": "1"}, "designs": {"b": {"x": 3}, "a": {"x": 1}}}
    assert list(found["designs"]) == ["b", "a"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--only", "ropes"], "ropeway: error: only = ropes: must be one of rope, "),
        (["--seeds", "0"], "ropeway: error: seeds = 0: must be 1 or more\n"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(arguments, says, capsys):
    assert fmax.main(arguments) == 2
    told = capsys.readouterr()
    assert told.err.startswith(says)
    assert told.err.count("\n") == 1
    assert not told.out


def test_what_is_measured_is_written_only_where_asked(monkeypatch, tmp_path, capsys):
    written = []
    monkeypatch.setattr(fmax, "synthesize", lambda *_: {"LUT4": 7})
    monkeypatch.setattr(fmax, "place", lambda *_, **__: PLACEMENTS)
    monkeypatch.setattr(fmax, "update", written.append)
    monkeypatch.chdir(tmp_path)
    assert fmax.main(["--only", "alibi"]) == 0
    assert not written
    assert "alibi, LFE5U-25F-6: median 202.0 MHz of 201.0, 202.0, 203.0" in capsys.readouterr().out
    assert fmax.main(["--only", "alibi", "--write"]) == 0
    assert written[0]["designs"]["alibi"]["median_mhz"] == 202.0
    assert set(written[0]["tools"]) == set(fmax.TOOLS)
