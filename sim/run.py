# SPDX-License-Identifier: Apache-2.0
"""A batch in a user's numbers through one of the engines, with a report.

The exact and the golden engine need NumPy only: nothing of Amaranth is imported for them.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from ropeway.golden.batch import RopeBatch
from ropeway.golden.codec import Codec, FixedCodec
from ropeway.golden.engines import Progress, exact, golden, lsb_error, silent, ulp_error
from ropeway.golden.errors import InputError
from ropeway.golden.parameters import RopeParameters

from .coded_batch import CodedBatch, codecs_of
from .request import FLOAT_BITS, Request

__all__ = ["Hardware", "Outcome", "difference", "engine_report", "run_batch", "run_words"]

SIMULATED = ("sim", "verilator")

Hardware = Callable[[RopeBatch, Progress], tuple[dict[str, np.ndarray], dict[str, Any]]]
"""What hardware makes of a batch of words, by kind of head, and its timing as a report has it."""


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
        codecs = codecs_of(batch, request, bits)
        heads = {kind: codecs[kind].values(array) for kind, array in batch.heads.items()}
        return Outcome(exact(batch.with_heads(heads), progress), engine_report(request.engine))
    return _run_words(batch, request, progress)


def _run_words(batch: RopeBatch, request: Request, progress: Progress) -> Outcome:
    bits = request.bits_of(batch.heads)
    parameters = batch.parameters(
        bits, request.lanes, format=request.format, output_bits=bits - request.narrowed(bits)
    )
    simulate = None
    if request.engine in SIMULATED:
        simulate = partial(_simulated, request.engine, parameters)
    return run_words(batch, request, parameters, simulate, progress)


def run_words(
    batch: RopeBatch,
    request: Request,
    parameters: RopeParameters,
    hardware: Hardware | None,
    progress: Progress = silent,
) -> Outcome:
    """``run_batch`` on an engine of these parameters; ``hardware`` is held against golden's."""
    coded = CodedBatch.of(batch, request, parameters.data_bits)
    result, saturated = golden(parameters, coded.words, progress)
    timing, fault = {}, None
    if hardware is not None:
        found, timing = hardware(coded.words, progress)
        fault, result = difference(found, result), found
    report = engine_report(
        request.engine,
        lanes=parameters.lanes,
        bits=parameters.data_bits,
        scale=_scales(coded.codecs, request),
        saturations=saturated + coded.overflows,
        **_errors(parameters, coded.words, result, progress),
        **timing,
    )
    if request.output_bits is not None:
        report["output_bits"] = request.output_bits
    return Outcome(coded.decoded(result), report, fault)


def _simulated(
    engine: str, parameters: RopeParameters, words: RopeBatch, progress: Progress
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """What hardware makes of a batch's words, and its timing; InputError where a tool lacks."""
    if engine == "sim":
        from .simulate import simulate

        found, timing = simulate(parameters, words, progress)
        return found, asdict(timing)
    from .cocotb_run import SimulatorMissingError
    from .native_engine import simulate_native

    try:
        found, timing = simulate_native(parameters, words, progress)
        return found, asdict(timing)
    except SimulatorMissingError as error:
        raise InputError("engine", engine, str(error)) from None


def _scales(codecs: Mapping[str, Codec], request: Request) -> dict[str, float] | None:
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
