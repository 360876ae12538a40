# SPDX-License-Identifier: Apache-2.0
"""A planted needle: how far a key that equals the query stands out from random keys, by offset."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .exact import cos_sin, rotate_exact
from .geometry import RopeGeometry

__all__ = ["NeedleScores", "planted_needle"]


@dataclass(frozen=True)
class NeedleScores:
    """Scores q·k/√d, float64 [offsets, trials], of the needle and of a random key in its place."""

    offsets: np.ndarray
    needle: np.ndarray
    haystack: np.ndarray

    @cached_property
    def contrast(self) -> np.ndarray:
        """The needle's scores in standard deviations of the haystack's; no amplitude moves it."""
        return self.needle / self.haystack.std()


def planted_needle(
    geometry: RopeGeometry, offsets: np.ndarray, *, trials: int = 1000, seed: int = 0
) -> NeedleScores:
    """Score ``trials`` random queries, ``offsets`` tokens after a key that equals each.

    Queries and the haystack's keys are standard normal, and the same ones for the same ``seed``
    and head, so that geometries compare trial by trial. Scores depend on the offset alone: the
    keys stand at position 0.
    """
    random = np.random.default_rng(seed)
    queries, others = random.standard_normal((2, 1, trials, geometry.head_dim))
    frequencies = np.array([float(w) for w in geometry.inv_freq])

    def turned(heads: np.ndarray, position: int) -> np.ndarray:
        cos, sin = cos_sin(frequencies, np.array([position]), geometry.attention_factor)
        return rotate_exact(heads, cos, sin, geometry.pairing, geometry.rotary_offset)[0]

    keys = np.stack([turned(queries, 0), turned(others, 0)])
    scores = np.stack(
        [np.einsum("nd,knd->kn", turned(queries, offset), keys) for offset in offsets], axis=1
    )
    needle, haystack = scores / np.sqrt(geometry.head_dim)
    return NeedleScores(np.asarray(offsets), needle, haystack)
