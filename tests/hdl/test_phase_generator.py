# SPDX-License-Identifier: Apache-2.0
"""Both phase generators equal the golden phase at every extreme."""

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.sincos import phase
from ropeway.golden.table import HeadPattern, PhaseTable
from ropeway.hdl.phase_generator import PhaseGenerator
from tests.hdl.benches import clock_through

INCREMENTS = (0, 1, 0xFFFF, 0x1_0000, 1 << 23, (1 << 32) - 1, 1 << 47, (1 << 48) - 1)


def stimuli(p: RopeParameters) -> tuple[list[int], list[int]]:
    """Every extreme position by every extreme increment, and random ones."""
    low, high = -(1 << p.position_bits - 1), 1 << p.position_bits - 1  # the negated lowest too
    random = np.random.default_rng(p.position_bits)
    corners = [low, low + 1, -1, 0, 1, high - 1, high]
    pairs = [(at, increment) for at in corners for increment in INCREMENTS]
    count = 100 if p.compact else 2000
    positions = random.integers(low, high + 1, count).tolist()
    pairs += zip(positions, random.integers(0, 1 << 48, count).tolist(), strict=True)
    return [position for position, _ in pairs], [increment for _, increment in pairs]


@pytest.mark.parametrize("relay", [False, True], ids=["plain", "relay"])
@pytest.mark.parametrize("position_bits", [8, 16, 17, 26, 32])
@pytest.mark.parametrize("compact", [False, True], ids=["pipelined", "compact"])
def test_a_phase_comes_a_latency_later_one_every_interval(compact, position_bits, relay):
    p = RopeParameters(compact=compact, position_bits=position_bits)
    positions, increments = stimuli(p)
    generator = PhaseGenerator(p, range(1 << 12), relay=relay)
    interval, latency = generator.interval, generator.latency
    assert interval == (5 if compact else 1)
    assert latency == (8 if compact else 4) + relay

    def spread(values, fill):
        return [x for value in values for x in (value, *[fill] * (interval - 1))]

    found = clock_through(
        generator,
        {
            "i.payload.position": spread(positions, -1),
            "i.payload.increment": spread(increments, 3),
            "i.payload.tag": spread([n % 4096 for n in range(len(positions))], 0),
            "i.valid": spread([1] * len(positions), 0),
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
