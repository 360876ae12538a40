# SPDX-License-Identifier: Apache-2.0
"""Binary floating-point words: exact decoding, and encoding rounded once to nearest even.

Widths and biases as in IEEE 754: fp16 is its binary16; bf16 has binary32's exponent. Words of the
all-ones exponent are infinities and NaNs; the one NaN ever made is the positive quiet NaN without
a payload.
"""

from dataclasses import dataclass

import numpy as np

from .errors import InputError

__all__ = ["BF16", "FIXED", "FORMATS", "FP16", "FloatFormat", "check_format"]

LARGEST_SHIFT = 60  # of a magnitude below 2^53: leaves nothing but what is less than a half


@dataclass(frozen=True)
class FloatFormat:
    """A sign, an exponent and a fraction in 16 bits."""

    name: str
    exponent_bits: int
    fraction_bits: int

    @property
    def bits(self) -> int:
        """Bits of a word."""
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def bias(self) -> int:
        """What is added to an exponent in a word."""
        return (1 << self.exponent_bits - 1) - 1

    @property
    def infinity(self) -> int:
        """The word of plus infinity."""
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def nan(self) -> int:
        """The canonical quiet NaN."""
        return self.infinity | 1 << self.fraction_bits - 1

    def is_nan(self, words: np.ndarray) -> np.ndarray:
        """Which words are NaNs."""
        return self._unsigned(words) > self.infinity

    def is_finite(self, words: np.ndarray) -> np.ndarray:
        """Which words are numbers, subnormals and zeros included."""
        return self._unsigned(words) < self.infinity

    def unpack(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Signs (bool), biased exponents and significands (int64) of words.

        A finite word is ± significand · 2^(exponent − bias − fraction_bits), and its exponent at
        least 1: subnormals have that of the smallest normals, and no leading one.
        """
        words = np.asarray(words).astype(np.int64)
        field = words >> self.fraction_bits & (1 << self.exponent_bits) - 1
        leading = (field > 0).astype(np.int64) << self.fraction_bits
        significand = words & (1 << self.fraction_bits) - 1 | leading
        return words >> self.bits - 1 & 1 == 1, np.maximum(field, 1), significand

    def pack(
        self, negative: np.ndarray, magnitude: np.ndarray, exponent: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Words (uint16) of ± magnitude · 2^(exponent − bias − fraction_bits), and which overflow.

        Rounded once, to nearest even, subnormals too; what overflows becomes an infinity.
        ``magnitude`` is an integer from 0 to below 2^53, ``exponent`` any.
        """
        magnitude, exponent = np.asarray(magnitude, np.int64), np.asarray(exponent, np.int64)
        length = np.frexp(magnitude.astype(np.float64))[1].astype(np.int64)
        dropped = np.maximum(length - 1 - self.fraction_bits, 1 - exponent)
        field = np.maximum(exponent + dropped - 1, 0) << self.fraction_bits
        words = np.where(magnitude == 0, 0, field + _nearest_even(magnitude, dropped))
        overflows = words >= self.infinity
        words = np.where(overflows, self.infinity, words)
        return (words | np.asarray(negative, np.int64) << self.bits - 1).astype(
            np.uint16
        ), overflows

    def to_float64(self, words: np.ndarray) -> np.ndarray:
        """The exact values of words; NaNs lose their payloads."""
        negative, exponent, significand = self.unpack(words)
        shift = exponent - self.bias - self.fraction_bits
        value = np.ldexp(significand.astype(np.float64), shift)
        value = np.where(self.is_finite(words), value, np.inf)
        value = np.where(negative, -value, value)
        return np.where(self.is_nan(words), np.nan, value)

    def from_float64(self, values: np.ndarray) -> np.ndarray:
        """The words (uint16) nearest to values, ties to even; a NaN becomes the canonical one."""
        values = np.asarray(values, dtype=np.float64)
        finite = np.isfinite(values)
        fraction, exponent = np.frexp(np.where(finite, np.abs(values), 0.0))
        magnitude = np.ldexp(fraction, 53).astype(np.int64)
        exponent = exponent.astype(np.int64) - 53 + self.bias + self.fraction_bits
        words, _ = self.pack(np.zeros_like(finite), magnitude, exponent)
        words = np.where(np.isinf(values), self.infinity, words.astype(np.int64))
        words |= np.signbit(values).astype(np.int64) << self.bits - 1
        return np.where(np.isnan(values), self.nan, words).astype(np.uint16)

    def _unsigned(self, words: np.ndarray) -> np.ndarray:
        """Words without their signs."""
        return np.asarray(words).astype(np.int64) & (1 << self.bits - 1) - 1


def _nearest_even(magnitude: np.ndarray, dropped: np.ndarray) -> np.ndarray:
    """Magnitude / 2^dropped to the nearest integer, ties to even; exact where dropped ≤ 0."""
    shift = np.clip(dropped, 0, LARGEST_SHIFT)
    kept = magnitude >> shift
    rest = magnitude - (kept << shift)
    doubled, one = 2 * rest, np.int64(1) << shift
    up = (doubled > one) | ((doubled == one) & (kept & 1 == 1))
    exact = dropped <= 0
    return np.where(exact, magnitude << np.clip(-dropped, 0, LARGEST_SHIFT), kept + (up & ~exact))


BF16 = FloatFormat("bf16", exponent_bits=8, fraction_bits=7)
FP16 = FloatFormat("fp16", exponent_bits=5, fraction_bits=10)
FORMATS = {FP16.name: FP16, BF16.name: BF16}
FIXED = "fixed"


def check_format(name: str, bits: int):
    """Raise InputError unless elements of ``bits`` can hold what the format ``name`` says."""
    if name not in (FIXED, *FORMATS):
        raise InputError("format", name, f"must be {FIXED}, {', '.join(FORMATS)}")
    if name != FIXED and bits != FORMATS[name].bits:
        raise InputError("bits", bits, f"must be 16 where the format is {name}")
