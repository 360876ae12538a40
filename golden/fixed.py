# SPDX-License-Identifier: Apache-2.0
"""Named rounding and saturation of integers, as the hardware does them (hdl/fixed.py is the twin)."""

import numpy as np

__all__ = ["limits", "quantise", "round_half_up", "saturate"]


def limits(bits: int) -> tuple[int, int]:
    """The smallest and largest value of a signed word of ``bits``."""
    return -(1 << bits - 1), (1 << bits - 1) - 1


def round_half_up(value: np.ndarray, shift: int) -> np.ndarray:
    """``value`` / 2^shift to the nearest integer, a half towards plus infinity."""
    return value if shift == 0 else (value + (1 << shift - 1)) >> shift


def saturate(value: np.ndarray, bits: int) -> np.ndarray:
    """``value`` held within a signed word of ``bits``."""
    return np.clip(value, *limits(bits))


def quantise(value: np.ndarray, bits: int) -> tuple[np.ndarray, float]:
    """Floats to ``bits``-bit integers (int32) that no rotation can saturate, and the value of one LSB.

    The scale is the smallest power of two that leaves a pair's norm √2 of room, and a YaRN amplitude's
    2√2 beside it, within the word.
    """
    peak = float(np.max(np.abs(value), initial=0.0))
    room = limits(bits)[1] / 4  # √2 for the turn, 2√2 for the amplitude
    exponent = 0 if peak == 0 else int(np.ceil(np.log2(peak / room)))
    scale = 2.0**exponent
    return np.floor(np.asarray(value, dtype=np.float64) / scale + 0.5).astype(np.int32), scale
