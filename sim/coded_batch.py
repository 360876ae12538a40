# SPDX-License-Identifier: Apache-2.0
"""A batch in a user's numbers as words of an engine, and how its results come back."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ropeway.golden.batch import RopeBatch
from ropeway.golden.codec import Codec
from ropeway.golden.words import unsaturated_lsb

from .request import Request

__all__ = ["CodedBatch", "codecs_of"]


@dataclass(frozen=True)
class CodedBatch:
    """``words`` are those of ``given``, of which so many ``overflow`` into infinity."""

    given: RopeBatch
    words: RopeBatch
    codecs: Mapping[str, Codec]
    narrowed: int
    overflows: int

    @classmethod
    def of(cls, batch: RopeBatch, request: Request, bits: int) -> "CodedBatch":
        """A batch that the request has checked, in words of ``bits``.

        Raises InputError for what they cannot hold.
        """
        codecs = codecs_of(batch, request, bits)
        encoded = {kind: codecs[kind].encode(array) for kind, array in batch.heads.items()}
        words = batch.with_heads({kind: found for kind, (found, _) in encoded.items()})
        overflows = sum(count for _, count in encoded.values())
        return cls(batch, words, codecs, request.narrowed(bits), overflows)

    def decoded(self, result: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Results in the types of what was given; what does not turn comes back as it was.

        Raises InputError where a type cannot hold one.
        """
        return {kind: self._decoded(kind, words) for kind, words in result.items()}

    def _decoded(self, kind: str, words: np.ndarray) -> np.ndarray:
        same = np.array_equal(words, self.words.heads[kind])
        if kind not in self.given.rotated and not self.narrowed and same:
            return self.given.heads[kind]
        return self.codecs[kind].decode(words)


def codecs_of(batch: RopeBatch, request: Request, bits: int) -> dict[str, Codec]:
    """How each kind of heads becomes words and comes back."""
    codecs, narrowed = dict[str, Codec](), request.narrowed(bits)
    for kind, array in batch.heads.items():
        lsb = request.lsb
        if lsb is None and array.dtype.kind == "f" and not request.floating:
            lsb = unsaturated_lsb(array, bits, batch.growth, narrowed)
        codecs[kind] = request.codec(kind, array, bits, lsb)
    return codecs
