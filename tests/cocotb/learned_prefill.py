# SPDX-License-Identifier: Apache-2.0
"""Runs within a simulation: GPT-2's table, every row of it in one prefill, and its edges."""

import cocotb
import numpy as np

from ropeway.golden import model_of
from ropeway.golden.additive import LearnedGeometry
from ropeway.sim.cocotb_run import case
from tests.cocotb.learned_bench import Pace, Script, check, embeddings_of, stream
from tests.cocotb.learned_units import Unit

EDGES = [1024, 1025, -1, 1023]


@cocotb.test()
async def a_prefill_of_every_row_loses_no_beat(dut):
    geometry = model_of("gpt2").geometry()
    assert isinstance(geometry, LearnedGeometry)
    assert (geometry.rows, geometry.width) == (1024, 768)
    unit, latency = Unit(dut, "pair"), case()["latency"]
    what = Script(unit.p, geometry, unit.bus_bits, 0x10_0000, [*range(1024), *EDGES])
    data = embeddings_of(what, 0)
    found = await stream(unit, what, data, Pace(latency=(latency, latency + 1)), 0)
    check(what, data, found)
    prefill = found.clocks[: 1024 * what.beats]
    assert prefill[-1] - prefill[0] == len(prefill) - 1
    assert np.all(found.errors[-4:, 0] == [1, 1, 1, 0])
