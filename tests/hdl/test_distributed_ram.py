# SPDX-License-Identifier: Apache-2.0
"""Distributed RAM reads what block RAM reads, in the same clock."""

import numpy as np
from amaranth.sim import Simulator

from ropeway.hdl.distributed_ram import DistributedRam
from ropeway.hdl.primitives import Ram


def test_distributed_ram_does_what_block_ram_does():
    content, found = np.random.default_rng(0).integers(0, 512, 16).tolist(), []
    for unit in (DistributedRam(9, 16), Ram(9, 16)):
        words = []

        async def bench(ctx, unit=unit, words=words):
            for clock in range(40):
                ctx.set(unit.write_enable, clock < len(content))
                ctx.set(unit.write_address, clock % 16)
                ctx.set(unit.write_data, content[clock % 16])
                ctx.set(unit.read_address, clock * 5 % 16)
                await ctx.tick()
                words.append(ctx.get(unit.read_data))

        simulator = Simulator(unit)
        simulator.add_clock(1e-6)
        simulator.add_testbench(bench)
        simulator.run()
        found.append(words[20:])
    assert found[0] == found[1]
    assert len(set(found[0])) > 8
