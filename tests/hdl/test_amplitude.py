# SPDX-License-Identifier: Apache-2.0
"""Coefficients in hardware equal the golden ones in every form, sums and differences exactly."""

import numpy as np
import pytest

from ropeway.golden.generators import GENERATORS, SHARED
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.amplitude import Amplitude
from ropeway.hdl.rotation_row import notice
from tests.hdl.benches import clock_through
from tests.hdl.coefficients import Angles

KINDS = {
    "three multipliers": {},
    "four multipliers": {"multipliers": 4},
    "16-bit coefficients": {"coefficient_bits": 16},
}
LATENCIES = {
    "pipelined": {"three multipliers": 4, "four multipliers": 3, "16-bit coefficients": 3},
    "shared": {"three multipliers": 5, "four multipliers": 4, "16-bit coefficients": 4},
    "serial": {"three multipliers": 14, "four multipliers": 13, "16-bit coefficients": 12},
}


@pytest.mark.parametrize("form", GENERATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_amplitude_gives_the_golden_coefficients_one_pair_an_interval(kind, form):
    p = RopeParameters(generator=form, **KINDS[kind])
    component = Amplitude(p, range(1 << 12))
    interval, latency, wait = component.interval, component.latency, component.wait
    assert latency == LATENCIES[form][kind]
    count = 3000 // interval
    angles = Angles.random(p, count, seed=p.multipliers)
    tags, valid = np.arange(count), np.random.default_rng(0).integers(0, 2, count)

    def held(values):
        return np.repeat(values, interval)

    def given(name, values):
        column = held(values)
        # A shared SinCos has its cosine a clock early.
        early = form == SHARED and name == "cos"
        return np.append(column[1:], column[-1]) if early else column

    def late(values):
        return np.concatenate([np.zeros(wait, int), held(values)])[: count * interval]

    found = clock_through(
        component,
        {f"i.payload.{name}": given(name, values) for name, values in angles.raw.items()}
        | {"amplitude.code": late(angles.codes), "amplitude.scale": late(angles.scales)}
        | {"i.payload.tag": held(tags)}
        | {"i.valid": np.where(np.arange(count * interval) % interval, 0, held(valid))},
        ["soon", "o.valid", "o.payload.tag"]
        + [f"o.payload.coefficients.{name}" for name in angles.words],
        extra=latency,
    )
    goes = np.flatnonzero(valid)
    assert np.flatnonzero(found["o.valid"]).tolist() == (latency + interval * goes).tolist()
    ahead = notice(p)
    assert np.array_equal(found["soon"][:-ahead], found["o.valid"][ahead:])
    assert np.array_equal(found["o.payload.tag"][latency + interval * goes], tags[goes])
    for name, words in angles.words.items():
        results = found[f"o.payload.coefficients.{name}"][latency + interval * goes]
        assert np.array_equal(results, words[goes]), name
