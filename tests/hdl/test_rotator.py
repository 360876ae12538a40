# SPDX-License-Identifier: Apache-2.0
"""A lane turns a pair as golden does; three multipliers and four give the same bits."""

from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rotate
from ropeway.golden.sincos import row
from ropeway.golden.table import Pairing
from ropeway.hdl.rotator import Lane, Rotator
from tests.geometries import elements
from tests.golden.accuracy import single_pair
from tests.hdl.benches import clock_through
from tests.hdl.coefficients import Angles

COUNT = 2500


def turned(p: RopeParameters, angles: Angles, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What golden makes of pairs [count, 2], and whether either element saturated."""
    out, saturated = np.empty_like(pairs), np.zeros(len(pairs), dtype=int)
    for n, (phase, code, scale) in enumerate(
        zip(angles.phases, angles.codes.tolist(), angles.scales.tolist(), strict=True)
    ):
        table = replace(single_pair(code, scale), pairing=Pairing.ADJACENT)
        coefficients = row(p, table, np.array([[phase]]))
        turned_pair, count = rotate(p, table, coefficients, pairs[None, None, n])
        out[n], saturated[n] = turned_pair[0, 0], count > 0
    return out, saturated


LANES = {
    "16 bits, three multipliers": RopeParameters(),
    "16 bits, four multipliers": RopeParameters(multipliers=4),
    "8 bits, three multipliers": RopeParameters(data_bits=8),
    "18 bits": RopeParameters(data_bits=18),
    "16-bit coefficients": RopeParameters(coefficient_bits=16),
    "16 bits to 8, three multipliers": RopeParameters(output_bits=8),
    "18 bits to 12": RopeParameters(data_bits=18, output_bits=12),
    "17 bits to 16, 16-bit coefficients": RopeParameters(
        data_bits=17, output_bits=16, coefficient_bits=16
    ),
}


def inputs_of(p: RopeParameters, seed: int):
    """Angles, pairs, and whether the second element comes first."""
    random = np.random.default_rng(seed)
    return (
        Angles.random(p, COUNT, seed),
        elements(random, (COUNT, 2), p.data_bits),
        random.integers(0, 2, COUNT),
    )


def run_lane(p: RopeParameters, angles: Angles, pairs: np.ndarray, exchanged: np.ndarray):
    lane = Lane(p)
    first = np.where(exchanged, pairs[:, 1], pairs[:, 0])
    second = np.where(exchanged, pairs[:, 0], pairs[:, 1])
    found = clock_through(
        lane,
        {"first": first, "second": second, "exchanged": exchanged}
        | {f"coefficients.{name}": words for name, words in angles.words.items()},
        ["x", "y", "saturated"],
        extra=lane.latency,
    )
    return {name: values[lane.latency :] for name, values in found.items()}


@pytest.mark.parametrize("p", LANES.values(), ids=LANES)
def test_a_lane_turns_a_pair_every_clock_as_golden_does(p):
    angles, pairs, exchanged = inputs_of(p, seed=1)
    found = run_lane(p, angles, pairs, exchanged)
    out, saturated = turned(p, angles, pairs)
    assert np.array_equal(found["x"], out[:, 0])
    assert np.array_equal(found["y"], out[:, 1])
    assert np.array_equal(found["saturated"], saturated)
    assert 0 < saturated.sum() < COUNT


def test_three_multipliers_and_four_give_the_same_bits():
    three, four = RopeParameters(multipliers=3), RopeParameters(multipliers=4)
    angles, pairs, exchanged = inputs_of(three, seed=2)
    same = Angles.of(four, angles.phases, angles.codes, angles.scales)
    found = run_lane(three, angles, pairs, exchanged)
    again = run_lane(four, same, pairs, exchanged)
    assert all(np.array_equal(found[name], again[name]) for name in found)


def test_lanes_stand_side_by_side():
    p = RopeParameters(lanes=4)
    rotator = Rotator(p)
    angles, pairs, exchanged = inputs_of(p, seed=3)
    groups = COUNT // 4
    exchanged = exchanged[:groups]
    inputs: dict[str, np.ndarray] = {"exchanged": exchanged}
    for lane in range(4):
        own = pairs[lane::4]
        inputs[f"first.{lane}"] = np.where(exchanged, own[:, 1], own[:, 0])
        inputs[f"second.{lane}"] = np.where(exchanged, own[:, 0], own[:, 1])
        for name, words in angles.words.items():
            inputs[f"coefficients.{lane}.{name}"] = words[lane::4]
    outputs = [f"{part}.{lane}" for part in "xy" for lane in range(4)]
    found = clock_through(rotator, inputs, [*outputs, "saturated"], extra=rotator.latency)
    out, saturated = turned(p, angles, pairs)
    for part, name in enumerate("xy"):
        for lane in range(4):
            values = found[f"{name}.{lane}"][rotator.latency :]
            assert np.array_equal(values, out[lane::4, part])
    some = saturated.reshape(groups, 4).any(axis=1)
    assert np.array_equal(found["saturated"][rotator.latency :], some)
