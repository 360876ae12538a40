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
from ropeway.golden.floats import FIXED, FloatFormat
from ropeway.golden.score_batch import ScoreBatch
from ropeway.golden.ulp import ulp_errors
from ropeway.golden.words import smallest_lsb

from .request import Request
from .run import Outcome, difference, engine_report

__all__ = ["run_embeddings", "run_scores"]

INTEGER_BITS = {"x": 4, "scores": 8}  # of a word, above its fraction


def run_embeddings(batch: EmbeddingBatch, request: Request, progress: Progress = silent) -> Outcome:
    """Add positions to a batch; the result has the type of ``x`` (``exact``: float64).

    A token that has no row comes back as it was and is the outcome's fault.
    """
    request.only_for(batch.geometry.scheme, output_bits=None)
    _check_engine(request, batch.geometry.scheme)
    request.check(batch.arrays)
    bits = request.bits_of(batch.arrays)
    lsb = None if request.floating else _lsb(request, batch.x, bits, "x", batch.peak)
    table, fault = _missing(batch)
    codecs = {name: request.codec(name, array, bits, lsb) for name, array in batch.arrays.items()}
    if request.engine == "exact":
        units = 1.0 if lsb is None or batch.x.dtype.kind == "f" else lsb
        values = {name: codecs[name].values(array) for name, array in batch.arrays.items()}
        result = batch.with_arrays(values).exact(units)
        return Outcome({"x": result}, engine_report(request.engine) | table, fault)
    parameters = batch.parameters(bits, request.lanes, lsb, format=request.format)
    encoded = {name: codecs[name].encode(array) for name, array in batch.arrays.items()}
    words = batch.with_arrays({name: found for name, (found, _) in encoded.items()})
    result, saturated = words.golden(parameters)
    timing: dict[str, Any] = {}
    if request.engine == "sim":
        from .simulate_additive import simulate_embeddings

        simulated, timing = simulate_embeddings(parameters, words, progress)
        fault = difference({"x": simulated}, {"x": result}) or fault
        result = simulated
    report = engine_report(
        request.engine,
        lanes=parameters.lanes,
        bits=bits,
        scale=None if lsb is None else dict.fromkeys(batch.arrays, lsb),
        saturations=saturated + sum(overflows for _, overflows in encoded.values()),
        **_sum_errors(request.floating, words, result, lsb),
        **timing,
    )
    return Outcome({"x": codecs["x"].decode(result)}, report | table, fault)


def _check_engine(request: Request, scheme: str):
    """Raise InputError for the engine that only rotates."""
    if request.engine == "verilator":
        raise InputError("engine", request.engine, f"is for rope, not {scheme}")


def _missing(batch: EmbeddingBatch) -> tuple[dict[str, Any], str | None]:
    """What the report has of positions without a row, and the fault that they are."""
    if not isinstance(batch.geometry, LearnedGeometry):
        return {}, None
    missing = batch.positions[batch.out_of_table].tolist()
    fault = f"no row for {len(missing)} positions, the first {missing[0]}" if missing else None
    return {"out_of_table": missing}, fault


def run_scores(batch: ScoreBatch, request: Request, progress: Progress = silent) -> Outcome:
    """Bias a batch of scores; the result has their type (``exact``: float64)."""
    request.only_for(batch.geometry.scheme, output_bits=None, format=FIXED)
    _check_engine(request, batch.geometry.scheme)
    request.check({"scores": batch.scores})
    bits = request.bits_of({"scores": batch.scores})
    lsb = _lsb(request, batch.scores, bits, "scores", batch.peak)
    floats = batch.scores.dtype.kind == "f"
    hidden = np.broadcast_to(batch.masked[:, None], batch.scores.shape)
    if request.engine == "exact":
        result = batch.exact(1.0 if floats else lsb)
        result[hidden] = limits(bits)[0] * (lsb if floats else 1.0)
        return Outcome({"scores": result}, engine_report(request.engine))
    parameters = batch.parameters(bits, request.lanes, lsb)
    codec = request.codec("scores", batch.scores, bits, lsb)
    words = batch.with_scores(codec.encode(batch.scores)[0])
    result, saturated = words.golden(parameters, lsb)
    fault, timing = None, {}
    if request.engine == "sim":
        from .simulate_additive import simulate_scores

        simulated, timing = simulate_scores(parameters, words, lsb, progress)
        fault = difference({"scores": simulated}, {"scores": result})
        result = simulated
    report = engine_report(
        request.engine,
        lanes=parameters.lanes,
        bits=bits,
        scale={"scores": lsb},
        saturations=saturated,
        **_most_and_rms("lsb", np.abs(result - words.exact(lsb))[~hidden]),
        **timing,
    )
    return Outcome({"scores": codec.decode(result)}, report, fault)


def _lsb(request: Request, array: np.ndarray, bits: int, name: str, peak: float) -> float:
    """What the last bit of a word is worth; InputError for words that no unit has."""
    widest = 32 if name == "scores" else 18
    if not 8 <= bits <= widest:
        raise InputError("bits", bits, f"must be from 8 to {widest}")
    if request.lsb is not None:
        return request.lsb
    floats = array.dtype.kind == "f"
    return smallest_lsb(peak, bits) if floats else 2.0 ** (INTEGER_BITS[name] - bits)


def _sum_errors(
    floats: FloatFormat | None, words: EmbeddingBatch, result: np.ndarray, lsb: float | None
) -> dict[str, Any]:
    """The report's errors of sums against exact mathematics, in the unit of the words' format."""
    if floats is None:
        return _most_and_rms("lsb", np.abs(result - words.exact(lsb or 1.0)))
    values = {name: floats.to_float64(array) for name, array in words.arrays.items()}
    exact = words.with_arrays(values).exact(1.0)
    errors = ulp_errors(floats, floats.to_float64(result), exact, np.abs(exact))
    return {"format": floats.name} | _most_and_rms("ulp", errors)


def _most_and_rms(unit: str, error: np.ndarray) -> dict[str, float]:
    rms = sqrt(float(np.mean(error**2))) if error.size else 0.0
    return {f"max_error_{unit}": float(error.max(initial=0)), f"rms_error_{unit}": rms}
