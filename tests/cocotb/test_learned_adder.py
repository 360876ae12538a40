# SPDX-License-Identifier: Apache-2.0
"""The learned adder's Verilog reads rows over AXI4 as golden says, at a beat a clock."""

import pytest

from ropeway.sim.cocotb_run import CocotbBuild, CocotbFailedError
from ropeway.sim.verilog import write_verilog
from tests.cocotb.learned_units import UNITS, LearnedUnits

TOP = "learned_units"


# One test, since tests on other cores would each build anew.
@pytest.mark.slow
def test_the_verilog_reads_rows_over_axi_as_golden_says_at_a_beat_a_clock(tmp_path):
    verilog = write_verilog(LearnedUnits(), tmp_path / "learned.v", TOP)
    build = CocotbBuild.of(verilog, TOP, tmp_path / "build")
    with pytest.raises(CocotbFailedError, match=r"(?s)a_test_that_fails\n.*a clock is never two"):
        build.run("tests.cocotb.deliberately_wrong", {"given": [1, "two"]})
    with pytest.raises(CocotbFailedError, match="no test"):
        build.run("tests.cocotb.streams")
    assert len(build.run("tests.cocotb.learned_sums")) == 8 * len(UNITS)
    assert len(build.run("tests.cocotb.learned_prefill", {"latency": 40})) == 1
