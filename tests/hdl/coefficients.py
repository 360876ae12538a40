# SPDX-License-Identifier: Apache-2.0
"""Coefficients of angles and amplitudes, as golden has them, for the hardware's ports."""

from dataclasses import dataclass

import numpy as np

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.sincos import PHASE_BITS, quadrant_sincos, scaled
from ropeway.golden.table import LARGEST_UNSCALED_CODE, amplitude_code
from tests.golden.accuracy import single_pair


@dataclass(frozen=True)
class Angles:
    """Phases, amplitudes and what golden makes of them; one entry a pair, all arrays."""

    phases: np.ndarray
    codes: np.ndarray
    scales: np.ndarray
    raw: dict[str, np.ndarray]
    words: dict[str, np.ndarray]

    @classmethod
    def of(cls, p: RopeParameters, phases: np.ndarray, codes: np.ndarray, scales: np.ndarray):
        """The angles of given phases and amplitudes."""
        quadrant, cos, sin = quadrant_sincos(phases)
        small = (phases % (1 << PHASE_BITS - 2) <= 1 << PHASE_BITS - 3).astype(int)
        raw = {"quadrant": quadrant, "small": small, "cos": cos, "sin": sin}
        pairs = zip(codes.tolist(), scales.tolist(), cos, sin, strict=True)
        both = np.array(
            [
                [scaled(p, single_pair(code, scale), part) for part in (of_cos, of_sin)]
                for code, scale, of_cos, of_sin in pairs
            ]
        )
        cos, sin = both[:, 0], both[:, 1]
        words = {"quadrant": quadrant, "scale": scales, "cos": cos}
        if p.multipliers == 3:
            difference = sin - cos
            words |= {
                "sum": cos + sin,
                "difference": np.abs(difference)
                ^ np.where(small, 0, (1 << p.coefficient_bits) - 1),
                "negative": small,  # or both are equal
            }
        else:
            words |= {"sin": sin}
        return cls(phases, codes, scales, raw, words)

    @classmethod
    def random(cls, p: RopeParameters, count: int, seed: int):
        """Random phases and amplitudes, corners among both."""
        random = np.random.default_rng(seed)
        quadrant = 1 << PHASE_BITS - 2
        corners = [n * quadrant + d for n in range(1, 5) for d in (-1, 0, 1, quadrant // 2)]
        scales = random.integers(0, 2, count)
        low = np.where(scales, amplitude_code(1.4143)[0], -131072)
        high = np.where(scales, amplitude_code(2.8284)[0], LARGEST_UNSCALED_CODE)
        codes = random.integers(low, high + 1)
        codes[::7], scales[::7] = 0, 0
        codes[1::7], scales[1::7] = LARGEST_UNSCALED_CODE, 0
        phases = random.integers(0, 1 << PHASE_BITS, count)
        phases[: len(corners)] = np.array(corners) % (1 << PHASE_BITS)
        return cls.of(p, phases, codes, scales)
