# SPDX-License-Identifier: Apache-2.0
"""How far floating-point results are from exact ones, in units of a format's last place."""

import numpy as np

from .floats import FloatFormat

__all__ = ["ulp_errors"]


def ulp_errors(
    floats: FloatFormat, found: np.ndarray, exact: np.ndarray, size: np.ndarray
) -> np.ndarray:
    """The errors of ``found``, values of ``floats``, against float64 mathematics; 1-d, in ulp.

    An ulp is that of the binade of ``size``, or of the subnormals below the normal range. Infinity
    counts as the end of the largest binade. Left out is what is exactly infinite or no number.
    """
    counts = np.isfinite(exact)
    end = 2.0 ** (floats.bias + 1)
    found, exact = (np.clip(part[counts], -end, end) for part in (found, exact))
    size = np.minimum(np.broadcast_to(size, counts.shape)[counts], np.nextafter(end, 0))
    exponent = np.maximum(np.frexp(size)[1] - 1, 1 - floats.bias)
    return np.abs(found - exact) / np.exp2(exponent - float(floats.fraction_bits))
