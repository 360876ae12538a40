# SPDX-License-Identifier: Apache-2.0
"""Embeddings and scores in a user's numbers through one of the engines, with a report.

The exact and the golden engine need NumPy only: nothing of Amaranth is imported for them.
"""

from math import sqrt
from typing import Any

import numpy as np

from ropeway.golden.additive import LearnedGeometry
from ropeway.golden.embedding_batch import EmbeddingBatch
from ropeway.golden.engines import Progress, silent
from ropeway.golden.errors import InputError
from ropeway.golden.fixed import limits
from ropeway.golden.score_batch import ScoreBatch
from ropeway.golden.words import from_words, smallest_lsb, to_words

from .run import Outcome, check_request, difference, engine_report, natural_bits

__all__ = ["run_embeddings", "run_scores"]

INTEGER_BITS = {"x": 4, "scores": 8}  # of a word, above its fraction


def run_embeddings(
    batch: EmbeddingBatch,
    engine: str = "golden",
    *,
    bits: int | None = None,
    lanes: int | None = None,
    lsb: float | None = None,
    progress: Progress = silent,
) -> Outcome:
    """Add positions to a batch; the result has the type of ``x`` (``exact``: float64).

    A token that has no row comes back as it was and is the outcome's fault.
    """
    bits, lsb = _units(engine, batch.arrays, bits, lsb, "x", batch.peak)
    floats = batch.x.dtype.kind == "f"
    fault, missing = None, batch.positions[batch.out_of_table].tolist()
    if missing:
        fault = f"no row for {len(missing)} positions, the first {missing[0]}"
    table: dict[str, Any] = {}
    if isinstance(batch.geometry, LearnedGeometry):
        table = {"out_of_table": missing}
    if engine == "exact":
        result = batch.exact(1.0 if floats else lsb)
        return Outcome({"x": result}, engine_report(engine) | table, fault)
    parameters = batch.parameters(bits, lanes, lsb)
    unit = lsb if floats else None
    words = batch.with_arrays(
        {name: to_words(name, array, bits, unit) for name, array in batch.arrays.items()}
    )
    result, saturated = words.golden(parameters)
    timing: dict[str, Any] = {}
    if engine == "sim":
        from .simulate_additive import simulate_embeddings

        simulated, timing = simulate_embeddings(parameters, words, progress)
        fault = difference({"x": simulated}, {"x": result}) or fault
        result = simulated
    error = np.abs(result - words.exact(lsb))
    report = engine_report(
        engine,
        lanes=parameters.lanes,
        bits=bits,
        scale=dict.fromkeys(batch.arrays, lsb),
        saturations=saturated,
        max_error_lsb=float(error.max()),
        rms_error_lsb=sqrt(float(np.mean(error**2))),
        **timing,
    )
    return Outcome({"x": from_words("x", result, unit, batch.x.dtype)}, report | table, fault)


def run_scores(
    batch: ScoreBatch,
    engine: str = "golden",
    *,
    bits: int | None = None,
    lanes: int | None = None,
    lsb: float | None = None,
    progress: Progress = silent,
) -> Outcome:
    """Bias a batch of scores; the result has their type (``exact``: float64)."""
    bits, lsb = _units(engine, {"scores": batch.scores}, bits, lsb, "scores", batch.peak)
    floats = batch.scores.dtype.kind == "f"
    hidden = np.broadcast_to(batch.masked[:, None], batch.scores.shape)
    if engine == "exact":
        result = batch.exact(1.0 if floats else lsb)
        result[hidden] = limits(bits)[0] * (lsb if floats else 1.0)
        return Outcome({"scores": result}, engine_report(engine))
    parameters = batch.parameters(bits, lanes, lsb)
    unit = lsb if floats else None
    words = batch.with_scores(to_words("scores", batch.scores, bits, unit))
    result, saturated = words.golden(parameters, lsb)
    fault, timing = None, {}
    if engine == "sim":
        from .simulate_additive import simulate_scores

        simulated, timing = simulate_scores(parameters, words, lsb, progress)
        fault = difference({"scores": simulated}, {"scores": result})
        result = simulated
    error = np.abs(result - words.exact(lsb))[~hidden]
    report = engine_report(
        engine,
        lanes=parameters.lanes,
        bits=bits,
        scale={"scores": lsb},
        saturations=saturated,
        max_error_lsb=float(error.max(initial=0)),
        rms_error_lsb=sqrt(float(np.mean(error**2))) if error.size else 0.0,
        **timing,
    )
    out = from_words("scores", result, unit, batch.scores.dtype)
    return Outcome({"scores": out}, report, fault)


def _units(
    engine: str,
    arrays: dict[str, np.ndarray],
    bits: int | None,
    lsb: float | None,
    name: str,
    peak: float,
) -> tuple[int, float]:
    """A word's width and what its last bit is worth; InputError for what no engine takes."""
    check_request(engine, arrays, lsb)
    bits = natural_bits(arrays) if bits is None else bits
    widest = 32 if name == "scores" else 18
    if not 8 <= bits <= widest:
        raise InputError("bits", bits, f"must be from 8 to {widest}")
    if lsb is None:
        floats = arrays[name].dtype.kind == "f"
        lsb = smallest_lsb(peak, bits) if floats else 2.0 ** (INTEGER_BITS[name] - bits)
    return bits, lsb
