# SPDX-License-Identifier: Apache-2.0
"""Segments of scores for a core's ports, and what the golden model says that comes of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ropeway.golden.additive import AlibiGeometry
from ropeway.golden.alibi import Form, alibi
from ropeway.golden.alibi_parameters import SLOPE_BITS, AlibiParameters
from ropeway.golden.core_parameters import CoreParameters

from .alibi_bench import Segment
from .core_words import element_words

__all__ = ["ScoreScript", "biased", "scores_written"]

KEY_ONLY, CAUSAL = 1 << 16, 1 << 17


@dataclass
class ScoreScript:
    """Segments as a core's ports take them, and what is to come out.

    ``beats`` and ``results`` are uint32 [beats, words] of TDATA and TLAST, and of results TUSER;
    ``segments`` uint32 [segments, 5].
    """

    beats: np.ndarray = field(repr=False)
    segments: np.ndarray = field(repr=False)
    results: np.ndarray = field(repr=False)
    elements: int


def scores_written(
    p: CoreParameters, geometry: AlibiGeometry, segments: Sequence[Segment]
) -> ScoreScript:
    """The script of segments of one geometry; ValueError for a core without an ALiBi unit."""
    if p.alibi is None:
        raise ValueError("the core has no ALiBi unit")
    beats, descriptors, results = [], [], []
    for segment in segments:
        count = -(-len(segment.scores) // p.score_lanes)
        sent = count if segment.last_at is None else segment.last_at + 1
        beats.append(_packet(p, segment.scores, sent))
        descriptors.append(_descriptor(segment))
        out = _packet(p, biased(p.alibi, geometry, segment), count)
        marks = np.zeros((count, 1), "<u4")
        marks[-1] = sent != count
        results.append(np.concatenate([out, marks], axis=1))
    return ScoreScript(
        np.concatenate(beats),
        np.array(descriptors, "<u4"),
        np.concatenate(results),
        sum(len(segment.scores) for segment in segments),
    )


def biased(p: AlibiParameters, geometry: AlibiGeometry, segment: Segment) -> np.ndarray:
    """A segment's scores [keys] with their bias; those that an early ``last`` leaves out are 0."""
    scores = segment.scores.copy()
    if segment.last_at is not None:
        scores[(segment.last_at + 1) * p.lanes :] = 0
    symmetric = geometry.form == Form.SYMMETRIC and segment.form is not Form.KEY
    out, _ = alibi(
        p,
        [round(geometry.effective_slopes[segment.head] * (1 << SLOPE_BITS))],
        scores[None, None],
        np.array([segment.query]),
        segment.key + np.arange(len(scores)),
        form=Form.SYMMETRIC if symmetric else segment.form,
        causal=segment.causal,
        window=segment.window,
    )
    return out[0, 0]


def _packet(p: CoreParameters, scores: np.ndarray, count: int) -> np.ndarray:
    """Scores in ``count`` beats, cut or filled up with zeros: uint32 [beats, words]."""
    held = np.zeros(count * p.score_lanes, np.int64)
    kept = min(len(held), len(scores))
    held[:kept] = scores[:kept]
    last = np.zeros((count, 1), "<u4")
    last[-1] = 1
    words = element_words(held.reshape(count, -1), p.score_bytes)
    return np.concatenate([words, last], axis=1)


def _descriptor(segment: Segment) -> list[int]:
    head = segment.head | (segment.form is Form.KEY) * KEY_ONLY | segment.causal * CAUSAL
    words = (head, segment.query, segment.key, len(segment.scores) - 1, segment.window)
    return [word & 0xFFFFFFFF for word in words]
