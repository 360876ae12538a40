# SPDX-License-Identifier: Apache-2.0
"""``ropeway run``: arrays through exact mathematics, the golden model, or simulated hardware."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ropeway.golden import InputError, Model, RopeGeometry
from ropeway.golden.adder import scale_word
from ropeway.golden.additive import AlibiGeometry, LearnedGeometry, SinusoidalGeometry
from ropeway.golden.arrays import read_arrays, write_arrays
from ropeway.golden.batch import RopeBatch, rope_geometry, rope_slots
from ropeway.golden.embedding_batch import EmbeddingBatch
from ropeway.golden.score_batch import ScoreBatch
from ropeway.sim.run import ENGINES, Outcome, run_batch
from ropeway.sim.run_additive import run_embeddings, run_scores

from .options import add_geometry_arguments, integer, model_from, named_geometry
from .output import write_whole
from .progress import ProgressBar

__all__ = ["add_arguments", "run"]

HEADS, KEYS = ("q", "k", "v"), ("k",)
BESIDE = ("positions", "layers", "scale")
ARRAYS = {
    "rope": (*HEADS, *BESIDE),
    "learned": ("x", "table", "positions", "scale"),
    "sinusoidal": ("x", "positions", "scale"),
    "alibi": ("scores", "positions", "key_positions", "scale"),
}
KNOWN = tuple(dict.fromkeys(name for names in ARRAYS.values() for name in names))
MASKS = ("causal", "none")
RUNNERS: dict[type, Callable[..., Outcome]] = {
    RopeBatch: run_batch,
    EmbeddingBatch: run_embeddings,
    ScoreBatch: run_scores,
}


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
    bits, lanes = integer("bits", args.bits), integer("lanes", args.lanes)
    check_output(args.output)
    model = model_from(args)
    arrays = read_arrays(args.input, KNOWN)
    prints, batch = described(args, model, arrays)
    if isinstance(batch, RopeBatch) and not args.k_only:
        warn_beyond_context(batch)
    runner = RUNNERS[type(batch)]
    with ProgressBar() as progress:
        outcome = runner(
            batch, args.engine, bits=bits, lanes=lanes, lsb=scale_of(arrays), progress=progress
        )
    one = next(iter(prints.values()))
    report = json.dumps(outcome.report | {"fingerprint": one if len(prints) == 1 else prints})
    content = outcome.arrays | {"report": np.array(report)}
    write_whole(args.output, partial(write_arrays, arrays=content))
    print(report if args.json else f"{args.output}: {summary(batch.tokens, outcome.report)}")
    if outcome.fault:
        print(f"ropeway: failed: {outcome.fault}", file=sys.stderr)
    return 1 if outcome.fault else 0


def described(
    args: argparse.Namespace, model: Model, arrays: dict[str, np.ndarray]
) -> tuple[dict[str, str], RopeBatch | EmbeddingBatch | ScoreBatch]:
    """What ``args`` and ``arrays`` describe, and the fingerprints of its geometries by name."""
    if "layers" not in arrays:
        name, geometry = named_geometry(model, args)
        if not isinstance(geometry, RopeGeometry):
            check_names(geometry.scheme, arrays)
            check_options(args, geometry.scheme)
            return {name: geometry.fingerprint}, additive_batch(args, geometry, arrays)
    kinds = KEYS if args.k_only else HEADS
    check_names("rope", arrays, (*kinds, *BESIDE))
    check_options(args, "rope")
    names, batch = batch_of(args, model, arrays, kinds)
    return {n: g.fingerprint for n, g in zip(names, batch.geometries, strict=True)}, batch


def additive_batch(
    args: argparse.Namespace,
    geometry: AlibiGeometry | LearnedGeometry | SinusoidalGeometry,
    arrays: dict[str, np.ndarray],
) -> EmbeddingBatch | ScoreBatch:
    """The embeddings or scores that ``arrays`` hold."""
    subject = "scores" if isinstance(geometry, AlibiGeometry) else "x"
    if subject not in arrays:
        raise InputError("array", subject, f"must be in {args.input}")
    given = arrays[subject]
    positions = arrays.get("positions", np.arange(len(np.atleast_1d(given))))
    if isinstance(geometry, AlibiGeometry):
        keys = np.arange(given.shape[-1] if given.ndim else 1)
        return ScoreBatch(
            scores=given,
            queries=positions,
            keys=arrays.get("key_positions", keys),
            geometry=geometry,
            causal=args.mask != "none",
        )
    if args.input_scale is not None:
        geometry = replace(geometry, scale=input_scale(args.input_scale))
    table = arrays.get("table")
    return EmbeddingBatch(x=given, positions=positions, geometry=geometry, table=table)


def check_names(scheme: str, arrays: dict[str, np.ndarray], known: tuple[str, ...] = ()):
    """Raise InputError for an array that the scheme does not take."""
    known = known or ARRAYS[scheme]
    for name in arrays:
        if name not in known:
            raise InputError("array", name, f"must be one of {', '.join(known)}")


def check_options(args: argparse.Namespace, scheme: str):
    """Raise InputError for an option that means nothing to the scheme."""
    for option, theirs in (
        ("k_only", "rope"),
        ("conjugate", "rope"),
        ("no_amplitude", "rope"),
        ("input_scale", "sinusoidal"),
        ("mask", "alibi"),
    ):
        value = getattr(args, option)
        if value not in (None, False) and scheme != theirs:
            raise InputError(option.replace("_", "-"), value, f"is for {theirs}, not {scheme}")
    if args.mask is not None and args.mask not in MASKS:
        raise InputError("mask", args.mask, f"must be one of {', '.join(MASKS)}")


def input_scale(text: str) -> float:
    """The factor that ``--input-scale`` names; its range is that of the hardware's word."""
    try:
        scale = float(text)
        scale_word(scale)
    except (ValueError, OverflowError):
        raise InputError("input-scale", text, "must be a number from 1 to 32767") from None
    return scale


def check_output(output: str):
    """Raise InputError for an output that could not be written, before long work is done for it."""
    if not Path(output).parent.is_dir():
        raise InputError("output", output, "its folder does not exist")


def batch_of(
    args: argparse.Namespace, model: Model, arrays: dict[str, np.ndarray], kinds: tuple[str, ...]
) -> tuple[list[str], RopeBatch]:
    """The tokens that ``args`` and ``arrays`` describe, and the names of their geometries."""
    for kind in kinds:
        if kind not in arrays and kind != "v":
            raise InputError("array", kind, f"must be in {args.input}")
    heads = {kind: arrays[kind] for kind in kinds if kind in arrays}
    tokens = len(np.atleast_1d(next(iter(heads.values()))))
    geometries, slots = chosen(args, model, arrays.get("layers"), tokens)
    return list(geometries), RopeBatch(
        heads=heads,
        positions=arrays.get("positions", np.arange(tokens)),
        geometries=tuple(geometries.values()),
        slots=slots,
        conjugate=args.conjugate,
        pure=args.no_amplitude or args.k_only,
        plain=args.no_amplitude,
    )


def chosen(
    args: argparse.Namespace, model: Model, layers: np.ndarray | None, tokens: int
) -> tuple[dict[str, RopeGeometry], np.ndarray | None]:
    """The geometries by name and each token's index among them, None where there is but one."""
    if layers is None:
        name, geometry = named_geometry(model, args)
        return {name: rope_geometry(geometry)}, None
    if args.layer is not None or args.geometry is not None:
        raise InputError("layers", layers.shape, "cannot stand beside --layer or --geometry")
    return rope_slots(model, layers, tokens)


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


def summary(tokens: int, report: dict) -> str:
    """The report in a line."""
    parts = [f"{tokens} tokens", f"engine {report['engine']}"]
    if report["bits"] is not None:
        parts += [
            f"{report['lanes']} lanes of {report['bits']} bits",
            f"{report['saturations']} saturated",
            f"error at most {report['max_error_lsb']:.3f} LSB",
            f"{report['rms_error_lsb']:.3f} r.m.s.",
        ]
    if report["clocks"] is not None:
        parts += [
            f"{report['clocks_per_token']:g} clocks a token",
            f"first beat after {report['first_beat_latency']} clocks",
        ]
    return ", ".join(parts)
