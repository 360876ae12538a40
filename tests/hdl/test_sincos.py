# SPDX-License-Identifier: Apache-2.0
"""Sine and cosine in hardware equal the golden ones."""

import numpy as np

from ropeway.golden.sincos import OFFSET_BITS, PHASE_BITS, quadrant_sincos
from ropeway.hdl.sincos import SinCos
from tests.hdl.benches import clock_through


def test_every_corner_and_random_phases_are_exact_one_a_clock():
    random = np.random.default_rng(0)
    steps = np.arange(0, 1 << PHASE_BITS, 1 << PHASE_BITS - 5)
    near = np.array([-2, -1, 0, 1, 2, (1 << OFFSET_BITS - 1) - 1, 1 << OFFSET_BITS - 1])
    corners = (steps[:, None] + near).reshape(-1) % (1 << PHASE_BITS)
    phases = np.concatenate([corners, random.integers(0, 1 << PHASE_BITS, 1 << 14)])
    valid = np.concatenate([random.integers(0, 2, len(phases) - 1), [0]])
    component = SinCos(range(1 << PHASE_BITS))
    found = clock_through(
        component,
        {"i.payload.phase": phases, "i.payload.tag": phases, "i.valid": valid},
        ["o.valid", "o.payload.quadrant", "o.payload.cos", "o.payload.sin", "o.payload.tag"],
        extra=component.latency,
    )
    quadrant, cos, sin = quadrant_sincos(phases)
    expected = {"quadrant": quadrant, "cos": cos, "sin": sin, "tag": phases}
    for name, values in expected.items():
        assert np.array_equal(found[f"o.payload.{name}"][component.latency :], values), name
    assert np.array_equal(found["o.valid"][component.latency :], valid)
    assert not found["o.valid"][: component.latency].any()
