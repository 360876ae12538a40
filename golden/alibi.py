# SPDX-License-Identifier: Apache-2.0
"""Bit-true ALiBi: what the hardware makes of scores, and the mathematics beside it.

A bias is slope · (key − query), exact in units of 2^-48; it is rounded once, together with the
score that it is added to. Source: Press et al., Train Short, Test Long (arXiv 2108.12409).
"""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from .alibi_parameters import SCALE_FRACTION_BITS, AlibiParameters
from .errors import InputError
from .fixed import limits, saturate

__all__ = ["Form", "alibi", "alibi_exact", "masked", "scale_code"]

HALF_SLOPE_BITS = 24


class Form(StrEnum):
    """What a key at j adds to the score of a query at i, in slopes."""

    DISTANCE = "distance"  # j − i
    SYMMETRIC = "symmetric"  # −|j − i|
    KEY = "key"  # j


def offsets(form: Form, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """What multiplies the slope, int64 [queries, keys]."""
    queries, keys = (np.asarray(a, dtype=np.int64) for a in (queries, keys))
    if form is Form.KEY:
        return np.broadcast_to(keys, (len(queries), len(keys)))
    difference = keys - queries[:, None]
    return -np.abs(difference) if form is Form.SYMMETRIC else difference


def masked(
    queries: np.ndarray, keys: np.ndarray, *, causal: bool = True, window: int = 0
) -> np.ndarray:
    """Which keys a query may not see, bool [queries, keys].

    ``causal`` masks those after it, a ``window`` above 0 those that many tokens or more before it.
    """
    queries, keys = (np.asarray(a, dtype=np.int64) for a in (queries, keys))
    distance = queries[:, None] - keys
    hidden = np.zeros(distance.shape, bool)
    if causal:
        hidden |= distance < 0
    if window:
        hidden |= distance >= window
    return hidden


def scale_code(scale: float) -> int:
    """A score scale as the hardware takes it, in units of 2^-17; InputError outside 0 … 2."""
    code = round(scale * (1 << SCALE_FRACTION_BITS))
    if not 0 < code < 2 << SCALE_FRACTION_BITS:
        raise InputError("score_scale", scale, "must be above 0 and less than 2")
    return code


def shifted_bias(slopes: np.ndarray, offset: np.ndarray, dropped: int) -> np.ndarray:
    """floor(slope · offset / 2^dropped) in int64, though the product may take 75 bits."""
    high = (slopes >> HALF_SLOPE_BITS) * offset
    low = (slopes & (1 << HALF_SLOPE_BITS) - 1) * offset
    if dropped >= HALF_SLOPE_BITS:
        return (high + (low >> HALF_SLOPE_BITS)) >> dropped - HALF_SLOPE_BITS
    return (high << HALF_SLOPE_BITS - dropped) + (low >> dropped)


def alibi(
    parameters: AlibiParameters,
    slopes: Sequence[int],
    scores: np.ndarray,
    queries: np.ndarray,
    keys: np.ndarray,
    *,
    form: Form = Form.DISTANCE,
    causal: bool = True,
    window: int = 0,
    scale: int = 1 << SCALE_FRACTION_BITS,
) -> tuple[np.ndarray, int]:
    """Scores [queries, heads, keys] with their bias, and how many of the unmasked saturated.

    ``slopes`` are 48-bit fractions, one a head; ``queries`` and ``keys`` positions; ``scale`` is a
    code of ``scale_code``, for parameters that are ``scaled``. Masked scores become the most
    negative word.
    """
    # One fraction bit rounds; a scaled score brings more of them.
    kept = SCALE_FRACTION_BITS if parameters.scaled else 1
    slope = np.array(slopes, dtype=np.int64)[None, :, None]
    bias = shifted_bias(
        slope, offsets(form, queries, keys)[:, None], parameters.dropped_bits - kept
    )
    factor = scale if parameters.scaled else 1 << kept
    total = (scores.astype(np.int64) * factor + bias + (1 << kept - 1)) >> kept
    out = saturate(total, parameters.data_bits)
    hidden = np.broadcast_to(
        masked(queries, keys, causal=causal, window=window)[:, None], out.shape
    )
    saturated = int(np.count_nonzero((out != total) & ~hidden))
    out[hidden] = limits(parameters.data_bits)[0]
    return out, saturated


def alibi_exact(
    slopes: np.ndarray,
    scores: np.ndarray,
    queries: np.ndarray,
    keys: np.ndarray,
    *,
    form: Form = Form.DISTANCE,
    scale: float = 1.0,
) -> np.ndarray:
    """Score · ``scale`` + slope · offset in float64, without masks; shapes as ``alibi``'s."""
    slope = np.asarray(slopes, dtype=np.float64)[None, :, None]
    return scores * scale + slope * offsets(form, queries, keys)[:, None]
