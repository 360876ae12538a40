# SPDX-License-Identifier: Apache-2.0
"""Sine and cosine in hardware equal the golden ones, in every form."""

import numpy as np
import pytest

from ropeway.golden.generators import GENERATORS
from ropeway.golden.sincos import OFFSET_BITS, PHASE_BITS, quadrant_sincos
from ropeway.hdl.sincos import SinCos
from tests.hdl.benches import clock_through

FIELDS = ("quadrant", "small", "cos", "sin", "tag")


def phases_of(count: int) -> np.ndarray:
    """Around every corner, and at random."""
    steps = np.arange(0, 1 << PHASE_BITS, 1 << PHASE_BITS - 5)
    near = np.array([-2, -1, 0, 1, 2, (1 << OFFSET_BITS - 1) - 1, 1 << OFFSET_BITS - 1])
    corners = (steps[:, None] + near).reshape(-1) % (1 << PHASE_BITS)
    random = np.random.default_rng(0)
    return np.concatenate([corners, random.integers(0, 1 << PHASE_BITS, count)])


def test_which_of_both_is_larger_is_a_matter_of_the_eighth_of_a_turn():
    phases = np.arange(1 << PHASE_BITS - 2)
    _, cos, sin = quadrant_sincos(phases)
    small = phases <= 1 << PHASE_BITS - 3
    assert np.all(sin[small] <= cos[small])
    assert np.all(sin[~small] >= cos[~small])
    assert sin[1 << PHASE_BITS - 3] < cos[1 << PHASE_BITS - 3]


@pytest.mark.parametrize("form", GENERATORS)
def test_every_corner_and_random_phases_are_exact_one_an_interval(form):
    component = SinCos(form, range(1 << PHASE_BITS))
    interval, latency = component.interval, component.latency
    assert (latency, interval) == {"pipelined": (5, 1), "shared": (6, 3), "serial": (13, 14)}[form]
    phases = phases_of((1 << 14) // interval)
    valid = np.random.default_rng(1).integers(0, 2, len(phases))
    valid[-1] = 0
    held = np.repeat(phases, interval)
    found = clock_through(
        component,
        {
            "i.payload.phase": held,
            "i.payload.tag": held,
            "i.valid": np.where(np.arange(len(held)) % interval, 0, np.repeat(valid, interval)),
        },
        ["o.valid", *(f"o.payload.{name}" for name in FIELDS)],
        extra=latency,
    )
    quadrant, cos, sin = quadrant_sincos(phases)
    small = phases % (1 << PHASE_BITS - 2) <= 1 << PHASE_BITS - 3
    goes = np.flatnonzero(valid)
    expected = dict(zip(FIELDS, (quadrant, small, cos, sin, phases), strict=True))
    for name, values in expected.items():
        results = found[f"o.payload.{name}"][latency + interval * goes]
        assert np.array_equal(results, values[goes]), name
    assert np.flatnonzero(found["o.valid"]).tolist() == (latency + interval * goes).tolist()
