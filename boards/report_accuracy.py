# SPDX-License-Identifier: Apache-2.0
"""How far a rotation is from exact mathematics, position by position: ours and float32's."""

import numpy as np

from ropeway.golden import geometry_of
from ropeway.golden.batch import rope_geometry
from ropeway.golden.exact import cos_sin, rotate_exact
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rotate
from ropeway.golden.sincos import phase, row

__all__ = ["accuracy", "float32_rotated"]

MODEL = "llama-3.1-8b"
POWERS = range(25)  # positions from 1 to 16 million
BESIDE = 24  # positions from each power of two on
LARGEST = 23_000  # LSB: no turn of it saturates


def accuracy() -> dict:
    """The largest error in LSB of 16-bit data over all pairs, at and beyond each power of two.

    ``ropeway`` is the golden model, to which the hardware is equal bit for bit; ``float32`` turns
    the same words as GPUs do: frequencies, angle, cosine, sine and products in float32.
    """
    geometry, p = rope_geometry(geometry_of(MODEL)), RopeParameters()
    table = geometry.table()
    inv_freq = np.array(geometry.inv_freq, dtype=np.float64)
    random = np.random.default_rng(0)
    found: dict = {"model": MODEL, "position": [], "ropeway": [], "float32": []}
    for power in POWERS:
        positions = (1 << power) + np.arange(BESIDE)
        words = random.integers(-LARGEST, LARGEST, (BESIDE, 4, geometry.head_dim))
        ideal = rotate_exact(words, *cos_sin(inv_freq, positions), geometry.pairing)
        ours, _ = rotate(p, table, row(p, table, phase(table, positions)), words)
        float32 = float32_rotated(words, inv_freq, positions)
        found["position"].append(1 << power)
        found["ropeway"].append(_three_digits(np.abs(ours - ideal).max()))
        found["float32"].append(_three_digits(np.abs(float32 - ideal).max()))
    return found


def float32_rotated(words: np.ndarray, inv_freq: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Half-split heads turned as model code does on a GPU, in units of the words; float32.

    Kinder than most of it: each frequency is the float32 nearest to the exact one.
    """
    angle = positions.astype(np.float32)[:, None] * inv_freq.astype(np.float32)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    x, y = np.split(words.astype(np.float32), 2, axis=-1)
    return np.concatenate([x * cos - y * sin, y * cos + x * sin], axis=-1)


def _three_digits(value: float) -> float:
    return float(f"{value:.3g}")
