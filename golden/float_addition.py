# SPDX-License-Identifier: Apache-2.0
"""Bit-true addition of rows to bf16 and fp16 embeddings: one rounding of the exact sum.

x · scale + row is rounded to nearest even, as IEEE 754's fused operation does; without a scale it
is IEEE 754's addition. A sum of exactly zero is +0, unless both terms are negative zeros. Every NaN
that comes out is the canonical one.
"""

from typing import NamedTuple

import numpy as np

from .floats import FloatFormat

__all__ = ["add_to_floats"]

ROW_BITS = 18  # of a fixed-point row's magnitude
LARGEST_DROP = 40  # from here on nothing is left of a term


class Terms(NamedTuple):
    """± magnitude · 2^(exponent − bias − fraction_bits), magnitudes of at most ``bits``."""

    negative: np.ndarray
    exponent: np.ndarray
    magnitude: np.ndarray
    bits: int


def add_to_floats(
    floats: FloatFormat,
    embeddings: np.ndarray,
    rows: np.ndarray,
    *,
    scale: tuple[int, int] = (1, 0),
    row_fraction_bits: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Words (int16) of embeddings · scale + rows, and which finite sums became infinite.

    ``embeddings`` are words of ``floats``; ``scale`` is (code, exponent) for code · 2^exponent, the
    code positive and of at most 18 bits. ``rows`` are words of ``floats`` too, or integers whose
    last bit is 2^-``row_fraction_bits``. Both arrays have the same shape.
    """
    code, shift = scale
    negative, exponent, magnitude = floats.unpack(embeddings)
    bits = floats.fraction_bits + 1 + (code.bit_length() if code > 1 else 0)
    scaled = Terms(negative, exponent + shift, magnitude * code, bits)
    finite, addend = floats.is_finite(embeddings), np.zeros(1)
    if row_fraction_bits is None:
        row = Terms(*floats.unpack(rows), floats.fraction_bits + 1)
        finite &= floats.is_finite(rows)
        addend = floats.to_float64(rows[~finite])
    else:
        unit = floats.bias + floats.fraction_bits - row_fraction_bits
        row = Terms(rows < 0, np.full(rows.shape, unit), np.abs(rows).astype(np.int64), ROW_BITS)
    words, overflows = floats.pack(*_total(scaled, row))
    with np.errstate(invalid="ignore"):  # infinities that cancel
        words[~finite] = floats.from_float64(floats.to_float64(embeddings[~finite]) + addend)
    return words.view(np.int16), overflows & finite


def _total(one: Terms, other: Terms) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sign, magnitude below 2^53 and exponent of a sum; its last bit may stand for a rest.

    The term of the larger exponent is raised beyond the width of the other. What then is left over
    of that one is less than the last bit, far below any rounding.
    """
    # A zero of fixed point has any exponent; one of floating point the least.
    first = one.exponent
    second = np.where(other.magnitude == 0, first, other.exponent)
    above = first >= second
    distance = np.abs(first - second)
    raised = np.minimum(distance, np.where(above, other.bits, one.bits) + 2)
    dropped = distance - raised

    signed = [np.where(part.negative, -part.magnitude, part.magnitude) for part in (one, other)]
    high, low = np.where(above, *signed), np.where(above, *signed[::-1])
    shift = np.minimum(dropped, LARGEST_DROP)
    kept = low >> shift
    rest = (kept << shift) != low
    total = (high << raised + 1) + (kept << 1 | rest)

    negative = np.where(total == 0, one.negative & other.negative, total < 0)
    return negative, np.abs(total), np.minimum(first, second) + dropped - 1
