# SPDX-License-Identifier: Apache-2.0
"""The README's figures come from the report, and the report from this very design."""

import json

import pytest

from ropeway.boards.place import DEVICES, Placement, median_fmax
from ropeway.boards.report import README, REPORT, configuration_hash, entry, markdown, with_figures
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.engine import RopeEngine

REPORTED = json.loads(REPORT.read_text())
ENGINES = REPORTED["engines"]


def parameters_of(reported: dict) -> RopeParameters:
    names = ("lanes", "data_bits", "max_head_dim", "slots")
    return RopeParameters(**{name: reported[name] for name in names})


def device_of(reported: dict) -> str:
    return f"{reported['device'].lower()}-{reported['grade']}"


def test_the_readme_s_figures_are_those_of_the_report():
    text = README.read_text()
    assert with_figures(text, REPORTED) == text
    assert markdown(REPORTED) in text


@pytest.mark.parametrize("reported", ENGINES, ids=device_of)
def test_the_report_is_of_this_design(reported):
    """Stale figures: run `make fmax ARGS=--write`."""
    engine = RopeEngine(parameters_of(reported))
    assert reported["configuration"] == configuration_hash(engine, device_of(reported))
    assert reported["latency_clocks"] == engine.latency


@pytest.mark.parametrize("reported", ENGINES, ids=device_of)
def test_a_reported_rate_is_a_median_of_three_seeds_or_more_within_the_silicon_s_limit(reported):
    seeds = sorted(reported["seeds_mhz"].values())
    assert len(seeds) >= 3
    assert reported["median_mhz"] <= DEVICES[device_of(reported)].ceiling
    assert reported["median_mhz"] == pytest.approx(seeds[len(seeds) // 2], abs=0.06)
    assert reported["cells"]["MULT18X18D"] <= 22


def test_a_median_never_exceeds_what_block_ram_allows():
    device = DEVICES["lfe5u-25f-6"]
    placements = [Placement(seed, 300.0, {}, []) for seed in range(3)]
    assert median_fmax(placements, device) == device.ceiling


def test_another_design_has_another_hash():
    device = "lfe5u-25f-6"

    def hashed(bits):
        return configuration_hash(RopeEngine(RopeParameters(lanes=1, data_bits=bits)), device)

    assert hashed(16) == hashed(16)
    assert hashed(16) != hashed(12)


def test_an_entry_says_what_was_measured():
    placements = [
        Placement(seed, 200.0 + seed, {"TRELLIS_COMB": 5}, ["path"]) for seed in (1, 2, 3)
    ]
    engine = RopeEngine(RopeParameters(lanes=1))
    found = entry(engine, "lfe5u-25f-6", {"LUT4": 7}, placements, 215.0)
    assert found["median_mhz"] == 202.0
    assert found["pairs_per_second"] == 202_000_000
    assert (found["cells"]["LUT4"], found["cells"]["TRELLIS_COMB"]) == (7, 5)
