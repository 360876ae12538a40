# SPDX-License-Identifier: Apache-2.0
"""Every core of the regression can be played to by cocotb; what it asks for, the core has."""

import json
from pathlib import Path

import pytest

from ropeway.hdl.core_registers import core_registers
from ropeway.sim import core_cocotb_run
from ropeway.sim.core_cocotb_case import run_case
from ropeway.sim.regression import CORES, Case


class Planned:
    """Stands for a build that takes long; keeps the plan of its only run."""

    plan: dict

    def __init__(self, folder: Path):
        self._folder = folder

    @classmethod
    def of(cls, _verilog, _top, folder: Path, _name):
        return cls(folder)

    def run(self, _module, plan: dict, *, seed: int):
        assert seed > 0
        type(self).plan = plan
        Path(plan["counts"]).write_text(json.dumps({"elements": plan["elements"]}))


@pytest.fixture
def planned(monkeypatch) -> type[Planned]:
    monkeypatch.setattr(core_cocotb_run, "CocotbBuild", Planned)
    monkeypatch.setattr(core_cocotb_run, "write_verilog", lambda *_: None)
    return Planned


@pytest.mark.parametrize("core", CORES)
def test_every_register_that_is_read_in_the_end_is_the_core_s(core, planned, tmp_path):
    found = run_case(Case(core=core, tokens=10, loads=1, seed=1, engine="icarus"), tmp_path)
    assert found["elements"] > 0
    addresses = {
        register.address(number)
        for register in core_registers(CORES[core]())
        for number in range(register.count)
    }
    read = [address for _, address, *_ in planned.plan["finals"]]
    assert read
    assert set(read) <= addresses
