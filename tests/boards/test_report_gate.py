# SPDX-License-Identifier: Apache-2.0
"""The gate: whatever grew, slowed or was dropped is named where that is more than allowed."""

import json
from copy import deepcopy

import pytest

from ropeway.boards.report import REPORT
from ropeway.boards.report_gate import CLOCK_DROP, GROWTH, findings

BEFORE = {
    "tools": {},
    "models": [],
    "designs": {
        "rope": {
            "parameters": {"lanes": 4, "temperature": False},
            "seeds_mhz": {"1": 200.0, "2": 190.0, "3": 210.0},
            "latency_clocks": 40,
            "simulated": {"clocks_per_token": 768.0},
            "cells": {"luts": 1000, "placed": 2000, "multipliers": 21, "memories": 9},
            "critical_path": [],
            "configuration": "abc",
        }
    },
}


def changed(*path, to):
    """The report with one value in place of another, or without it where that is None."""
    report = deepcopy(BEFORE)
    held = report
    for key in path[:-1]:
        held = held[key]
    if to is None:
        del held[path[-1]]
    else:
        held[path[-1]] = to
    return report


def test_a_report_passes_before_itself():
    assert not findings(BEFORE, deepcopy(BEFORE))
    committed = json.loads(REPORT.read_text())
    assert not findings(committed, deepcopy(committed))


@pytest.mark.parametrize(
    ("path", "allowed", "worse"),
    [
        (("cells", "luts"), 1020, 1021),
        (("cells", "placed"), 2040, 2041),
        (("cells", "multipliers"), 21, 22),
        (("cells", "memories"), 9, 10),
        (("latency_clocks",), 40, 41),
        (("simulated", "clocks_per_token"), 768.0, 769.0),
    ],
)
def test_growth_beyond_what_is_allowed_is_found(path, allowed, worse):
    assert not findings(BEFORE, changed("designs", "rope", *path, to=allowed))
    (found,) = findings(BEFORE, changed("designs", "rope", *path, to=worse))
    was = BEFORE["designs"]["rope"]
    for key in path:
        was = was[key]
    assert (found.design, found.figure, found.before, found.after) == ("rope", path[-1], was, worse)
    assert f"rope: {path[-1]} = {worse}, was {was}: " in str(found)


def test_a_slower_clock_is_found_over_the_seeds_that_both_have():
    slower = {seed: round(mhz * 0.94, 1) for seed, mhz in (("1", 200.0), ("2", 190.0))}
    (found,) = findings(BEFORE, changed("designs", "rope", "seeds_mhz", to=slower))
    assert (found.before, found.after) == (195.0, 183.3)
    assert found.figure == "MHz, median of seeds 1, 2"
    little = {"1": 191.0, "2": 181.0, "3": 201.0}
    assert not findings(BEFORE, changed("designs", "rope", "seeds_mhz", to=little))
    faster = {"1": 100.0, "2": 400.0, "3": 400.0}
    assert not findings(BEFORE, changed("designs", "rope", "seeds_mhz", to=faster))
    (found,) = findings(BEFORE, changed("designs", "rope", "seeds_mhz", to={"9": 500.0}))
    assert found.figure == "seeds"


@pytest.mark.parametrize(
    ("path", "figure"),
    [
        (("rope",), "design"),
        (("rope", "critical_path"), "critical_path"),
        (("rope", "cells", "memories"), "cells.memories"),
        (("rope", "parameters", "temperature"), "parameters.temperature"),
        (("rope", "simulated", "clocks_per_token"), "simulated.clocks_per_token"),
    ],
)
def test_what_is_dropped_is_found(path, figure):
    (found,) = findings(BEFORE, changed("designs", *path, to=None))
    assert (found.figure, found.after) == (figure, "absent")


def test_a_part_of_the_report_that_is_dropped_is_found():
    (found,) = findings(BEFORE, changed("models", to=None))
    assert (found.design, found.figure) == ("report", "models")


def test_another_parameter_and_another_netlist_are_found():
    (found,) = findings(BEFORE, changed("designs", "rope", "parameters", "lanes", to=2))
    assert (found.figure, found.before, found.after) == ("parameters.lanes", 4, 2)
    (found,) = findings(BEFORE, changed("designs", "rope", "configuration", to="xyz"))
    assert (found.figure, found.before, found.after) == ("configuration", "abc", "xyz")


def test_a_new_design_and_a_new_parameter_pass():
    report = changed("designs", "rope", "parameters", to={"lanes": 4, "temperature": False, "a": 1})
    report["designs"]["new"] = {}
    assert not findings(BEFORE, report)


def test_only_the_named_designs_are_compared():
    report = changed("designs", "rope", "cells", "luts", to=5000)
    assert not findings(BEFORE, report, [])
    assert findings(BEFORE, report, ["rope", "new"])


def test_the_tolerances_are_small():
    assert max(GROWTH.values()) <= 0.02
    assert CLOCK_DROP <= 0.05
