# SPDX-License-Identifier: Apache-2.0
"""The mathematics of rotary embedding in float64, straight from the formulas.

An angle of 16 million radians keeps 2^-29 of a radian in float64: a thousandth of the last bit of
18-bit data, so no longer arithmetic is needed here.
"""

import numpy as np

from .table import Pairing

__all__ = ["cos_sin", "rotate_exact"]


def cos_sin(
    inv_freq: np.ndarray,
    positions: np.ndarray,
    attention_factor: float = 1.0,
    axes: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Cos and sin of position · inv_freq times the amplitude, float64 [tokens, pairs].

    ``inv_freq`` in radians a position, [pairs]; ``positions`` [tokens] or, with ``axes`` naming
    each pair's column, [tokens, axes]. Source: Su et al., RoFormer, equation 15; the amplitude is
    YaRN's.
    """
    positions = np.asarray(positions, dtype=np.float64)
    if axes is not None and positions.ndim == 2:
        positions = positions[:, axes]
    else:
        positions = positions.reshape(len(positions), 1)
    angle = positions * np.asarray(inv_freq, dtype=np.float64)
    return attention_factor * np.cos(angle), attention_factor * np.sin(angle)


def rotate_exact(
    heads: np.ndarray,
    cos: np.ndarray,
    sin: np.ndarray,
    pairing: Pairing,
    rotary_offset: int = 0,
    *,
    conjugate: bool = False,
) -> np.ndarray:
    """Turn the pairs of heads [tokens, heads, head_dim] by rows [tokens, pairs], in float64.

    Pairs stand side by side (adjacent) or half a rotary dimension apart (half-split), from
    ``rotary_offset``; other elements pass. ``conjugate`` turns backwards.
    """
    out = np.array(heads, dtype=np.float64)
    pairs = cos.shape[-1]
    rotary = out[..., rotary_offset : rotary_offset + 2 * pairs]
    if pairing is Pairing.ADJACENT:
        x, y = rotary[..., 0::2], rotary[..., 1::2]
    else:
        x, y = rotary[..., :pairs], rotary[..., pairs:]
    cos, sin = cos[:, None], (-sin if conjugate else sin)[:, None]
    turned_x, turned_y = x * cos - y * sin, x * sin + y * cos
    x[...], y[...] = turned_x, turned_y
    return out
