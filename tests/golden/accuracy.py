# SPDX-License-Identifier: Apache-2.0
"""Bounds of the bit-true model's error; ``python -m tests.golden.accuracy`` prints them.

With e the errors of a row's cosine and sine in units of 1, the error of a turned element before
it is rounded is x·e_cos − y·e_sin. Over all pairs of a word of W bits this is at most
2^(W−1)·(|e_cos| + |e_sin|). Where neither result saturates the pair's norm is at most
2^(W−½)/amplitude, which bounds it by that times the hypotenuse of both errors; where the rotated
norm itself fits, by 2^(W−1)/amplitude times the hypotenuse. Rounding adds a half. So each figure
holds for every pair there is.

The first quadrant's phases speak for all 2^24, since a row's quadrants are each other's exact
quarter turns (test_sincos.py) and the set of pairs is the same in each.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.sincos import row
from ropeway.golden.table import LARGEST_UNSCALED_CODE, HeadPattern, PhaseTable, amplitude_code

QUADRANT = 1 << 22


@dataclass(frozen=True)
class Bounds:
    """Largest error in LSB over all phases: of unsaturated pairs, and of those whose norm fits."""

    unsaturated: float
    fitting: float


@cache
def exact_quadrant() -> tuple[np.ndarray, np.ndarray]:
    """Cos and sin of every phase of the first quadrant, float64 [2^22]."""
    angle = np.arange(QUADRANT) * (2 * np.pi / (4 * QUADRANT))
    return np.cos(angle), np.sin(angle)


def single_pair(code: int, scale: int) -> PhaseTable:
    """A table of one pair with a quantised amplitude."""
    return PhaseTable((0,), 2, HeadPattern(1, 0), amplitude=code, scale=scale)


def quadrant_row(p: RopeParameters, code: int, scale: int, every: int = 1):
    """The row's cos and sin at the first quadrant's phases, in units of 1, and exact ones."""
    phases = np.arange(0, QUADRANT, every)[:, None]
    coefficients = row(p, single_pair(code, scale), phases)
    unit = 2.0**-coefficients.fraction_bits
    cos, sin = exact_quadrant()
    return coefficients.cos[:, 0] * unit, coefficients.sin[:, 0] * unit, cos[::every], sin[::every]


def bounds(p: RopeParameters, code: int, scale: int, every: int = 1) -> Bounds:
    """Bounds at an amplitude's code, over all phases or one in ``every``."""
    amplitude = 2.0**scale * (1 + code * 2.0**-18)
    cos, sin, exact_cos, exact_sin = quadrant_row(p, code, scale, every)
    of_cos, of_sin = np.abs(cos - amplitude * exact_cos), np.abs(sin - amplitude * exact_sin)
    word = 2.0 ** (p.data_bits - 1)
    any_pair = word * (of_cos + of_sin)
    norm = word / amplitude * np.hypot(of_cos, of_sin)
    unsaturated, fitting = np.minimum(any_pair, np.sqrt(2) * norm), np.minimum(any_pair, norm)
    return Bounds(float(unsaturated.max()) + 0.5, float(fitting.max()) + 0.5)


# The worst of thousands of codes tried on one phase in 61, and those of checkpoints; the largest
# unscaled code and the first scaled one.
UNSCALED = (
    *(0, LARGEST_UNSCALED_CODE, amplitude_code(1.1902380714)[0], amplitude_code(1.3465736)[0]),
    *(-131072, -130416, -128687, -129126, -125318),
)
SCALED = (
    *(amplitude_code(factor)[0] for factor in (1.4143, 1.5, 2.0, 2.8)),
    *(-76642, -72681, -75803, -71439),
)
PROFILES = {
    "16 bits": (RopeParameters(), 1.0, 1.25),
    "8 bits": (RopeParameters(data_bits=8), 0.6, 0.6),
    "12 bits": (RopeParameters(data_bits=12), 0.6, 0.6),
    "18 bits": (RopeParameters(data_bits=18), 3.3, 3.3),
    "16 bits, 16-bit coefficients": (RopeParameters(coefficient_bits=16), 2.7, 2.7),
}


def worst(p: RopeParameters, codes: tuple[int, ...], scale: int, every: int = 1) -> Bounds:
    """The largest bounds of several amplitudes."""
    each = [bounds(p, code, scale, every) for code in codes]
    return Bounds(max(b.unsaturated for b in each), max(b.fitting for b in each))


def main():
    """Print every profile's bounds."""
    print(f"{'profile':30} {'amplitude':14} {'any unsaturated pair':>20} {'norm fits':>10}")
    for name, (p, _, _) in PROFILES.items():
        for label, codes, scale in (
            ("1", (0,), 0),
            ("0.5 to √2", UNSCALED, 0),
            ("√2 to 2.83", SCALED, 1),
        ):
            found = worst(p, codes, scale)
            print(f"{name:30} {label:14} {found.unsaturated:20.3f} {found.fitting:10.3f}")


if __name__ == "__main__":
    main()
