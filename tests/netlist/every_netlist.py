# SPDX-License-Identifier: Apache-2.0
"""Every unit's netlist in each family, the reported engine's among them: `make netlists`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ropeway.golden.parameters import RopeParameters
from tests.netlist.blocks import Blocks
from tests.netlist.builds import netlist_of
from tests.netlist.engines import engine_of, every_geometry
from tests.netlist.hosted import check_a_token, hosted_netlist
from tests.netlist.units import UNITS

ENGINES = {
    # The engines of the README's figures, and of a family of 16-bit multipliers.
    "ecp5": ("ecp5", RopeParameters(), 120, ("MULT18X18D", 21)),
    "ecp5, 8 lanes": (
        "ecp5",
        RopeParameters(lanes=8, generator="shared"),
        120,
        ("MULT18X18D", 28),
    ),
    "ice40": (
        "ice40",
        RopeParameters(lanes=1, coefficient_bits=16, generator="shared", max_head_dim=128),
        24,
        ("SB_MAC16", 8),
    ),
    "gowin": (
        "gowin",
        RopeParameters(lanes=1, generator="serial", max_head_dim=128, slots=1, rows=2),
        24,
        ("SPX9", 3),
    ),
}
# Blocks that a hosted core has at least.
HOSTED = {"ice40": ("SB_MAC16", 4), "gowin": ("SPX9", 3)}


@pytest.fixture
def folder(request) -> Path:
    name = re.sub(r"\W+", "-", request.node.name)
    return request.config.rootpath / "build" / f"netlist-{name}"


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_s_tokens_are_golden_s(name, folder):
    family, p, tokens, (block, count) = ENGINES[name]
    engine, cells = engine_of(p, family, folder)
    print(cells)
    assert cells[block] == count
    result = every_geometry(engine, tokens)
    assert len(result.packets) == tokens


@pytest.mark.parametrize("family", ["ecp5", "ice40", "gowin"])
@pytest.mark.parametrize("name", UNITS)
def test_a_unit_s_results_are_golden_s(name, family, folder):
    unit = UNITS[name]()
    verilog, cells = netlist_of(unit.component, family, folder)
    print(cells)
    assert unit.differs(verilog) is None


@pytest.mark.parametrize("family", HOSTED)
def test_a_hosted_core_passes_its_self_test_and_turns_a_token(family, folder):
    host, cells = hosted_netlist(family, folder)
    print(cells)
    block, least = HOSTED[family]
    assert cells[block] >= least
    check_a_token(host)


def test_a_flipped_bit_of_a_table_is_found(folder):
    unit = UNITS["sinusoidal"]()
    verilog, _ = netlist_of(unit.component, "ecp5", folder)
    # Of the quarter wave's entry for the smallest angles, which a position of 0 has.
    harmed, count = re.subn(
        r"(INITVAL_00\(320'h[0-9a-f]*)([0-9a-f])\)",
        lambda found: f"{found[1]}{int(found[2], 16) ^ 8:x})",
        verilog,
    )
    assert count > 0
    assert unit.differs(verilog) is None
    assert "results" in str(unit.differs(harmed))


STOPS = """
import sys
from pathlib import Path
from ropeway.sim.native import NativeModel
from tests.netlist.blocks import Blocks
NativeModel(Blocks(), cache=Path(sys.argv[1]), verilog=Path(sys.argv[2]).read_text()).step()
print("it went on")
"""


def test_a_mode_that_is_not_modelled_stops_the_simulation(folder, tmp_path, request):
    verilog, _ = netlist_of(Blocks(), "ecp5", folder)
    harmed = verilog.replace('.REG_OUTPUT_CLK("CLK0")', '.REG_OUTPUT_CLK("CLK1")', 1)
    assert harmed != verilog
    (tmp_path / "harmed.v").write_text(harmed)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", STOPS, tmp_path, tmp_path / "harmed.v"],
        cwd=request.config.rootpath,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "a mode of a MULT18X18D that is not modelled" in done.stdout + done.stderr
    assert "it went on" not in done.stdout
