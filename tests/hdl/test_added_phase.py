# SPDX-License-Identifier: Apache-2.0
"""Phases that are added are those that a product gives, bit for bit."""

import numpy as np
from amaranth.sim import Simulator

from ropeway.golden.sincos import phases_of
from ropeway.hdl.added_phase import AddedPhase


def test_added_phases_are_the_products_bit_for_bit():
    random, pairs, tokens = np.random.default_rng(0), 8, 40
    increments = random.integers(0, 1 << 48, pairs)
    unit, found = AddedPhase(pairs), []

    async def bench(ctx):
        for token in range(tokens):
            for pair in range(pairs):
                given = {"pair": pair, "increment": int(increments[pair]), "first": token == 0}
                ctx.set(unit.i.payload, given)
                ctx.set(unit.i.valid, 1)
                _, _, valid, phase = await ctx.tick().sample(unit.o.valid, unit.o.payload)
                if valid:
                    found.append(phase)
        ctx.set(unit.i.valid, 0)
        for _ in range(unit.latency):
            _, _, valid, phase = await ctx.tick().sample(unit.o.valid, unit.o.payload)
            assert valid
            found.append(phase)

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    wanted = phases_of(np.arange(tokens)[:, None], increments.tolist())
    assert np.array_equal(np.array(found).reshape(tokens, pairs), wanted)
