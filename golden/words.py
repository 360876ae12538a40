# SPDX-License-Identifier: Apache-2.0
"""Arrays as a user has them to the signed words an engine takes, and back."""

from math import ceil, log2

import numpy as np

from .errors import InputError
from .fixed import limits

__all__ = [
    "check_finite",
    "check_fits",
    "from_words",
    "peak_fits",
    "smallest_lsb",
    "to_words",
    "unsaturated_lsb",
    "word_type",
]

LARGEST_EXPONENT = 1000  # of a float: leaves float64 room for every product and scale


def word_type(bits: int) -> type[np.signedinteger]:
    """The smallest NumPy integer that holds a word of ``bits``."""
    return np.int8 if bits <= 8 else np.int16 if bits <= 16 else np.int32


def check_finite(name: str, array: np.ndarray):
    """Raise InputError where a float is no number that arithmetic can go on with."""
    with np.errstate(over="ignore"):  # infinity is the limit of types that do not reach it
        most = np.array(2.0**LARGEST_EXPONENT).astype(array.dtype)
    bad = ~(np.abs(array) < most)
    if bad.any():
        value = float(array[bad][0])
        raise InputError(name, value, f"must be finite and below 2^{LARGEST_EXPONENT}")


def check_fits(name: str, array: np.ndarray, low: int, high: int, what: str):
    """Raise InputError where a number is outside ``low`` … ``high``, the range of ``what``."""
    for extreme in (array.min().item(), array.max().item()):
        if not low <= extreme <= high:
            rule = f"must be from {low} to {high}, the range of {what}"
            raise InputError(name, extreme, rule)


def unsaturated_lsb(array: np.ndarray, bits: int, growth: float, narrowed: int = 0) -> float:
    """The smallest power of two, as the value of one LSB, at which a word can grow ``growth``-fold.

    Half an LSB is left for rounding into words, and 1¼ for the error of the turn itself. Results
    are ``narrowed`` bits narrower.
    """
    most = (limits(bits - narrowed)[1] + 0.5) * 2**narrowed - 0.5  # rounds to the largest result
    room = (most - 1.25) / growth - 0.5
    return _power_above(float(np.max(np.abs(array))) / room)


def smallest_lsb(peak: float, bits: int) -> float:
    """The smallest power of two, as the value of one LSB, at which a sum up to ``peak`` fits.

    One LSB is left for rounding its parts, and one for rounding the sum.
    """
    return _power_above(peak / (limits(bits)[1] - 2))


def _power_above(value: float) -> float:
    return 2.0 ** ceil(log2(max(value, 2.0**-LARGEST_EXPONENT)))


def to_words(name: str, array: np.ndarray, bits: int, lsb: float | None) -> np.ndarray:
    """Words of ``bits``: integers as they are, floats in units of ``lsb``, a half rounded upwards.

    Raises InputError where one does not fit.
    """
    if lsb is not None:
        with np.errstate(over="ignore"):  # infinity does not fit either
            array = np.floor(np.asarray(array, dtype=np.float64) / lsb + 0.5)
    check_fits(name, array, *limits(bits), f"{bits}-bit words")
    return array.astype(word_type(bits), copy=False)


def from_words(name: str, words: np.ndarray, lsb: float | None, dtype: np.dtype) -> np.ndarray:
    """The reverse, in ``dtype``; InputError where that cannot hold a result."""
    if lsb is not None:
        with np.errstate(over="ignore"):
            values = words * lsb
        peak_fits(name, float(np.max(np.abs(values))), dtype)
        return values.astype(dtype)
    check_fits(name, words, np.iinfo(dtype).min, np.iinfo(dtype).max, f"the input's {dtype}")
    return words.astype(dtype, copy=False)


def peak_fits(name: str, peak: float, dtype: np.dtype):
    """Raise InputError where a type of floats cannot hold a result."""
    if np.float64(peak) > np.finfo(dtype).max:
        raise InputError(name, peak, f"the result must fit the input's {dtype}")
