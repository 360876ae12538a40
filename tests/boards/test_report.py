# SPDX-License-Identifier: Apache-2.0
"""The README's figures come from the report, and the report from these very designs."""

import json
from dataclasses import replace

import pytest

from ropeway.boards.catalogue import BOARDS
from ropeway.boards.configuration import default_configuration
from ropeway.boards.designs import DESIGNS, latency
from ropeway.boards.devices import DEVICES
from ropeway.boards.place import Placement
from ropeway.boards.report import (
    DOCUMENT,
    ERROR,
    README,
    REPORT,
    as_json,
    configuration_hash,
    entry,
    merged,
)
from ropeway.boards.report_accuracy import accuracy
from ropeway.boards.report_facts import models, schemes, waveform
from ropeway.boards.report_figures import ERROR_TITLE, figures
from ropeway.boards.report_jobs import Elaborated, elaborate
from ropeway.boards.report_tables import as_markdown, designs_table, document, with_tables
from ropeway.boards.svg import standalone
from ropeway.golden.parameters import RopeParameters
from tests.netlist.every_netlist import ENGINES

REPORTED = json.loads(REPORT.read_text())
NAMES = list(DESIGNS)
PLACEMENTS = [
    Placement(seed, 200.0 + seed, {"TRELLIS_COMB": 5, "LUT4": 1}, ["path"]) for seed in (1, 2, 3)
]
TIMING = {"first_beat_latency": 44, "clocks_per_token": 768.0}


def elaborated(name: str) -> Elaborated:
    return Elaborated(name, DESIGNS[name].device, "rtlil", "", 40)


def test_the_readme_s_tables_are_those_of_the_report():
    text = README.read_text()
    assert with_tables(text, REPORTED) == text
    assert as_markdown(designs_table(REPORTED)) in text


def test_the_document_the_figure_and_the_json_are_written_as_they_stand():
    assert document(REPORTED) == DOCUMENT.read_text()
    assert as_json(REPORTED) == REPORT.read_text()
    (error,) = (figure for figure in figures(REPORTED) if figure.title == ERROR_TITLE)
    assert standalone(error.svg) == ERROR.read_text()


def test_every_design_is_reported_and_no_other():
    assert list(REPORTED["designs"]) == NAMES


def test_what_is_computed_of_the_measurements_is_not_stale():
    assert REPORTED["schemes"] == schemes(REPORTED)
    assert REPORTED["models"] == models(REPORTED)
    assert REPORTED["waveform"] == waveform()


def test_every_scheme_is_reported_on_both_families_where_it_fits():
    found = {(design.scheme, DEVICES[design.device].device) for design in DESIGNS.values()}
    schemes = ("rope", "alibi", "sinusoidal", "learned")
    assert {(scheme, "LFE5U-25F") for scheme in schemes} <= found
    assert {(scheme, "iCE40UP5K") for scheme in schemes} <= found


@pytest.mark.parametrize("name", NAMES)
def test_the_report_is_of_this_design(name):
    """Stale figures: run `make report ARGS="--accept --only NAME"`."""
    design, reported = DESIGNS[name], REPORTED["designs"][name]
    found = elaborate((name, design))
    assert reported["parameters"] == design.configuration()
    assert reported["configuration"] == configuration_hash(found.rtlil)
    assert reported["latency_clocks"] == found.latency


@pytest.mark.parametrize("name", NAMES)
def test_a_reported_rate_is_a_median_of_three_seeds_or_more_within_the_silicon_s_limit(name):
    design, reported = DESIGNS[name], REPORTED["designs"][name]
    seeds = sorted(reported["seeds_mhz"].values())
    assert len(seeds) >= 3
    limit = DEVICES[design.device].ceiling
    assert reported["median_mhz"] <= limit
    assert reported["median_mhz"] == pytest.approx(min(limit, seeds[len(seeds) // 2]), abs=0.06)
    rate, unit = design.rate
    clocks = reported[f"{unit}_per_second"] / rate
    assert clocks == pytest.approx(reported["median_mhz"] * 1e6, abs=0.06e6)
    assert reported["critical_path"]


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("rope", {"luts": 2500, "placed": 5000, "multipliers": 22}),
        ("rope-8-lanes", {"multipliers": 28}),
        ("rope-85f", {"multipliers": 4 * 28}),
        ("rope-core", {"luts": 1500, "placed": 2500}),
        ("rope-up5k", {"multipliers": 8}),
        ("rope-hx8k", {"placed": 7680, "multipliers": 0}),
    ],
)
def test_a_unit_takes_no_more_than_its_part_of_a_device(name, most):
    cells = REPORTED["designs"][name]["cells"]
    assert {kind: cells[kind] for kind in most if cells[kind] > most[kind]} == {}


@pytest.mark.parametrize(
    ("name", "board"), [("rope-up5k", "icebreaker"), ("rope-hx8k", "ice40hx8k-b-evn")]
)
def test_a_small_device_s_engine_is_its_board_s(name, board):
    assert DESIGNS[name].parameters == default_configuration(BOARDS[board]).hosted.core.rope


@pytest.mark.parametrize(("name", "mhz"), [("rope-up5k", 30), ("rope-hx8k", 48)])
def test_a_small_device_s_engine_keeps_its_board_s_clock(name, mhz):
    assert min(REPORTED["designs"][name]["seeds_mhz"].values()) >= mhz


def test_an_engine_s_rate_is_quoted_with_the_heads_that_it_needs():
    rows = {row[0]: row for row in designs_table(REPORTED).rows}
    at = designs_table(REPORTED).heads.index("heads")
    assert {name: rows[name][at] for name in ("RoPE, shared", "ALiBi")} == {
        "RoPE, shared": "3",  # one lane's; the last of that name
        "ALiBi": "any",
    }
    for width in ("8 × 16", "4 × 8 × 16"):  # each of several engines needs as many as one
        (wide,) = (row for row in designs_table(REPORTED).rows if row[2] == width)
        assert wide[at] == "24"


@pytest.mark.parametrize(
    ("name", "simulated"),
    [("rope", "ecp5"), ("rope-8-lanes", "ecp5, 8 lanes"), ("rope-85f", "ecp5, 8 lanes")],
)
def test_a_reported_engine_s_netlist_is_simulated_over_a_hundred_tokens(name, simulated):
    """By tests/netlist/every_netlist.py: `make netlists`."""
    _, parameters, tokens, _ = ENGINES[simulated]
    assert parameters == DESIGNS[name].parameters
    assert tokens >= 100


def test_engines_side_by_side_are_one_engine_several_times():
    one, four = DESIGNS["rope-8-lanes"], DESIGNS["rope-85f"]
    assert four.parameters == one.parameters
    assert four.rate == (4 * one.rate[0], "pairs")
    assert latency(four.build()) == latency(one.build())
    text = elaborate(("it", four)).rtlil
    assert text.count("cell \\MULT18X18D ") == 4 * elaborate(("it", one)).rtlil.count(
        "cell \\MULT18X18D "
    )


def test_another_design_has_another_hash():
    def hashed(bits):
        design = replace(DESIGNS["rope"], parameters=RopeParameters(lanes=1, data_bits=bits))
        return configuration_hash(elaborate(("it", design)).rtlil)

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
    found = entry(DESIGNS[name], elaborated(name), {"LUT4": 7}, PLACEMENTS, TIMING)
    assert found["median_mhz"] == 202.0
    assert found[f"{unit}_per_second"] == a_second
    assert found["cells"] == {"luts": 7, "placed": 5, "multipliers": 0, "memories": 0}
    assert found["latency_clocks"] == 40
    assert found["simulated"] == TIMING
    assert found["critical_path"] == ["path"]


def test_nothing_is_quoted_above_the_silicon_s_limit():
    fast = [replace(each, fmax=300.0) for each in PLACEMENTS]
    found = entry(DESIGNS["rope"], elaborated("rope"), {}, fast, TIMING)
    assert found["median_mhz"] == 212.0
    assert found["pairs_per_second"] == 848_000_000


def test_a_unit_that_reads_external_memory_has_its_latency():
    found = elaborate(("it", DESIGNS["learned-axi4"]))
    assert found.latency is None
    report = {"designs": {"it": entry(DESIGNS["learned-axi4"], found, {}, PLACEMENTS, None)}}
    assert "| the memory's |" in as_markdown(designs_table(report))


def test_a_rate_counts_the_clocks_of_a_generator_that_takes_several():
    design = DESIGNS["sinusoidal-up5k"]
    interval = design.parameters.generator_interval
    assert interval > 1
    assert design.rate == (design.parameters.beat_elements / interval, "elements")


def test_the_accuracy_is_what_it_was():
    found, kept = accuracy(), REPORTED["accuracy"]
    for name in ("ropeway", "float32"):
        assert found[name] == pytest.approx(kept[name], rel=0.05), name
    assert max(found["ropeway"]) < 1
    assert found["float32"][17] > 100 * found["ropeway"][17]


def test_measuring_some_keeps_what_is_reported_of_the_others():
    report = {"tools": {}, "speed": [1], "designs": {"a": {"x": 1}, "gone": {}, "b": {"x": 2}}}
    found = {"tools": {"tool": "1"}, "designs": {"b": {"x": 3}}}
    report = merged(report, found, ["b", "a", "never"])
    assert report == {
        "tools": {"tool": "1"},
        "speed": [1],
        "designs": {"b": {"x": 3}, "a": {"x": 1}},
    }
    assert list(report["designs"]) == ["b", "a"]
