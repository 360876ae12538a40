# SPDX-License-Identifier: Apache-2.0
"""The registers' Verilog answers an AXI4-Lite manager that is not ours."""

import pytest

from ropeway.sim.cocotb_run import CocotbBuild
from ropeway.sim.verilog import write_verilog
from tests.cocotb.register_units import RegisterUnits

TOP = "register_units"


@pytest.mark.slow
def test_the_verilog_answers_another_s_manager_as_the_table_says(tmp_path):
    verilog = write_verilog(RegisterUnits(), tmp_path / "registers.v", TOP)
    build = CocotbBuild.of(verilog, TOP, tmp_path / "build")
    assert len(build.run("tests.cocotb.register_accesses")) == 6
