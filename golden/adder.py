# SPDX-License-Identifier: Apache-2.0
"""Bit-true addition of rows to embeddings, and the scale that embeddings are multiplied by."""

from math import frexp

import numpy as np

from .adder_parameters import AdderParameters
from .errors import InputError
from .fixed import round_half_up, saturate
from .float_addition import add_to_floats

__all__ = ["SCALE_ONE", "add_rows", "scale_value", "scale_word"]

SCALE_FRACTION_BITS = 17
EXPONENT_BITS = 4
LARGEST_EXPONENT = 14
SCALE_ONE = 1 << SCALE_FRACTION_BITS


def scale_word(scale: float) -> int:
    """A scale in the hardware's word: 18 bits of significand from 1, 4 of exponent.

    Within 2^-18 of ``scale``, relatively. Raises InputError outside 1 … 2^15.
    """
    exponent = frexp(scale)[1] - 1
    code = round(scale * 2.0 ** (SCALE_FRACTION_BITS - exponent))
    if code == 2 * SCALE_ONE:
        code, exponent = SCALE_ONE, exponent + 1
    if not 0 <= exponent <= LARGEST_EXPONENT:
        raise InputError("scale", scale, "must be at least 1 and less than 32767.9")
    return code | exponent << SCALE_FRACTION_BITS + 1


def scale_value(word: int) -> float:
    """What a scale's word stands for."""
    code, exponent = decoded_scale(word)
    return code * 2.0 ** (exponent - SCALE_FRACTION_BITS)


def decoded_scale(word: int) -> tuple[int, int]:
    """The significand, in units of 2^-17, and the exponent of a scale's word."""
    return word & 2 * SCALE_ONE - 1, word >> SCALE_FRACTION_BITS + 1


def spare_bits(parameters: AdderParameters, row_fraction_bits: int) -> int:
    """Bits of the exact sum below an element's last one, where elements are fixed-point."""
    least = SCALE_FRACTION_BITS if parameters.scaled else 0
    return max(least, row_fraction_bits - parameters.fraction_bits)


def add_rows(
    parameters: AdderParameters,
    embeddings: np.ndarray,
    rows: np.ndarray,
    row_fraction_bits: int | None = None,
    *,
    scale: int = SCALE_ONE,
    passes: np.ndarray | None = None,
) -> tuple[np.ndarray, int]:
    """Embeddings [tokens, width] · scale + rows, and how many elements saturated.

    ``rows`` are words as the embeddings are, or integers of at most 18 bits whose last one is
    2^-``row_fraction_bits``; ``scale`` is a word of ``scale_word``. The exact sum is rounded once:
    a half upwards, or in floating point to nearest even, where saturated is what became infinite.
    The tokens that ``passes`` names, bool [tokens], come out as they went in.
    """
    if not parameters.scaled and scale != SCALE_ONE:
        raise InputError("scale", scale_value(scale), "must be 1 for an adder without multipliers")
    add = _add_fixed if parameters.floating is None else _add_floats
    out, wrong = add(parameters, embeddings, rows, row_fraction_bits, scale)
    if passes is not None:
        out[passes], wrong[passes] = embeddings[passes], False
    return out, int(np.count_nonzero(wrong))


def _add_fixed(parameters, embeddings, rows, row_fraction_bits, scale):
    """Sums held within a word, and which had to be."""
    if row_fraction_bits is None:
        row_fraction_bits = parameters.fraction_bits
    spare = spare_bits(parameters, row_fraction_bits)
    code, exponent = decoded_scale(scale) if parameters.scaled else (1, SCALE_FRACTION_BITS)
    product = embeddings.astype(np.int64) * code << spare - SCALE_FRACTION_BITS + exponent
    addend = rows.astype(np.int64) << spare + parameters.fraction_bits - row_fraction_bits
    total = round_half_up(product + addend, spare)
    out = saturate(total, parameters.data_bits)
    return out, out != total


def _add_floats(parameters, embeddings, rows, row_fraction_bits, scale):
    """Words, and which finite sums became infinite."""
    code, exponent = decoded_scale(scale) if parameters.scaled else (1, SCALE_FRACTION_BITS)
    return add_to_floats(
        parameters.floating,
        embeddings,
        rows,
        scale=(code, exponent - SCALE_FRACTION_BITS),
        row_fraction_bits=row_fraction_bits,
    )
