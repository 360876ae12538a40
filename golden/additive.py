# SPDX-License-Identifier: Apache-2.0
"""Geometries that add instead of turning: ALiBi's slopes, learned tables, sinusoidal rows.

Each fingerprint digests a canonical image whose word 0 is a phase table's with a scheme number of
its own, 1 ALiBi, 2 learned, 3 sinusoidal. The words that follow:

ALiBi
    heads of the whole model; 1 if the bias is symmetric, else 0; each head's effective slope in
    units of 2^-48, low 32 bits first. A tensor-parallel worker digests the whole model's slopes.
learned
    rows, offset, width.
sinusoidal
    width; layout (0 interleaved, 1 sin-cos, 2 cos-sin); offset; the scale, 18 bits of significand
    and 4 of exponent; each frequency's increment in units of 2^-48 turn, low 32 bits first.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .adder import scale_word
from .errors import InputError
from .fingerprint import fingerprint
from .schedules import TURN, at_full_precision, increment
from .table import identification

__all__ = ["AlibiGeometry", "LearnedGeometry", "SinusoidalGeometry", "alibi_slopes"]

SCHEME_ALIBI, SCHEME_LEARNED, SCHEME_SINUSOIDAL = 1, 2, 3
LAYOUTS = ("interleaved", "sin-cos", "cos-sin")
SYMMETRIC = "symmetric"


@at_full_precision
def alibi_slopes(heads: int, bias_max: Decimal = Decimal(8)) -> tuple[Decimal, ...]:
    """ALiBi's slope of each head, at any head count n; B = ``bias_max``.

    The N = 2^floor(log2 n) first heads take 2^(-B(h+1)/N), the others the odd steps of the ladder
    of 2N. Source: Press et al. (arXiv 2108.12409) and its reference code; B is MPT's.
    """
    power = 1 << heads.bit_length() - 1
    steps = [2 * (h + 1) for h in range(power)] + [2 * h + 1 for h in range(heads - power)]
    return tuple(Decimal(2) ** (-bias_max * step / (2 * power)) for step in steps)


@dataclass(frozen=True, kw_only=True)
class AlibiGeometry:
    """The bias -slope·distance on attention scores, a slope a query head.

    ``model_slopes`` are all heads', of which this worker has ``heads`` from ``first_head``.
    ``form`` is how the checkpoint's code writes the bias, "distance", "key" (slope·j), "last-key"
    (slope·(j-(S-1))): one and the same to a causal softmax; "symmetric" is -slope·|i-j|. Where the
    code adds the bias before it scales the scores, ``scaled_before_bias`` is false and the
    effective slope carries ``softmax_scale``.
    """

    model_slopes: tuple[Decimal, ...]
    form: str = "distance"
    scaled_before_bias: bool = True
    softmax_scale: Decimal = Decimal(1)
    alibi_bias_max: float = 8.0
    first_head: int = 0
    heads: int
    scheme: ClassVar[str] = "alibi"
    applies_to: ClassVar[str] = "scores"

    @property
    def slopes(self) -> tuple[Decimal, ...]:
        """This worker's slopes, one a head."""
        return self.model_slopes[self.first_head : self.first_head + self.heads]

    @property
    def effective_slopes(self) -> tuple[Decimal, ...]:
        """This worker's slopes as they act on scores that are already scaled."""
        return self._effective(self.slopes)

    def image(self) -> np.ndarray:
        """The canonical image, uint32 [3 + 2·heads of the whole model]."""
        fractions = (round(s * TURN) for s in self._effective(self.model_slopes))
        heads = len(self.model_slopes)
        return _image(SCHEME_ALIBI, [heads, int(self.form == SYMMETRIC), *_words(fractions)])

    @cached_property
    def fingerprint(self) -> str:
        """The CRC-64 of the canonical image, 16 hex digits; the same on every worker."""
        return fingerprint(self.image())

    def rank(self, rank: int, size: int) -> "AlibiGeometry":
        """The share of one of ``size`` tensor-parallel workers: slopes by global head index."""
        check_rank(rank, size, self.heads)
        share = self.heads // size
        return replace(self, heads=share, first_head=self.first_head + rank * share)

    def as_dict(self) -> dict[str, Any]:
        """The geometry as ``ropeway inspect --json`` prints it."""
        return {
            "scheme": self.scheme,
            "applies_to": self.applies_to,
            "fingerprint": self.fingerprint,
            "heads": self.heads,
            "slopes": [float(slope) for slope in self.slopes],
            "effective_slopes": [float(slope) for slope in self.effective_slopes],
            "form": self.form,
            "scaled_before_bias": self.scaled_before_bias,
            "alibi_bias_max": self.alibi_bias_max,
        }

    @at_full_precision
    def _effective(self, slopes: Iterable[Decimal]) -> tuple[Decimal, ...]:
        scale = Decimal(1) if self.scaled_before_bias else self.softmax_scale
        return tuple(slope * scale for slope in slopes)


@dataclass(frozen=True, kw_only=True)
class LearnedGeometry:
    """A trained table of ``rows`` × ``width``; the token at position p takes row p + ``offset``."""

    rows: int
    width: int
    offset: int = 0
    scheme: ClassVar[str] = "learned"
    applies_to: ClassVar[str] = "embeddings"

    def image(self) -> np.ndarray:
        """The canonical image, uint32 [4]."""
        return _image(SCHEME_LEARNED, [self.rows, self.offset, self.width])

    @cached_property
    def fingerprint(self) -> str:
        """The CRC-64 of the canonical image, 16 hex digits."""
        return fingerprint(self.image())

    def rank(self, rank: int, size: int) -> "LearnedGeometry":
        """The geometry itself: embeddings are not split by head."""
        check_rank(rank, size)
        return self

    def as_dict(self) -> dict[str, Any]:
        """The geometry as ``ropeway inspect --json`` prints it."""
        return {
            "scheme": self.scheme,
            "applies_to": self.applies_to,
            "fingerprint": self.fingerprint,
            "rows": self.rows,
            "offset": self.offset,
            "width": self.width,
        }


@dataclass(frozen=True, kw_only=True)
class SinusoidalGeometry:
    """Rows of sines and cosines added to embeddings.

    The token at position p takes the angles (p + ``offset``)·``inv_freq``. ``layout`` is where
    their sines and cosines go: side by side, or in two halves. An odd ``width`` lacks the last
    cosine, or ends in a 0 where there are only ``width`` div 2 frequencies. The embedding is
    multiplied by ``scale`` before the row is added.
    """

    width: int
    inv_freq: tuple[Decimal, ...]
    layout: str = "interleaved"
    offset: int = 0
    scale: float = 1.0
    scheme: ClassVar[str] = "sinusoidal"
    applies_to: ClassVar[str] = "embeddings"

    @property
    def increments(self) -> tuple[int, ...]:
        """The nearest 2^-48 turn to what each frequency turns in a position."""
        return tuple(map(increment, self.inv_freq))

    def image(self) -> np.ndarray:
        """The canonical image, uint32 [5 + 2·frequencies]."""
        header = [self.width, LAYOUTS.index(self.layout), self.offset, scale_word(self.scale)]
        return _image(SCHEME_SINUSOIDAL, [*header, *_words(self.increments)])

    @cached_property
    def fingerprint(self) -> str:
        """The CRC-64 of the canonical image, 16 hex digits."""
        return fingerprint(self.image())

    def rank(self, rank: int, size: int) -> "SinusoidalGeometry":
        """The geometry itself: embeddings are not split by head."""
        check_rank(rank, size)
        return self

    def rows(self, positions: np.ndarray) -> np.ndarray:
        """What is added to the tokens at ``positions``, in float64, [tokens, width]."""
        frequencies = np.array([float(w) for w in self.inv_freq])
        angle = (np.asarray(positions, dtype=np.float64)[:, None] + self.offset) * frequencies
        return self.laid_out(np.sin(angle), np.cos(angle))

    def laid_out(self, sine: np.ndarray, cosine: np.ndarray) -> np.ndarray:
        """Rows [tokens, width] of sines and cosines [tokens, frequencies]."""
        if self.layout == "interleaved":
            rows = np.stack([sine, cosine], axis=-1).reshape(len(sine), -1)
        else:
            halves = (sine, cosine) if self.layout == "sin-cos" else (cosine, sine)
            rows = np.concatenate(halves, axis=1)
        rows = rows[:, : self.width]
        return np.pad(rows, ((0, 0), (0, self.width - rows.shape[1])))

    def as_dict(self) -> dict[str, Any]:
        """The geometry as ``ropeway inspect --json`` prints it."""
        return {
            "scheme": self.scheme,
            "applies_to": self.applies_to,
            "fingerprint": self.fingerprint,
            "width": self.width,
            "layout": self.layout,
            "inv_freq": [float(w) for w in self.inv_freq],
            "offset": self.offset,
            "scale": self.scale,
        }


def check_rank(rank: int, size: int, heads: int | None = None) -> None:
    """Raise InputError unless 0 ≤ ``rank`` < ``size`` and ``size`` divides ``heads``."""
    if not 0 <= rank < size:
        raise InputError("tp", f"{rank}/{size}", "must be RANK/SIZE with RANK from 0 to SIZE - 1")
    if heads is not None and heads % size:
        raise InputError("tp", f"{rank}/{size}", f"must split {heads} heads evenly")


def _words(values: Iterable[int]) -> list[int]:
    return [word for value in values for word in (value & 0xFFFF_FFFF, value >> 32)]


def _image(scheme: int, words: Iterable[int]) -> np.ndarray:
    return np.array([identification(scheme), *words], dtype=np.uint32)
