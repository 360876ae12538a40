# SPDX-License-Identifier: Apache-2.0
"""``ropeway run``: arrays through exact mathematics, the golden model, or simulated hardware."""

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ropeway.golden import InputError
from ropeway.golden.arrays import read_arrays, write_arrays
from ropeway.golden.batch import RopeBatch
from ropeway.golden.embedding_batch import EmbeddingBatch
from ropeway.golden.floats import FIXED, FORMATS
from ropeway.golden.score_batch import ScoreBatch
from ropeway.sim.request import ENGINES, Request
from ropeway.sim.run import Outcome, run_batch
from ropeway.sim.run_additive import run_embeddings, run_scores

from .batches import KNOWN, MASKS, described
from .options import add_geometry_arguments, integer, model_from
from .output import write_whole
from .progress import ProgressBar

__all__ = ["add_arguments", "run"]

RUNNERS: dict[type, Callable[..., Outcome]] = {
    RopeBatch: run_batch,
    EmbeddingBatch: run_embeddings,
    ScoreBatch: run_scores,
}

UNITS = {"lsb": "LSB", "ulp": "ulp"}


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    add_geometry_arguments(parser)
    parser.add_argument(
        "input", metavar="INPUT.npz", help="arrays, by scheme: docs/run.md in the repository"
    )
    parser.add_argument("-o", "--output", metavar="OUTPUT.npz", required=True)
    parser.add_argument("--engine", default="golden", metavar="|".join(ENGINES))
    parser.add_argument("--lanes", metavar="N", help="pairs a clock; default 4, 2 or 1")
    parser.add_argument("--bits", metavar="W", help="a word's width; default 8 or 16")
    parser.add_argument(
        "--format", default=FIXED, metavar="|".join((FIXED, *FORMATS)), help="what a word holds"
    )
    parser.add_argument("--output-bits", metavar="N", help="a result's width, where narrower")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--k-only", action="store_true", help="shift cached keys by positions, amplitude left out"
    )
    parser.add_argument("--conjugate", action="store_true", help="turn backwards")
    parser.add_argument("--no-amplitude", action="store_true", help="turn without scaling")
    parser.add_argument("--input-scale", metavar="S", help="of embeddings, before the sinusoids")
    parser.add_argument("--mask", metavar="|".join(MASKS), help="of ALiBi's scores; default causal")


def run(args: argparse.Namespace) -> int:
    """Write the resulting arrays and the report on them; 1 where something was found wrong."""
    check_output(args.output)
    requested = {
        "engine": args.engine,
        "format": args.format,
        "bits": integer("bits", args.bits),
        "lanes": integer("lanes", args.lanes),
        "output_bits": integer("output-bits", args.output_bits),
    }
    Request(**requested)  # refused before long work is done for it
    model = model_from(args)
    arrays = read_arrays(args.input, KNOWN)
    prints, batch = described(args, model, arrays)
    if isinstance(batch, RopeBatch) and not args.k_only:
        warn_beyond_context(batch)
    request = Request(**requested, lsb=scale_of(arrays))
    with ProgressBar() as progress:
        outcome = RUNNERS[type(batch)](batch, request, progress)
    return deliver(args, batch.tokens, prints, outcome)


def deliver(args: argparse.Namespace, tokens: int, prints: dict[str, str], outcome: Outcome) -> int:
    """Write what came out, and the report with its geometries' fingerprints; the exit status."""
    one = next(iter(prints.values()))
    report = json.dumps(outcome.report | {"fingerprint": one if len(prints) == 1 else prints})
    content = outcome.arrays | {"report": np.array(report)}
    write_whole(args.output, partial(write_arrays, arrays=content))
    print(report if args.json else f"{args.output}: {summary(tokens, outcome.report)}")
    if outcome.fault:
        print(f"ropeway: failed: {outcome.fault}", file=sys.stderr)
    return 1 if outcome.fault else 0


def check_output(output: str):
    """Raise InputError for an output that could not be written, before long work is done for it."""
    if not Path(output).parent.is_dir():
        raise InputError("output", output, "its folder does not exist")


def scale_of(arrays: dict[str, np.ndarray]) -> float | None:
    """The value of one LSB, where the input states it."""
    scale = arrays.get("scale")
    if scale is None:
        return None
    if scale.shape != ():
        raise InputError("scale", scale.shape, "must be a 0-d float")
    return float(scale)


def warn_beyond_context(batch: RopeBatch):
    """Say which position is the first that the model was not trained on."""
    beyond = batch.beyond_context()
    if beyond is not None:
        token, position, context = beyond
        message = f"position {position} of token {token} is beyond the trained {context} tokens"
        print(f"ropeway: warning: {message}", file=sys.stderr)


def summary(tokens: int, report: dict[str, Any]) -> str:
    """The report in a line."""
    parts = [f"{tokens} tokens", f"engine {report['engine']}"]
    if report["bits"] is not None:
        unit = "ulp" if "format" in report else "lsb"
        width = report.get("format", f"{report['bits']} bits")
        parts += [
            f"{report['lanes']} lanes of {width}",
            f"{report['saturations']} saturated",
            f"error at most {report[f'max_error_{unit}']:.3f} {UNITS[unit]}",
            f"{report[f'rms_error_{unit}']:.3f} r.m.s.",
        ]
    if report["clocks"] is not None:
        parts += [
            f"{report['clocks_per_token']:g} clocks a token",
            f"first beat after {report['first_beat_latency']} clocks",
        ]
    return ", ".join(parts)
