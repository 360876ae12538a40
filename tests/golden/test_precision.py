# SPDX-License-Identifier: Apache-2.0
"""What narrower arithmetic loses: the bounds within which engines differ from exact mathematics."""

import numpy as np
import pytest

from ropeway.golden import schedules
from ropeway.golden.additive_config import bfloat16
from ropeway.golden.schedules import TURN, TWO_PI, increment

from .configs import rope


def exact(theta: int, dim: int) -> np.ndarray:
    return np.array([float(w) for w in schedules.default(theta_of(theta), dim).inv_freq])


def theta_of(theta: int):
    return schedules.ONE * theta


def float32_frequencies(theta: int, dim: int) -> np.ndarray:
    """As transformers computes them: exponent, power and reciprocal each in float32."""
    exponent = np.arange(0, dim, 2, dtype=np.float32) / np.float32(dim)
    return (np.float32(1) / np.float32(theta) ** exponent).astype(np.float32)


def as_bfloat16(values: np.ndarray) -> np.ndarray:
    flat = np.asarray(values, dtype=np.float32).ravel()
    return np.array([float(bfloat16(float(v))) for v in flat], dtype=np.float32)


@pytest.mark.parametrize(
    ("length", "theta", "dim", "bound"),
    [
        (4096, 10_000, 128, 2.3e-4),
        (8192, 500_000, 128, 5.8e-4),
        (131_072, 500_000, 128, 9.2e-3),
        (131_072, 1_000_000, 128, 9.4e-3),
        (163_840, 10_000, 64, 5.6e-3),
        (1_048_576, 1_000_000, 128, 7.6e-2),
        (10_485_760, 500_000, 128, 0.67),
    ],
)
def test_float32_tables_differ_from_exact_ones_within_bounds(length, theta, dim, bound):
    positions = np.arange(length - 4096, length)
    angle = positions.astype(np.float32)[:, None] * float32_frequencies(theta, dim)
    difference = np.cos(angle.astype(np.float64)) - np.cos(positions[:, None] * exact(theta, dim))
    assert np.abs(difference).max() <= bound * 1.01
    turns = np.array([increment(w) for w in schedules.default(theta_of(theta), dim).inv_freq])
    ours = (positions[:, None] * turns) % TURN / TURN * (2 * np.pi)
    assert np.abs(np.cos(ours) - np.cos(positions[:, None] * exact(theta, dim))).max() < 4e-7


@pytest.mark.parametrize("theta", [10_000, 500_000, 1_000_000])
def test_float32_frequencies_are_within_one_part_in_eight_million(theta):
    relative = float32_frequencies(theta, 128) / exact(theta, 128) - 1
    assert np.abs(relative).max() < 1.25e-7


@pytest.mark.parametrize(
    ("position", "theta", "bound"),
    [(4095, 10_000, 5.0e-4), (131_071, 500_000, 4.2e-3), (131_071, 1_000_000, 1.2e-2)],
)
def test_a_float32_recurrence_drifts_within_bounds(position, theta, bound):
    angle, scale = np.float32(position), np.float32(theta ** (-2 / 128))
    angles = []
    for _ in range(64):
        angles.append(angle)
        angle = np.float32(angle * scale)
    reference = position * exact(theta, 128)
    error = np.abs(np.array(angles, dtype=np.float64) - reference)
    assert error.max() <= bound * 1.01
    assert error[-1] / reference[-1] <= 4e-6


@pytest.mark.parametrize(
    ("position", "rounded"), [(256, 256), (257, 256), (511, 512), (15962, 15936)]
)
def test_bfloat16_positions(position, rounded):
    assert bfloat16(float(position)) == rounded


@pytest.mark.parametrize(
    ("position", "bound"), [(255, 0.55), (257, 0.86), (1000, 1.3), (4095, 2.0)]
)
def test_bfloat16_angles_are_useless(position, bound):
    frequencies = as_bfloat16(float32_frequencies(10_000, 128))
    angle = as_bfloat16(float(bfloat16(float(position))) * frequencies)
    error = np.abs(np.cos(angle.astype(np.float64)) - np.cos(position * exact(10_000, 128))).max()
    assert error <= bound * 1.01
    assert error > 0.25


@pytest.mark.parametrize(("position", "bound"), [(1000, 0.90), (4095, 1.7)])
def test_bfloat16_frequencies_alone_are_bad_enough(position, bound):
    frequencies = as_bfloat16(float32_frequencies(10_000, 128)).astype(np.float64)
    error = np.abs(np.cos(position * frequencies) - np.cos(position * exact(10_000, 128))).max()
    assert error <= bound * 1.01


def test_storing_cosines_in_sixteen_bits():
    cosines = np.cos(np.linspace(0, 2 * np.pi, 4001))
    assert np.abs(as_bfloat16(cosines) - cosines).max() <= 1.96e-3
    assert np.abs(cosines.astype(np.float16) - cosines).max() <= 2.45e-4


@pytest.mark.parametrize(
    ("bits", "position", "bound"),
    [(32, 131_071, 9.6e-5), (24, 131_071, 2.5e-2), (40, 10_485_759, 3.0e-5)],
)
def test_narrower_turn_accumulators(bits, position, bound):
    assert position * np.pi * 2.0**-bits <= bound
    for w in rope("llama-3.1-8b").inv_freq:
        turn = w / TWO_PI
        rounded = round(turn * (1 << bits)) / theta_of(1 << bits)
        assert abs(float((rounded - turn) * position)) * 2 * np.pi <= bound
