# SPDX-License-Identifier: Apache-2.0
"""Bit-true rotation of bf16 and fp16 pairs: aligned, turned in fixed point, rounded once.

Both elements of a pair become integers of 18 signed bits whose unit is 2^-16 of the larger one's
binade: the smaller loses what is below, rounded to nearest, a half away from zero. Products and
sums are exact, and each result is rounded once, to nearest even. The rounded coefficients count as
numbers where an element is infinite or a NaN: what IEEE 754 makes of cos·x − sin·y and of
sin·x + cos·y comes out. A sum of exactly zero is +0; one that rounds to zero keeps its sign.
"""

import numpy as np

from .floats import FloatFormat
from .sincos import Row

__all__ = ["rotate_floats"]

OPERAND_FRACTION_BITS = 16  # of the larger element's binade, in an operand of 18 bits
LARGEST_ALIGNMENT = OPERAND_FRACTION_BITS + 2  # from here on nothing is left of the smaller
BLOCK_PAIRS = 1 << 14


def rotate_floats(
    floats: FloatFormat,
    coefficients: Row,
    first: np.ndarray,
    second: np.ndarray,
    *,
    apart: bool = False,
) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """Words [tokens, heads, pairs] turned, int16, and how many became infinite by overflow.

    ``apart`` says that sines are zero and that no element concerns its partner: none is aligned to
    it, nor takes its NaN.
    """
    words = np.empty_like(first, np.int16), np.empty_like(first, np.int16)
    tokens, heads, pairs = first.shape
    step, saturated = max(1, BLOCK_PAIRS // max(1, heads * pairs)), 0
    for start in range(0, tokens, step):
        block = slice(start, start + step)
        cos, sin = (part[block, None, :] for part in (coefficients.cos, coefficients.sin))
        given = first[block], second[block]
        turned = _turned(floats, (cos, sin), coefficients.fraction_bits, given, apart)
        special = _special(floats, cos.astype(float), sin.astype(float), given, apart)
        for out, (found, overflows), (odd, instead) in zip(words, turned, special, strict=True):
            out[block] = np.where(odd, instead, found).astype(np.uint16).view(np.int16)
            saturated += int(np.count_nonzero(overflows & ~odd))
    return words, saturated


def _turned(floats, rows, fraction_bits, given, apart):
    """Finite pairs: each element's words, and which overflow."""
    (cos, sin), unpacked = rows, [floats.unpack(words) for words in given]
    exponents = [exponent for _, exponent, _ in unpacked]
    if not apart:
        exponents = [np.maximum(*exponents)] * 2
    x, y = (
        _operand(floats, parts, exponent)
        for parts, exponent in zip(unpacked, exponents, strict=True)
    )
    cos, sin = cos.astype(np.int64), sin.astype(np.int64)
    dropped = OPERAND_FRACTION_BITS + fraction_bits - floats.fraction_bits
    sums = x * cos - y * sin, x * sin + y * cos
    return [
        floats.pack(total < 0, np.abs(total), exponent - dropped)
        for total, exponent in zip(sums, exponents, strict=True)
    ]


def _operand(floats, unpacked, aligned):
    """A number in units of 2^-16 of the binade that ``aligned`` names."""
    negative, exponent, significand = unpacked
    widened = significand << OPERAND_FRACTION_BITS - floats.fraction_bits + 1
    shifted = widened >> np.minimum(aligned - exponent, LARGEST_ALIGNMENT)
    magnitude = shifted + 1 >> 1
    return np.where(negative, -magnitude, magnitude)


def _special(floats, cos, sin, given, apart):
    """Where an element is no finite number: whether it is, and the words that come out."""
    finite = [floats.is_finite(words) for words in given]
    if all(part.all() for part in finite):
        return [(np.False_, 0)] * 2
    x, y = (floats.to_float64(words) for words in given)
    with np.errstate(invalid="ignore"):
        values = (cos * x, cos * y) if apart else (cos * x - sin * y, sin * x + cos * y)
    concerned = finite if apart else [finite[0] & finite[1]] * 2
    return [
        (~number, floats.from_float64(value))
        for number, value in zip(concerned, values, strict=True)
    ]
