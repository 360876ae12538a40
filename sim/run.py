# SPDX-License-Identifier: Apache-2.0
"""A batch in a user's numbers through one of the engines, with a report.

The exact and the golden engine need NumPy only: nothing of Amaranth is imported for them.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ropeway.golden.batch import RopeBatch
from ropeway.golden.engines import Progress, exact, golden, lsb_error, silent
from ropeway.golden.errors import InputError
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.words import check_finite, from_words, to_words, unsaturated_lsb

__all__ = [
    "ENGINES",
    "Outcome",
    "check_request",
    "difference",
    "engine_report",
    "natural_bits",
    "run_batch",
]

ENGINES = ("exact", "golden", "sim")
NATURAL_BITS = {("i", 1): 8, ("i", 2): 16}
FLOAT_BITS = 16


@dataclass(frozen=True)
class Outcome:
    """The rotated arrays, the report on them, and what was found wrong, if anything was."""

    arrays: dict[str, np.ndarray]
    report: dict[str, Any]
    fault: str | None = None


def run_batch(
    batch: RopeBatch,
    engine: str = "golden",
    *,
    bits: int | None = None,
    lanes: int | None = None,
    lsb: float | None = None,
    progress: Progress = silent,
) -> Outcome:
    """Rotate a batch of integers or floats; results have the batch's types (``exact``: float64).

    Floats become words of ``bits`` in units of ``lsb``, else of each array's power of two with
    which no turn can saturate. Kinds that do not turn come back as they went in. The simulated
    engine is always compared with the golden model, and a difference is the outcome's fault.
    """
    check_request(engine, batch.heads, lsb)
    if engine == "exact":
        # Neither matters here, but what no engine could have is refused all the same.
        RopeParameters(
            lanes=1 if lanes is None else lanes, data_bits=FLOAT_BITS if bits is None else bits
        )
        return Outcome(exact(batch, progress), engine_report(engine))
    return _run_words(batch, engine, bits, lanes, lsb, progress)


def _run_words(
    batch: RopeBatch,
    engine: str,
    bits: int | None,
    lanes: int | None,
    lsb: float | None,
    progress: Progress,
) -> Outcome:
    bits = natural_bits(batch.heads) if bits is None else bits
    parameters = batch.parameters(bits, lanes)
    units = {
        kind: (lsb or unsaturated_lsb(array, bits, batch.growth))
        if array.dtype.kind == "f"
        else None
        for kind, array in batch.heads.items()
    }
    words = batch.with_heads(
        {kind: to_words(kind, array, bits, units[kind]) for kind, array in batch.heads.items()}
    )
    result, saturated = golden(parameters, words, progress)
    timing, fault = {}, None
    if engine == "sim":
        from .simulate import simulate

        simulated, clocks = simulate(parameters, words, progress)
        timing, fault = asdict(clocks), difference(simulated, result)
        result = simulated
    most, rms = lsb_error(words, result, progress)
    arrays = {
        kind: array
        if kind not in batch.rotated and np.array_equal(result[kind], words.heads[kind])
        else from_words(kind, result[kind], units[kind], array.dtype)
        for kind, array in batch.heads.items()
    }
    report = engine_report(
        engine,
        lanes=parameters.lanes,
        bits=bits,
        scale={kind: unit or lsb or 1.0 for kind, unit in units.items()},
        saturations=saturated,
        max_error_lsb=most,
        rms_error_lsb=rms,
        **timing,
    )
    return Outcome(arrays, report, fault)


def check_request(engine: str, arrays: Mapping[str, np.ndarray], lsb: float | None):
    """Raise InputError for an engine, a number or a scale that nothing here can go on with."""
    if engine not in ENGINES:
        raise InputError("engine", engine, f"must be one of {', '.join(ENGINES)}")
    for name, array in arrays.items():
        if array.dtype.kind == "f":
            check_finite(name, array)
    if lsb is not None and not 0 < lsb < np.inf:
        raise InputError("scale", lsb, "must be a finite number above 0")


def natural_bits(arrays: Mapping[str, np.ndarray]) -> int:
    """The width that arrays' types ask for; InputError for a type that asks for none."""
    widths = []
    for kind, array in arrays.items():
        width = NATURAL_BITS.get((array.dtype.kind, array.dtype.itemsize))
        if array.dtype.kind == "f":
            width = FLOAT_BITS
        if width is None:
            raise InputError("bits", None, f"must be given for {kind}, which is {array.dtype}")
        widths.append(width)
    return max(widths)


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
