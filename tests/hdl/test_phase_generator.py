# SPDX-License-Identifier: Apache-2.0
"""Every form of phase generator equals the golden phase at every extreme."""

import numpy as np
import pytest

from ropeway.golden.generators import GENERATORS
from ropeway.golden.sincos import phase
from ropeway.golden.table import HeadPattern, PhaseTable
from ropeway.hdl.phase_generator import PhaseGenerator
from tests.hdl.benches import clock_through

INCREMENTS = (0, 1, 0xFFFF, 0x1_0000, 1 << 23, (1 << 32) - 1, 1 << 47, (1 << 48) - 1)


def stimuli(position_bits: int, count: int) -> tuple[list[int], list[int]]:
    """Every extreme position by every extreme increment, and ``count`` random ones."""
    low, high = -(1 << position_bits - 1), 1 << position_bits - 1  # the negated lowest too
    random = np.random.default_rng(position_bits)
    corners = [low, low + 1, -1, 0, 1, high - 1, high]
    pairs = [(at, increment) for at in corners for increment in INCREMENTS]
    positions = random.integers(low, high + 1, count).tolist()
    pairs += zip(positions, random.integers(0, 1 << 48, count).tolist(), strict=True)
    return [position for position, _ in pairs], [increment for _, increment in pairs]


LATENCIES = {"pipelined": 5, "shared": 8, "serial": 16}
INTERVALS = {"pipelined": 1, "shared": 3, "serial": 15}


@pytest.mark.parametrize("position_bits", [8, 16, 17, 26, 32])
@pytest.mark.parametrize("form", GENERATORS)
def test_a_phase_comes_a_latency_later_one_every_interval(form, position_bits):
    generator = PhaseGenerator(form, position_bits, range(1 << 12))
    interval, latency = generator.interval, generator.latency
    if position_bits == 26:
        assert (latency, interval) == (LATENCIES[form], INTERVALS[form])
    positions, increments = stimuli(position_bits, 2000 // interval)

    def spread(values, *, held):
        return [x for value in values for x in (value, *[value * held] * (interval - 1))]

    found = clock_through(
        generator,
        {
            "i.payload.position": spread(positions, held=True),
            "i.payload.increment": spread(increments, held=True),
            "i.payload.tag": spread([n % 4096 for n in range(len(positions))], held=True),
            "i.valid": spread([1] * len(positions), held=False),
        },
        ["o.valid", "o.payload.phase", "o.payload.tag"],
        extra=latency + 1,
    )
    valid = np.flatnonzero(found["o.valid"])
    assert valid[: len(positions)].tolist() == [
        latency + interval * n for n in range(len(positions))
    ]
    for number, (position, increment) in enumerate(zip(positions, increments, strict=True)):
        table = PhaseTable((increment,), 2, HeadPattern(1, 0))
        clock = latency + interval * number
        assert found["o.payload.phase"][clock] == phase(table, np.array([position]))[0, 0]
        assert found["o.payload.tag"][clock] == number % 4096
