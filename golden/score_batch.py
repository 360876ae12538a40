# SPDX-License-Identifier: Apache-2.0
"""A batch of attention scores to bias, through the two software engines."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, log2

import numpy as np

from .additive import SYMMETRIC, AlibiGeometry
from .alibi import Form, alibi, alibi_exact, masked, offsets
from .alibi_parameters import SLOPE_BITS, AlibiParameters
from .arrays import whole_numbers
from .errors import InputError
from .fixed import limits
from .words import check_fits

__all__ = ["ScoreBatch"]

POSITION_BITS = AlibiParameters.position_bits
FINEST = 32  # fraction bits of a score
BLOCK_ELEMENTS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ScoreBatch:
    """Scores [queries, heads, keys], already scaled where the model does that first.

    ``queries`` and ``keys`` are positions; ``causal`` masks the keys after a query. Raises
    InputError for a shape that is not the geometry's, or a position beyond the hardware's.
    """

    scores: np.ndarray
    queries: np.ndarray
    keys: np.ndarray
    geometry: AlibiGeometry
    causal: bool = True

    def __post_init__(self):
        shape, heads = self.scores.shape, self.geometry.heads
        if self.scores.ndim != 3 or shape[1] != heads or not self.scores.size:
            rule = f"must be [queries, {heads}, keys] and not empty"
            raise InputError("scores", shape, rule)
        for name, field, count in (
            ("positions", "queries", shape[0]),
            ("key_positions", "keys", shape[2]),
        ):
            given = whole_numbers(name, getattr(self, field))
            if given.shape != (count,):
                raise InputError(name, given.shape, f"must be [{count}]")
            check_fits(name, given, *limits(POSITION_BITS), f"{POSITION_BITS}-bit positions")
            object.__setattr__(self, field, given.astype(np.int64))

    @property
    def form(self) -> Form:
        """What a key adds; forms that a causal softmax cannot tell apart are one."""
        return Form.SYMMETRIC if self.geometry.form == SYMMETRIC else Form.DISTANCE

    @property
    def masked(self) -> np.ndarray:
        """Which keys a query may not see, bool [queries, keys]."""
        return masked(self.queries, self.keys, causal=self.causal)

    @property
    def tokens(self) -> int:
        """Tokens in the batch."""
        return len(self.scores)

    @property
    def peak(self) -> float:
        """The largest magnitude that a biased score can have."""
        slope = float(max(self.geometry.effective_slopes))
        farthest = int(np.abs(offsets(self.form, self.queries, self.keys)).max())
        return float(np.abs(self.scores).max()) + slope * farthest

    def with_scores(self, scores: np.ndarray) -> "ScoreBatch":
        """The same rows with other scores, such as their words."""
        return replace(self, scores=scores)

    def parameters(self, bits: int, lanes: int | None, lsb: float) -> AlibiParameters:
        """A unit for scores of ``lsb``, of 4 lanes unless said; InputError where there is none."""
        fraction = max(0, ceil(-log2(lsb)))
        if fraction > FINEST:
            raise InputError("scale", lsb, f"must be at least 2^-{FINEST}")
        return AlibiParameters(
            lanes=4 if lanes is None else lanes,
            data_bits=bits,
            fraction_bits=fraction,
            max_heads=max(AlibiParameters.max_heads, len(self.geometry.model_slopes)),
        )

    def unit_geometry(self, parameters: AlibiParameters, lsb: float) -> AlibiGeometry:
        """The geometry whose slopes count in the unit's words, where one is worth ``lsb``.

        The batch's own where that is a power of two that the unit's fraction bits make it.
        """
        factor = 1 / (lsb * 2.0**parameters.fraction_bits)
        if factor == 1:
            return self.geometry
        slopes = (slope.from_float(float(slope) * factor) for slope in self.geometry.model_slopes)
        return replace(self.geometry, model_slopes=tuple(slopes))

    def exact(self, lsb: float) -> np.ndarray:
        """Biased scores in float64, without masks; integers are in units of ``lsb``."""
        slopes = np.array([float(slope) for slope in self.geometry.effective_slopes])
        return alibi_exact(slopes / lsb, self.scores, self.queries, self.keys, form=self.form)

    def blocks(self) -> Iterator[slice]:
        """The queries in blocks whose scratch stays in tens of megabytes."""
        step = max(1, BLOCK_ELEMENTS // self.scores[0].size)
        return (slice(at, at + step) for at in range(0, len(self.scores), step))

    def golden(self, parameters: AlibiParameters, lsb: float) -> tuple[np.ndarray, int]:
        """Words biased bit for bit as the hardware does, and how many unmasked saturated."""
        geometry = self.unit_geometry(parameters, lsb)
        slopes = [round(slope * (1 << SLOPE_BITS)) for slope in geometry.effective_slopes]
        out, saturated = np.empty_like(self.scores), 0
        for at in self.blocks():
            out[at], count = alibi(
                parameters,
                slopes,
                self.scores[at],
                self.queries[at],
                self.keys,
                form=self.form,
                causal=self.causal,
            )
            saturated += count
        return out, saturated
