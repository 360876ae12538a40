# SPDX-License-Identifier: Apache-2.0
"""Coefficients in hardware equal the golden ones, sums and differences exactly."""

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.amplitude import Amplitude
from tests.hdl.benches import clock_through
from tests.hdl.coefficients import Angles


@pytest.mark.parametrize(
    "p",
    [
        RopeParameters(),
        RopeParameters(multipliers=4),
        RopeParameters(coefficient_bits=16),
    ],
    ids=["three multipliers", "four multipliers", "16-bit coefficients"],
)
def test_every_amplitude_gives_the_golden_coefficients_one_pair_a_clock(p):
    angles = Angles.random(p, 3000, seed=p.multipliers)
    component = Amplitude(p, range(1 << 12))
    tags = np.arange(3000)
    valid = np.random.default_rng(0).integers(0, 2, 3000)
    found = clock_through(
        component,
        {f"i.payload.{name}": values for name, values in angles.raw.items()}
        | {"amplitude.code": angles.codes, "amplitude.scale": angles.scales}
        | {"i.payload.tag": tags, "i.valid": valid},
        ["o.valid", "o.payload.tag"] + [f"o.payload.coefficients.{name}" for name in angles.words],
        extra=component.latency,
    )
    found = {name: values[component.latency :] for name, values in found.items()}
    assert np.array_equal(found["o.valid"], valid)
    assert np.array_equal(found["o.payload.tag"], tags)
    for name, words in angles.words.items():
        assert np.array_equal(found[f"o.payload.coefficients.{name}"], words), name
