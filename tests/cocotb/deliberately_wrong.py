# SPDX-License-Identifier: Apache-2.0
"""Runs within a simulation: a test that fails, one that passes, and what they were given."""

import cocotb

from ropeway.sim.cocotb_run import case


@cocotb.test()
async def a_test_that_passes(_dut):
    assert case() == {"given": [1, "two"]}


@cocotb.test()
async def a_test_that_fails(dut):
    assert len(dut.clk) == 2, "a clock is never two"
