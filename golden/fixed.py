# SPDX-License-Identifier: Apache-2.0
"""Named rounding and saturation of integers; hdl/fixed.py is the hardware's twin."""

import numpy as np

__all__ = ["limits", "round_half_up", "saturate"]


def limits(bits: int) -> tuple[int, int]:
    """The smallest and largest value of a signed word of ``bits``."""
    return -(1 << bits - 1), (1 << bits - 1) - 1


def round_half_up(value: np.ndarray, shift: int) -> np.ndarray:
    """``value`` / 2^shift to the nearest integer, a half towards plus infinity."""
    return value if shift == 0 else (value + (1 << shift - 1)) >> shift


def saturate(value: np.ndarray, bits: int) -> np.ndarray:
    """``value`` held within a signed word of ``bits``."""
    return np.clip(value, *limits(bits))
