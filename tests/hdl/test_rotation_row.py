# SPDX-License-Identifier: Apache-2.0
"""Rows are written a pair at a time and read an entry at a time, as early as they may be."""

import numpy as np
import pytest
from amaranth.hdl import Value

from ropeway.golden.generators import GENERATORS, PIPELINED
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.rotation_row import RotationRow, notice
from tests.hdl.benches import clock_through


def schedule(random, p: RopeParameters) -> list[tuple[int, int, int, bool]]:
    """When each pair is told of, and its row, number and whether it is the row's last."""
    clock, pairs = 0, []
    for row in range(3 * p.rows):
        count = p.lanes * random.integers(1, p.max_pairs // p.lanes + 1)
        for pair in range(count):
            pairs.append((clock, row, pair, pair == count - 1))
            clock += p.generator_interval * (1 + random.integers(2) * random.integers(3))
    return pairs


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("rows", [2, 4])
def test_an_entry_is_read_from_the_clock_after_it_is_written_on(lanes, rows, generator):
    p = RopeParameters(lanes=lanes, rows=rows, max_head_dim=32, generator=generator)
    component = RotationRow(p)
    random = np.random.default_rng(lanes)
    pairs = schedule(random, p)
    clocks = pairs[-1][0] + 12
    width = len(Value.cast(component.coefficients[0]))

    inputs = {name: np.zeros(clocks, object) for name in ("soon", "valid", "word", "last")}
    inputs["word"][:] = [int(w) for w in random.integers(0, 1 << 62, clocks) % (1 << width)]
    stored, first_write, readable = {}, {}, {}
    for told, row, pair, last in pairs:
        comes = told + notice(p)
        inputs["soon"][told], inputs["valid"][comes], inputs["last"][comes] = 1, 1, int(last)
        stored[row, pair // lanes, pair % lanes] = inputs["word"][comes]
        first_write.setdefault(row, comes)
        if pair % lanes == lanes - 1:
            readable[row, pair // lanes] = told + 2 + p.distant

    # In most clocks what may just be read, or was a clock ago; else anything that still stands.
    reads = [(0, 0)] * clocks
    for clock in range(clocks):
        stands = [
            entry
            for entry, since in readable.items()
            if since <= clock < first_write.get(entry[0] + rows, clocks)
        ]
        new = [entry for entry in stands if clock - readable[entry] < 2 + random.integers(2)]
        if stands:
            likely = new or stands
            reads[clock] = likely[random.integers(len(likely))]
    found = clock_through(
        component,
        {
            "soon": inputs["soon"],
            "i.valid": inputs["valid"],
            "i.payload.coefficients": inputs["word"],
            "i.payload.last": inputs["last"],
            "row": [row % rows for row, _ in reads],
            "entry": [entry for _, entry in reads],
        },
        ["written", *(f"coefficients.{lane}" for lane in range(lanes))],
        extra=component.latency,
    )
    assert np.flatnonzero(found["written"]).tolist() == sorted(t - 1 for t in readable.values())
    since = min(readable.values())
    for clock in range(since, clocks):
        row, entry = reads[clock]
        for lane in range(lanes):
            word = found[f"coefficients.{lane}"][clock + component.latency]
            assert word == stored[row, entry, lane], (clock, row, entry, lane)
    early = [clock for clock in range(since, clocks) if readable[reads[clock]] == clock]
    assert len(early) > len(readable) // 4


def test_an_entry_may_be_read_two_clocks_before_its_memory_could_give_it():
    waits = {lanes: RotationRow.wait(RopeParameters(lanes=lanes)) for lanes in (1, 2, 4)}
    assert waits == {1: 1, 2: -1, 4: -1}
    assert RotationRow.wait(RopeParameters(generator="serial")) == 1
    assert RopeParameters(generator=PIPELINED).forwarded
