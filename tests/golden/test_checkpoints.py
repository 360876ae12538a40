# SPDX-License-Identifier: Apache-2.0
"""A checkpoint's config, through table and bit-true rotation, against its formula written out here.

The formulas share no code with golden: they are what a port gets wrong (the exponent's width, the
partner of an element, which heads turn, the scaling, where the amplitude goes).
"""

from math import log

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope as turn
from tests.golden.configs import YARN, rope

P = RopeParameters()
POSITIONS = np.array([0, 1, 2, 17, 4095, 70_000])


def plain(theta: float, dim: int) -> np.ndarray:
    return theta ** (-2.0 * np.arange(dim // 2) / dim)


def llama3(theta: float, dim: int) -> np.ndarray:
    frequency = plain(theta, dim)
    wavelength = 2 * np.pi / frequency
    smooth = np.clip((8192 / wavelength - 1) / (4 - 1), 0, 1)
    return frequency * ((1 - smooth) / 8 + smooth)


def yarn(theta: float, dim: int) -> np.ndarray:
    frequency = plain(theta, dim)

    def pair(turns: float) -> float:
        return dim * log(32768 / (2 * np.pi * turns)) / (2 * log(theta))

    low, high = np.floor(pair(32)), np.ceil(pair(1))
    stretched = np.clip((np.arange(dim // 2) - low) / (high - low), 0, 1)
    return frequency * (1 - stretched) + frequency / 4 * stretched


# name: (scaling, formula, theta, rotary, half-split, heads, key heads, head_dim, amplitude)
CHECKPOINTS = {
    "llama-3.1-8b": (None, llama3, 5e5, 128, True, 32, 8, 128, 1.0),
    "qwen2.5-7b-instruct": (YARN, yarn, 1e6, 128, True, 28, 4, 128, 0.1 * log(4) + 1),
    "mistral-nemo-instruct-2407": (None, plain, 1e6, 128, True, 32, 8, 128, 1.0),
    "phi-2": (None, plain, 1e4, 32, True, 32, 32, 80, 1.0),
    "gpt-neox-20b": (None, plain, 1e4, 24, True, 64, 64, 96, 1.0),
    "gpt-j-6b": (None, plain, 1e4, 64, False, 16, 16, 256, 1.0),
}


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_q_and_k_of_a_checkpoint_turn_as_its_formula_says_and_v_passes(name):
    scaling, formula, theta, rotary, half_split, heads, key_heads, head_dim, amplitude = (
        CHECKPOINTS[name]
    )
    geometry = rope(name) if scaling is None else rope(name, scaling=scaling)
    table = geometry.table()
    assert table.pattern.counts == (heads, key_heads, key_heads)

    random = np.random.default_rng(0)
    shape = (len(POSITIONS), heads + 2 * key_heads, head_dim)
    given = random.integers(-10_000, 10_000, shape)
    out, saturated = turn(P, table, given, POSITIONS)
    assert saturated == 0

    angle = POSITIONS[:, None] * formula(theta, rotary)
    factor = amplitude * np.exp(1j * angle)[:, None]
    turned = given[:, : heads + key_heads, :rotary].astype(float)
    if half_split:
        first, second = np.split(np.arange(rotary), 2)
    else:
        first, second = np.arange(0, rotary, 2), np.arange(1, rotary, 2)
    values = (turned[..., first] + 1j * turned[..., second]) * factor
    rotated = out[:, : heads + key_heads]
    assert np.abs(rotated[..., first] - values.real).max() < 1
    assert np.abs(rotated[..., second] - values.imag).max() < 1
    assert np.array_equal(rotated[..., rotary:], given[:, : heads + key_heads, rotary:])
    assert np.array_equal(out[:, heads + key_heads :], given[:, heads + key_heads :])
