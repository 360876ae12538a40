# SPDX-License-Identifier: Apache-2.0
"""A batch in a user's numbers through one of the engines, with a report.

The exact and the golden engine need NumPy only: nothing of Amaranth is imported for them.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ropeway.golden.batch import RopeBatch
from ropeway.golden.codec import Codec, FixedCodec
from ropeway.golden.engines import Progress, exact, golden, lsb_error, silent, ulp_error
from ropeway.golden.errors import InputError
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.words import unsaturated_lsb

from .request import FLOAT_BITS, Request

__all__ = ["Outcome", "difference", "engine_report", "run_batch"]

SIMULATED = ("sim", "verilator")


@dataclass(frozen=True)
class Outcome:
    """The resulting arrays, the report on them, and what was found wrong, if anything was."""

    arrays: dict[str, np.ndarray]
    report: dict[str, Any]
    fault: str | None = None


def run_batch(batch: RopeBatch, request: Request, progress: Progress = silent) -> Outcome:
    """Rotate a batch of integers or floats; results have the batch's types (``exact``: float64).

    Floats become fixed-point words in units of the request's ``lsb``, else of each array's power of
    two with which no turn can saturate; or words of its ``format``, whose patterns integers are
    then. Kinds that do not turn come back as they went in, unless results are narrower. The
    simulated engine is always compared with the golden model, and a difference is the outcome's
    fault.
    """
    request.check(batch.heads)
    if request.engine == "exact":
        # None of it matters here, but what no engine could have is refused all the same.
        lanes = 1 if request.lanes is None else request.lanes
        bits = FLOAT_BITS if request.bits is None else request.bits
        RopeParameters(lanes=lanes, data_bits=bits, format=request.format)
        codecs = _codecs(batch, request, bits)
        heads = {kind: codecs[kind].values(array) for kind, array in batch.heads.items()}
        return Outcome(exact(batch.with_heads(heads), progress), engine_report(request.engine))
    return _run_words(batch, request, progress)


def _run_words(batch: RopeBatch, request: Request, progress: Progress) -> Outcome:
    bits = request.bits_of(batch.heads)
    parameters = batch.parameters(
        bits, request.lanes, format=request.format, output_bits=bits - request.narrowed(bits)
    )
    codecs = _codecs(batch, request, bits)
    encoded = {kind: codecs[kind].encode(array) for kind, array in batch.heads.items()}
    words = batch.with_heads({kind: found for kind, (found, _) in encoded.items()})
    result, saturated = golden(parameters, words, progress)
    timing, fault = {}, None
    if request.engine in SIMULATED:
        simulated, clocks = _simulated(request.engine, parameters, words, progress)
        timing, fault = asdict(clocks), difference(simulated, result)
        result = simulated

    def came_back(kind: str, array: np.ndarray) -> np.ndarray:
        same = np.array_equal(result[kind], words.heads[kind])
        if kind not in batch.rotated and not parameters.narrowed_bits and same:
            return array
        return codecs[kind].decode(result[kind])

    report = engine_report(
        request.engine,
        lanes=parameters.lanes,
        bits=bits,
        scale=_scales(codecs, request),
        saturations=saturated + sum(overflows for _, overflows in encoded.values()),
        **_errors(parameters, words, result, progress),
        **timing,
    )
    if request.output_bits is not None:
        report["output_bits"] = request.output_bits
    return Outcome({k: came_back(k, array) for k, array in batch.heads.items()}, report, fault)


def _simulated(
    engine: str, parameters: RopeParameters, words: RopeBatch, progress: Progress
) -> tuple[dict[str, np.ndarray], Any]:
    """What hardware makes of a batch's words, and its timing; InputError where a tool lacks."""
    if engine == "sim":
        from .simulate import simulate

        return simulate(parameters, words, progress)
    from .cocotb_run import SimulatorMissingError
    from .native_engine import simulate_native

    try:
        return simulate_native(parameters, words, progress)
    except SimulatorMissingError as error:
        raise InputError("engine", engine, str(error)) from None


def _codecs(batch: RopeBatch, request: Request, bits: int) -> dict[str, Codec]:
    """How each kind of heads becomes words and comes back."""
    codecs, narrowed = dict[str, Codec](), request.narrowed(bits)
    for kind, array in batch.heads.items():
        lsb = request.lsb
        if lsb is None and array.dtype.kind == "f" and not request.floating:
            lsb = unsaturated_lsb(array, bits, batch.growth, narrowed)
        codecs[kind] = request.codec(kind, array, bits, lsb)
    return codecs


def _scales(codecs: dict[str, Codec], request: Request) -> dict[str, float] | None:
    """What the last bit of each array's words is worth; nothing, of floating-point words."""
    if request.floating:
        return None
    lsbs = {kind: codec.lsb for kind, codec in codecs.items() if isinstance(codec, FixedCodec)}
    return {kind: lsb or request.lsb or 1.0 for kind, lsb in lsbs.items()}


def _errors(
    parameters: RopeParameters, words: RopeBatch, result: dict[str, np.ndarray], progress: Progress
) -> dict[str, Any]:
    """The report's errors against exact mathematics, in the unit of the words' format."""
    floats = parameters.floating
    if floats is None:
        most, rms = lsb_error(words, result, parameters.narrowed_bits, progress)
        return {"max_error_lsb": most, "rms_error_lsb": rms}
    given, found = (
        {kind: floats.to_float64(heads) for kind, heads in each.items()}
        for each in (words.heads, result)
    )
    most, rms = ulp_error(floats, words.with_heads(given), found, progress)
    return {"format": floats.name, "max_error_ulp": most, "rms_error_ulp": rms}


def difference(simulated: dict[str, np.ndarray], golden: dict[str, np.ndarray]) -> str | None:
    """Where simulated hardware and golden model part, in words; None where they do not."""
    for kind, words in simulated.items():
        where = np.argwhere(words != golden[kind])
        if len(where):
            first = tuple(map(int, where[0]))
            return (
                f"{len(where)} elements of {kind} differ from golden, the first at"
                f" {list(first)}: {words[first]} for {golden[kind][first]}"
            )
    return None


def engine_report(engine: str, **known: Any) -> dict[str, Any]:
    """A report of every field, null where it means nothing for the engine."""
    fields = ("lanes", "bits", "scale", "saturations", "max_error_lsb", "rms_error_lsb")
    timing = ("clocks", "clocks_per_token", "first_beat_latency")
    return {"engine": engine} | dict.fromkeys((*fields, *timing)) | known
