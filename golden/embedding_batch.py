# SPDX-License-Identifier: Apache-2.0
"""A batch of embeddings to add positions to, through the two software engines."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log2
from typing import Any

import numpy as np

from .adder_parameters import AdderParameters
from .additive import LearnedGeometry, SinusoidalGeometry
from .arrays import whole_numbers
from .errors import InputError
from .fixed import limits
from .learned import add_learned, out_of_table
from .sinusoidal import add_sinusoidal
from .words import check_fits

__all__ = ["EmbeddingBatch"]

PREFERRED_LANES = (4, 2, 1)
POSITION_BITS = AdderParameters.position_bits
BLOCK_ELEMENTS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class EmbeddingBatch:
    """Tokens ``x`` [tokens, width] at ``positions`` [tokens], and a learned geometry's ``table``.

    Raises InputError for a shape that is not the geometry's, or a position beyond the hardware's.
    """

    x: np.ndarray
    positions: np.ndarray
    geometry: LearnedGeometry | SinusoidalGeometry
    table: np.ndarray | None = None

    def __post_init__(self):
        g, tokens = self.geometry, len(np.atleast_1d(self.x))
        self._check("x", self.x, (tokens, g.width))
        if isinstance(g, LearnedGeometry):
            if self.table is None:
                raise InputError("array", "table", "must be given for a learned geometry")
            self._check("table", self.table, (g.rows, g.width))
            if (self.table.dtype.kind == "f") != (self.x.dtype.kind == "f"):
                rule = f"must be {'floats' if self.x.dtype.kind == 'f' else 'integers'}, as x is"
                raise InputError("table", str(self.table.dtype), rule)
        given = whole_numbers("positions", self.positions)
        if given.shape != (tokens,):
            raise InputError("positions", given.shape, f"must be [{tokens}]")
        check_fits("positions", given, *limits(POSITION_BITS), f"{POSITION_BITS}-bit positions")
        object.__setattr__(self, "positions", given.astype(np.int64))

    def _check(self, name: str, array: np.ndarray, shape: tuple[int, ...]):
        if array.shape != shape or not array.size:
            rule = f"must be [{'tokens' if name == 'x' else shape[0]}, {shape[1]}] and not empty"
            raise InputError(name, array.shape, rule)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """What becomes words: the embeddings, and the table if there is one."""
        return {"x": self.x} | ({} if self.table is None else {"table": self.table})

    def with_arrays(self, arrays: dict[str, np.ndarray]) -> "EmbeddingBatch":
        """The same tokens with other elements, such as their words."""
        return replace(self, x=arrays["x"], table=arrays.get("table"))

    @property
    def out_of_table(self) -> np.ndarray:
        """Which tokens have no row, bool [tokens]."""
        if isinstance(self.geometry, LearnedGeometry):
            return out_of_table(self.geometry, self.positions)
        return np.zeros(len(self.x), bool)

    @property
    def tokens(self) -> int:
        """Tokens in the batch."""
        return len(self.x)

    @property
    def peak(self) -> float:
        """The largest magnitude that a sum of floats can have."""
        x = float(np.abs(self.x).max())
        if isinstance(self.geometry, SinusoidalGeometry):
            return x * self.geometry.scale + 1.0
        return x + float(np.abs(self.rows).max())

    @property
    def rows(self) -> np.ndarray:
        """A learned geometry's table; none of a sinusoidal one."""
        return np.empty((0, self.geometry.width)) if self.table is None else self.table

    def parameters(
        self, bits: int, lanes: int | None, lsb: float | None, **fields: Any
    ) -> AdderParameters:
        """An adder that serves this batch; of the largest of 4, 2 and 1 lanes unless said.

        A sinusoidal row needs to know what a word is worth: ``lsb``, a power of two there, or None
        for floating-point words. ``fields`` are AdderParameters' own. Raises InputError where there
        is no such adder.
        """
        g, halves = self.geometry, False
        if isinstance(g, SinusoidalGeometry):
            halves, fields = g.layout != "interleaved", fields | {"scaled": g.scale != 1}
            if lsb is not None:
                fields["fraction_bits"] = _fraction_bits(lsb)
        able = [n for n in PREFERRED_LANES if g.width % (2 * n * (1 + halves)) == 0]
        lanes = lanes if lanes is not None else next(iter(able), 1)
        unit = 4 * lanes if lanes > 0 else 1
        most = -(-max(g.width, AdderParameters.max_width) // unit) * unit
        return AdderParameters(lanes=lanes, data_bits=bits, max_width=most, **fields)

    def exact(self, lsb: float) -> np.ndarray:
        """The sums in float64; integers are in units of ``lsb``, and so are their sums."""
        g, x = self.geometry, np.array(self.x, dtype=np.float64)
        if isinstance(g, SinusoidalGeometry):
            return x * g.scale + g.rows(self.positions) / lsb
        missing = self.out_of_table
        rows = self.rows[np.where(missing, 0, self.positions + g.offset)]
        with np.errstate(invalid="ignore"):  # infinities that cancel, of floating-point data
            return np.where(missing[:, None], x, x + rows)

    def blocks(self) -> Iterator[slice]:
        """The tokens in blocks whose scratch stays in tens of megabytes."""
        step = max(1, BLOCK_ELEMENTS // self.geometry.width)
        return (slice(at, at + step) for at in range(0, len(self.x), step))

    def golden(self, parameters: AdderParameters) -> tuple[np.ndarray, int]:
        """The sums of words bit for bit as the hardware gives them, and how many saturated."""
        out, saturated, g = np.empty_like(self.x), 0, self.geometry
        for at in self.blocks():
            x, positions = self.x[at], self.positions[at]
            if isinstance(g, SinusoidalGeometry):
                out[at], count = add_sinusoidal(parameters, g, x, positions)
            else:
                out[at], count = add_learned(parameters, g, self.rows, x, positions)
            saturated += count
        return out, saturated


def _fraction_bits(lsb: float) -> int:
    """The fraction bits of words whose last bit is worth ``lsb``."""
    exponent = -log2(lsb)
    if exponent != round(exponent) or not -14 <= exponent <= 16:
        raise InputError("scale", lsb, "must be a power of two from 2^-16 to 2^14")
    return int(exponent)
