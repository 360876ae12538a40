# SPDX-License-Identifier: Apache-2.0
"""Bit-true learned positions: the row of a trained table, added to the embedding."""

import numpy as np

from .adder import add_rows
from .adder_parameters import AdderParameters
from .additive import LearnedGeometry

__all__ = ["add_learned", "out_of_table"]


def out_of_table(geometry: LearnedGeometry, positions: np.ndarray) -> np.ndarray:
    """Which positions have no row, bool [tokens]."""
    rows = np.asarray(positions, dtype=np.int64) + geometry.offset
    return (rows < 0) | (rows >= geometry.rows)


def add_learned(
    parameters: AdderParameters,
    geometry: LearnedGeometry,
    table: np.ndarray,
    embeddings: np.ndarray,
    positions: np.ndarray,
    *,
    broken: np.ndarray | None = None,
) -> tuple[np.ndarray, int]:
    """Embeddings [tokens, width] + table [rows, width] at their rows, and how many saturated.

    Words of both are in the same units, or of the same format. A token whose position has no row
    passes unchanged, and so does one whose row could not be read: ``broken``, bool [tokens].
    """
    passes = out_of_table(geometry, positions)
    rows = np.where(passes, 0, np.asarray(positions, dtype=np.int64) + geometry.offset)
    if broken is not None:
        passes = passes | broken
    return add_rows(parameters, embeddings, table[rows], passes=passes)
