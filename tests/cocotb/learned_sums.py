# SPDX-License-Identifier: Apache-2.0
"""Runs within a simulation: a small table under every traffic, and its pages, edges and faults."""

import cocotb

from ropeway.golden.additive import LearnedGeometry
from tests.cocotb.learned_bench import Pace, Script, check, embeddings_of, stream
from tests.cocotb.learned_units import UNITS, Unit

ROWS, WIDTH, OFFSET = 40, 120, 2


def script(unit: Unit) -> Script:
    """A table that begins two words before a page, so that rows lie across pages."""
    p, bus = unit.p, unit.bus_bits
    high = (1 << p.position_bits - 1) - 1
    edges = [ROWS - 1, ROWS, -1, 0, 1 << 18, (1 << 18) - 1, 2 * ROWS]
    walk = [(at * 13) % ROWS for at in range(24)]
    words = -(-WIDTH * p.data_bits // bus)
    bad = {5: 0, 8: 1, 21: words - 1}  # of rows, the word that cannot be read
    rows = [*walk[:12], *edges, *walk[12:], 5, 8, 21, 4]
    positions = [row - OFFSET for row in rows] + [high, -high - 1, 7]
    geometry = LearnedGeometry(rows=ROWS, width=WIDTH, offset=OFFSET)
    return Script(p, geometry, bus, 0x7_0000 - 2 * bus // 8, positions, bad)


@cocotb.test()
@cocotb.parametrize(name=list(UNITS), idle=[0.0, 0.3], stall=[0.0, 0.3], pause=[0.0, 0.3])
async def every_sum_is_golden_s(dut, name, idle, stall, pause):
    unit = Unit(dut, name)
    what = script(unit)
    pace = Pace(idle, stall, pause, latency=(1, 60) if pause else (30, 31))
    seed = round(100 * idle + 10 * stall + pause)
    data = embeddings_of(what, seed)
    check(what, data, await stream(unit, what, data, pace, seed))
