# SPDX-License-Identifier: Apache-2.0
"""Random elements with their corners, in whatever format hardware takes."""

import numpy as np

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.fixed import limits
from ropeway.golden.floats import FloatFormat
from ropeway.golden.parameters import RopeParameters

__all__ = ["data_words", "elements", "float_words"]


def elements(random: np.random.Generator, shape: tuple[int, ...], bits: int) -> np.ndarray:
    """Data of ``bits``, a quarter of it corners."""
    low, high = limits(bits)
    corners = random.choice([low, low + 1, -1, 0, 1, high], shape)
    return np.where(random.random(shape) < 0.25, corners, random.integers(low, high + 1, shape))


def float_words(
    random: np.random.Generator, shape: tuple[int, ...], floats: FloatFormat
) -> np.ndarray:
    """Words of a format as signed integers: like exponents, any word, and an eighth corners."""
    one, top = floats.bias << floats.fraction_bits, floats.infinity
    corners = [0, 1, 2, one, top - 1, top, top + 1, floats.nan, floats.nan + 1]
    corners += [(1 << floats.fraction_bits) - 1, 1 << floats.fraction_bits]
    choice = random.random(shape)
    spread = 8 << floats.fraction_bits
    words = one + random.integers(-spread, spread, shape)
    words = np.where(choice < 0.5, random.integers(0, 1 << 15, shape), words)
    words = np.where(choice < 0.125, random.choice(corners, shape), words)
    return words - (random.integers(0, 2, shape) << 15)


def data_words(
    random: np.random.Generator, shape: tuple[int, ...], p: RopeParameters | AdderParameters
) -> np.ndarray:
    """Elements of whatever a unit takes."""
    if p.floating:
        return float_words(random, shape, p.floating)
    return elements(random, shape, p.data_bits)
