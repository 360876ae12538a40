# SPDX-License-Identifier: Apache-2.0
"""A whole core's Verilog, played to by another's AXI models, equals golden; so does a third party.

Tests that need a build are few, since each of them may run on a core of its own and build anew.
"""

import ast
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ropeway.cli import main
from ropeway.golden import RopeGeometry, model_of
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters, MemoryTable, RamTable
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope
from ropeway.sim.cocotb_run import CocotbFailedError
from ropeway.sim.core_bench import Mixture
from ropeway.sim.core_cocotb_case import run_case
from ropeway.sim.core_cocotb_run import CoreSimulation
from ropeway.sim.core_script import written
from ropeway.sim.core_traffic import CoreTraffic
from ropeway.sim.random_words import elements
from ropeway.sim.regression import CORES, Case, traffic_of
from ropeway.sim.score_script import scores_written

THIRD_PARTY = Path(__file__).with_name("third_party.py")
HEADER = Path(__file__).parents[2] / "docs" / "ropeway.h"
PRESET, SHARE = "llama-3.2-1b", (0, 8)
ROPE = RopeParameters(lanes=1, max_head_dim=64, generator="shared")
ADDER = AdderParameters(lanes=1, max_width=128)
MEMORY = CoreParameters(
    rope=ROPE,
    sinusoidal=ADDER,
    learned=ADDER,
    table=MemoryTable(bus_bits=64),
    alibi=AlibiParameters(lanes=2, max_heads=64),
)
RAM = replace(MEMORY, table=RamTable(512))
PAUSES = Mixture(idle=0.3, stall=0.3, bus=0.3, seed=1)


def traffic(p: CoreParameters, seed: int, tokens: int, *, loads: int, carried: bool) -> dict:
    """What CoreSimulation plays."""
    made = CoreTraffic(p, seed)
    script = written(p, list(made.steps(tokens, loads=loads)), carried=carried)
    alibi, segments = made.segments(tokens)
    scores = scores_written(p, alibi, segments)
    return {"script": script, "scores": scores, "alibi": alibi, "carried": carried}


def check(counts: dict[str, int], what: dict, resets: int = 0):
    """A run counted what the scripts have, and registers were accessed all the while."""
    assert counts["elements"] == (what["script"].elements + what["scores"].elements) * (resets + 1)
    assert counts["loads"] == (len(what["script"].loads) + 1) * (resets + 1)
    assert counts["resets"] == resets
    assert counts["accesses"] > 300
    assert counts["clocks"] > 1000


def spoilt(what: dict, port: str, column: int) -> dict:
    """A script with one bit wrong in the last beat that is to come out."""
    results = what[port].results.copy()
    results[-1, column] ^= 1
    return {**what, port: replace(what[port], results=results)}


def corner_cases(simulation: CoreSimulation) -> int:
    """How many tests of AXI4-Lite's corners the core passes."""
    registers = simulation.registers
    free = [a for a in range(0, 1 << registers.address_bits, 4) if registers.at(a) is None]
    case = {
        "addresses": {register.name: register.address() for register in registers},
        "unmapped": [*free[::400], free[0], free[-1]],
    }
    return len(simulation.build.run("tests.cocotb.corner_cases", case))


def third_party(simulation: CoreSimulation, folder: Path) -> int:
    """How many tests a user of headers and manual passes."""
    table = folder / "table.h"
    words = ["table", PRESET, "--tp", "/".join(map(str, SHARE)), "-o", str(table)]
    assert main(words) == 0
    shared = model_of(PRESET, tp=SHARE).geometry()
    assert isinstance(shared, RopeGeometry)
    geometry = shared.table()
    shape = (1, geometry.pattern.heads, geometry.head_dim)
    data, position = elements(np.random.default_rng(3), shape, 16), 131_071
    out, _ = rope(ROPE, geometry, data, np.array([position]))
    case = {
        "header": str(HEADER),
        "table": str(table),
        "slot": 2,
        "position": position,
        "fingerprint": int(geometry.fingerprint, 16),
        "elements": data.ravel().tolist(),
        "expected": out.ravel().tolist(),
    }
    return len(simulation.build.run("tests.cocotb.third_party", case))


def test_the_third_party_knows_nothing_of_ours():
    names = set()
    for node in ast.walk(ast.parse(THIRD_PARTY.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(str(node.module).split(".")[0])
    assert names - set(sys.stdlib_module_names) == {"cocotb", "cocotbext"}
    assert not re.search("import_module|__import__", THIRD_PARTY.read_text())


@pytest.mark.slow
def test_the_core_equals_golden_under_traffic_resets_and_a_third_party(tmp_path):
    simulation = CoreSimulation(MEMORY, tmp_path, CoreTraffic(MEMORY, 0).table)
    steady = traffic(MEMORY, 1, 30, loads=3, carried=False)
    check(simulation.run(**steady), steady)
    paused = traffic(MEMORY, 2, 30, loads=3, carried=True)
    counts = simulation.run(**paused, mixture=PAUSES, breaks=(40, 400))
    check(counts, paused, resets=2)
    assert corner_cases(simulation) == 9
    assert third_party(simulation, tmp_path) == 1
    few = traffic(MEMORY, 3, 4, loads=0, carried=False)
    with pytest.raises(CocotbFailedError, match=r"m_axis: packet 3: tuser of byte \d+ is"):
        simulation.run(**spoilt(few, "script", -1))
    with pytest.raises(CocotbFailedError, match=r"m_axis_score: packet 3: tdata of byte \d+ is"):
        simulation.run(**spoilt(few, "scores", 0))
    script = replace(few["script"], tokens=5)
    with pytest.raises(CocotbFailedError, match="VECTOR_POSITIONS is 0x4, not 0x5"):
        simulation.run(**{**few, "script": script})


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no Icarus")
def test_the_core_equals_golden_in_another_simulator(tmp_path):
    simulation = CoreSimulation(RAM, tmp_path, CoreTraffic(RAM, 0).table, name="icarus")
    paused = traffic(RAM, 3, 5, loads=1, carried=False)
    check(simulation.run(**paused, mixture=PAUSES, breaks=(20,)), paused, resets=1)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no Icarus")
def test_a_case_of_the_regression_runs_in_another_simulator(tmp_path):
    case = Case(core="scores-4x16", tokens=3, seed=1, resets=2, idle=0.2, stall=0.2)
    counts = run_case(case, tmp_path, "icarus")
    assert (counts["loads"], counts["resets"]) == (3, 2)
    elements = traffic_of(CORES[case.core](), case)["scores"].elements
    assert counts["elements"] == 3 * elements
