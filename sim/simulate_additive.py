# SPDX-License-Identifier: Apache-2.0
"""Batches of embeddings and of scores through their simulated units."""

from typing import Any

import numpy as np

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import SinusoidalGeometry
from ropeway.golden.alibi import Form
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.embedding_batch import EmbeddingBatch
from ropeway.golden.engines import Progress, silent
from ropeway.golden.score_batch import ScoreBatch
from ropeway.hdl.learned_adder import LearnedAdder
from ropeway.hdl.learned_ram import LearnedRam
from ropeway.hdl.sinusoidal_adder import SinusoidalAdder

from .adder_bench import AdderBench, Embedding
from .alibi_bench import AlibiBench, Segment
from .bench import Traffic
from .unit_bench import Image, UnitRun

__all__ = ["segments_of", "simulate_embeddings", "simulate_scores"]


def simulate_embeddings(
    parameters: AdderParameters, batch: EmbeddingBatch, progress: Progress = silent
) -> tuple[np.ndarray, dict[str, Any]]:
    """Load the geometry and stream a batch's words through; what came out, and the timing."""
    g, p = batch.geometry, parameters
    p.check_serves(g.width, halves=isinstance(g, SinusoidalGeometry) and g.layout != "interleaved")
    if isinstance(g, SinusoidalGeometry):
        unit = SinusoidalAdder(p)
    else:
        unit = LearnedAdder(p, LearnedRam(p, g.rows * g.width // p.beat_elements))
    tokens = [
        Embedding(data, position)
        for data, position in zip(batch.x, batch.positions.tolist(), strict=True)
    ]
    result = AdderBench(p, unit).run(
        tokens, [Image(g.image())], _watched(progress, len(tokens)), table=batch.table
    )
    return np.stack(result.tokens), _timing(result.run, len(tokens))


def segments_of(batch: ScoreBatch) -> list[tuple[Segment, tuple[int, int, slice]]]:
    """A batch's rows, query by query, in runs of consecutive keys; and where each one stands."""
    starts = np.flatnonzero(np.diff(batch.keys, prepend=batch.keys[0] - 2) != 1).tolist()
    stops = [*starts[1:], len(batch.keys)]
    geometry, found = batch.geometry, []
    for query, position in enumerate(batch.queries.tolist()):
        for head in range(geometry.heads):
            for start, stop in zip(starts, stops, strict=True):
                where = (query, head, slice(start, stop))
                segment = Segment(
                    batch.scores[where],
                    geometry.first_head + head,
                    position,
                    int(batch.keys[start]),
                    form=Form.DISTANCE,  # a symmetric one is the table's
                    causal=batch.causal,
                )
                found.append((segment, where))
    return found


def simulate_scores(
    parameters: AlibiParameters, batch: ScoreBatch, lsb: float, progress: Progress = silent
) -> tuple[np.ndarray, dict[str, Any]]:
    """Load the slopes and stream a batch's words through; what came out, and the timing."""
    placed = segments_of(batch)
    result = AlibiBench(parameters).run(
        [segment for segment, _ in placed],
        [Image(batch.unit_geometry(parameters, lsb).image())],
        _watched(progress, len(placed)),
    )
    out = np.empty_like(batch.scores)
    for found, (_, where) in zip(result.segments, placed, strict=True):
        out[where] = found
    return out, _timing(result.run, len(batch.queries))


def _watched(progress: Progress, total: int) -> Traffic:
    def watched(state, _random) -> bool:
        progress("simulation", state.tokens_out, total)
        return True

    return Traffic(sink=watched)


def _timing(run: UnitRun, tokens: int) -> dict[str, Any]:
    """``clocks`` until the last beat, loading included; the others as simulate.py's Timing."""
    out = run.result_clocks
    return {
        "clocks": run.clocks,
        "clocks_per_token": float(out[-1] - out[0] + 1) / tokens,
        "first_beat_latency": int(out[0] - run.position_clocks[0]),
    }
