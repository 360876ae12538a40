# SPDX-License-Identifier: Apache-2.0
"""A user's array to the words of an engine and back, fixed-point or floating-point."""

from dataclasses import dataclass

import numpy as np

from .errors import InputError
from .floats import FloatFormat
from .words import from_words, peak_fits, to_words

__all__ = ["Codec", "FixedCodec", "FloatCodec"]


@dataclass(frozen=True)
class FixedCodec:
    """Words of ``bits``: integers as they are, floats in units of ``lsb``.

    Results are ``narrowed`` bits narrower; one's last bit is worth that much more.
    """

    name: str
    dtype: np.dtype
    bits: int
    lsb: float | None = None
    narrowed: int = 0

    def encode(self, array: np.ndarray) -> tuple[np.ndarray, int]:
        """Words, and how many elements overflow: none. InputError where one does not fit."""
        return to_words(self.name, array, self.bits, self.lsb), 0

    def decode(self, words: np.ndarray) -> np.ndarray:
        """Results in the array's type; InputError where that cannot hold one."""
        lsb = None if self.lsb is None else self.lsb * 2.0**self.narrowed
        return from_words(self.name, words, lsb, self.dtype)

    def values(self, array: np.ndarray) -> np.ndarray:
        """What exact mathematics takes: the array itself."""
        return array


@dataclass(frozen=True)
class FloatCodec:
    """Words of a floating-point format: floats rounded to nearest even, or 16-bit patterns.

    Raises InputError for an array of any other type.
    """

    name: str
    dtype: np.dtype
    floats: FloatFormat

    def __post_init__(self):
        if self.dtype.kind != "f" and self.dtype.itemsize != 2:
            rule = f"must be floats or 16-bit patterns where the format is {self.floats.name}"
            raise InputError(self.name, str(self.dtype), rule)

    def encode(self, array: np.ndarray) -> tuple[np.ndarray, int]:
        """Words (int16), and how many finite elements became infinite."""
        if self.dtype.kind != "f":
            return array.astype(np.int16), 0
        with np.errstate(over="ignore"):  # a longer float's largest are infinite in float64 already
            words = self.floats.from_float64(array).view(np.int16)
        overflows = np.isfinite(array) & ~self.floats.is_finite(words)
        return words, int(np.count_nonzero(overflows))

    def decode(self, words: np.ndarray) -> np.ndarray:
        """Results in the array's type; InputError where that cannot hold a finite one."""
        if self.dtype.kind != "f":
            return words.astype(np.int16).astype(self.dtype)
        values = self.floats.to_float64(words)
        finite = np.where(np.isfinite(values), values, 0.0)
        peak_fits(self.name, float(np.max(np.abs(finite), initial=0)), self.dtype)
        return values.astype(self.dtype)

    def values(self, array: np.ndarray) -> np.ndarray:
        """What exact mathematics takes: floats unrounded, and what patterns stand for."""
        if self.dtype.kind == "f":
            return array
        return self.floats.to_float64(array.astype(np.int16))


Codec = FixedCodec | FloatCodec
