# SPDX-License-Identifier: Apache-2.0
"""Bit-true sinusoidal rows: what the hardware adds to the embedding at a position."""

import numpy as np

from .adder import add_rows, scale_word
from .adder_parameters import AdderParameters
from .additive import SinusoidalGeometry
from .fixed import round_half_up
from .sincos import RAW_FRACTION_BITS, phases_of, quadrant_sincos, turned

__all__ = ["ROW_BITS", "ROW_FRACTION_BITS", "add_sinusoidal", "sinusoidal_rows"]

# A row's words; ±1 fits. They are within 2^-17 + 1.2 · 2^-20 of exact.
ROW_BITS = 18
ROW_FRACTION_BITS = 16


def sinusoidal_rows(geometry: SinusoidalGeometry, positions: np.ndarray) -> np.ndarray:
    """Rows in units of 2^-16, int64 [tokens, width]; ``positions`` are integers [tokens]."""
    at = np.asarray(positions, dtype=np.int64)[:, None] + geometry.offset
    quadrant, *raw = quadrant_sincos(phases_of(at, geometry.increments))
    dropped = RAW_FRACTION_BITS - ROW_FRACTION_BITS
    cosine, sine = turned(quadrant, *(round_half_up(value, dropped) for value in raw))
    return geometry.laid_out(sine, cosine)


def add_sinusoidal(
    parameters: AdderParameters,
    geometry: SinusoidalGeometry,
    embeddings: np.ndarray,
    positions: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Embeddings [tokens, width] · scale + their rows, and how many elements saturated."""
    rows = sinusoidal_rows(geometry, positions)
    scale = scale_word(geometry.scale)
    return add_rows(parameters, embeddings, rows, ROW_FRACTION_BITS, scale=scale)
