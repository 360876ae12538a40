# SPDX-License-Identifier: Apache-2.0
"""Bit-true phase, sine and cosine: from a position to a rotation row's coefficients.

A phase is a fraction of a turn in 24 bits: 2 for the quadrant, 10 that address a quarter-wave ROM
sampled at half steps, 12 for the offset δ from the sample. sin and cos of the angle within the
first quadrant follow to first order, since the derivative of either is the other:

    sin(a + δ) ≈ sin a + δ·cos a        cos(a + δ) ≈ cos a − δ·sin a
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import pi

import numpy as np

from .fixed import round_half_up
from .parameters import RopeParameters
from .table import AMPLITUDE_BITS, INCREMENT_BITS, PhaseTable

__all__ = ["Row", "phase", "phases_of", "quadrant_sincos", "quarter_wave", "row"]

PHASE_BITS = 24
ADDRESS_BITS = 10
OFFSET_BITS = PHASE_BITS - 2 - ADDRESS_BITS

# ROM entries are truncated to 20 bits and the lost half is put back where they are used, so the
# largest entry needs no twenty-first bit and the rounding error is that of a rounded entry.
ENTRY_BITS = 20

# δ in radians is offset · 2π · 2^-24 ≈ offset · 201/32 · 2^-24: three additions, 2^-22 from exact
# at the end of a step. It is kept to 16 bits, units of 2^-25.
TURN_NUMERATOR = 201
DELTA_SHIFT = 4
DELTA_FRACTION_BITS = 25
FACTOR_BITS = 16  # of an entry, where it multiplies δ

# sin and cos before the amplitude. The half that truncation took from an entry is put back less two
# units, so that no result reaches 1 and none falls below 0.
RAW_FRACTION_BITS = 23
WIDENED = RAW_FRACTION_BITS - ENTRY_BITS
CENTRE = (1 << WIDENED - 1) - 2


def phase(table: PhaseTable, positions: np.ndarray, conjugate: bool = False) -> np.ndarray:
    """Phases in units of 2^-24 turn, uint32 [tokens, pairs].

    ``positions`` are signed integers, [tokens] or [tokens, axes]. The product is exact modulo one
    turn and rounded once, a half up. The conjugate is the negated position, exactly.
    """
    positions = np.asarray(positions, dtype=np.int64)
    positions = positions[:, None] if positions.ndim == 1 else positions
    if conjugate:
        positions = -positions
    return phases_of(positions[:, np.asarray(table.axes, dtype=np.intp)], table.increments)


def phases_of(positions: np.ndarray, increments: Sequence[int]) -> np.ndarray:
    """Positions [tokens, pairs or 1] times increments in 2^-48 turn, in units of 2^-24 turn."""
    turns = positions.astype(np.uint64) * np.array(increments, dtype=np.uint64)
    dropped = INCREMENT_BITS - PHASE_BITS
    turns = (turns + np.uint64(1 << dropped - 1)) >> np.uint64(dropped)
    return turns.astype(np.uint32) & np.uint32((1 << PHASE_BITS) - 1)


@cache
def quarter_wave() -> np.ndarray:
    """The ROM: sin at the middle of each 1/1024 of the first quadrant; int64 [1024].

    Truncated to 20 bits: an entry stands for (entry + ½)·2^-20.
    """
    steps = 1 << ADDRESS_BITS
    angle = (np.arange(steps) + 0.5) * (pi / 2 / steps)
    return np.floor(np.sin(angle) * (1 << ENTRY_BITS)).astype(np.int64)


def quadrant_sincos(phases: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quadrant (0–3), cos and sin within it in units of 2^-23, int64; phases of any shape."""
    rom = quarter_wave()
    phases = np.asarray(phases, dtype=np.int64)
    quadrant = phases >> PHASE_BITS - 2
    address = phases >> OFFSET_BITS & (1 << ADDRESS_BITS) - 1
    offset = (phases & (1 << OFFSET_BITS) - 1) - (1 << OFFSET_BITS - 1)

    delta = offset * TURN_NUMERATOR >> DELTA_SHIFT
    sine, cosine = rom[address], rom[~address & (1 << ADDRESS_BITS) - 1]
    dropped = ENTRY_BITS - FACTOR_BITS
    shift = DELTA_FRACTION_BITS + FACTOR_BITS - RAW_FRACTION_BITS
    return (
        quadrant,
        (cosine << WIDENED) + CENTRE - (delta * (sine >> dropped) >> shift),
        (sine << WIDENED) + CENTRE + (delta * (cosine >> dropped) >> shift),
    )


@dataclass(frozen=True)
class Row:
    """What turns the pairs of tokens: signed ``cos`` and ``sin``, int32 [tokens, pairs].

    Their units are 2^-``fraction_bits``.
    """

    cos: np.ndarray
    sin: np.ndarray
    fraction_bits: int


def scaled(parameters: RopeParameters, table: PhaseTable, raw: np.ndarray) -> np.ndarray:
    """A raw sine or cosine times the table's amplitude, rounded to the coefficient's width."""
    amplitude_bits = parameters.coefficient_bits
    amplitude = table.amplitude >> AMPLITUDE_BITS - amplitude_bits
    factor = raw >> RAW_FRACTION_BITS - amplitude_bits
    product = factor * amplitude >> 2 * amplitude_bits - RAW_FRACTION_BITS
    return round_half_up(raw + product, RAW_FRACTION_BITS - parameters.fraction_bits)


def turned(
    quadrant: np.ndarray, cosine: np.ndarray, sine: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine with their signs, from those within the quadrant."""
    odd = quadrant & 1 == 1
    cosine, sine = np.where(odd, sine, cosine), np.where(odd, cosine, sine)
    cosine = np.where((quadrant == 1) | (quadrant == 2), -cosine, cosine)
    return cosine, np.where(quadrant >= 2, -sine, sine)


def row(parameters: RopeParameters, table: PhaseTable, phases: np.ndarray) -> Row:
    """The rotation rows of phases [tokens, pairs], with the table's amplitude and scale."""
    quadrant, cosine, sine = quadrant_sincos(phases)
    cosine, sine = turned(
        quadrant, scaled(parameters, table, cosine), scaled(parameters, table, sine)
    )
    return Row(
        cosine.astype(np.int32), sine.astype(np.int32), parameters.fraction_bits - table.scale
    )
