# SPDX-License-Identifier: Apache-2.0
"""``ropeway run``: arrays rotated exactly, as the golden model, or in simulated hardware."""

import argparse
import json
import sys
from functools import partial
from pathlib import Path

import numpy as np

from ropeway.golden import InputError, Model, RopeGeometry
from ropeway.golden.arrays import read_arrays, write_arrays
from ropeway.golden.batch import RopeBatch, rope_geometry, rope_slots
from ropeway.sim.run import ENGINES, run_batch

from .options import add_geometry_arguments, integer, model_from, named_geometry
from .output import write_whole
from .progress import ProgressBar

__all__ = ["add_arguments", "run"]

HEADS, KEYS = ("q", "k", "v"), ("k",)
BESIDE = ("positions", "layers", "scale")


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    add_geometry_arguments(parser)
    parser.add_argument(
        "input", metavar="INPUT.npz", help="arrays q, k, v, positions, layers, scale"
    )
    parser.add_argument("-o", "--output", metavar="OUTPUT.npz", required=True)
    parser.add_argument("--engine", default="golden", metavar="|".join(ENGINES))
    parser.add_argument("--lanes", metavar="N", help="pairs a clock; default 4, 2 or 1")
    parser.add_argument("--bits", metavar="W", help="a word's width, 8 to 18; default 8 or 16")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--k-only", action="store_true", help="shift cached keys by positions, amplitude left out"
    )
    parser.add_argument("--conjugate", action="store_true", help="turn backwards")
    parser.add_argument("--no-amplitude", action="store_true", help="turn without scaling")


def run(args: argparse.Namespace) -> int:
    """Write the rotated arrays and the report on them; 1 where the hardware differs from golden."""
    bits, lanes = integer("bits", args.bits), integer("lanes", args.lanes)
    check_output(args.output)
    kinds = KEYS if args.k_only else HEADS
    arrays = read_arrays(args.input, (*kinds, *BESIDE))
    names, batch = batch_of(args, arrays, kinds)
    if not args.k_only:
        warn_beyond_context(batch)
    with ProgressBar() as progress:
        outcome = run_batch(
            batch,
            args.engine,
            bits=bits,
            lanes=lanes,
            lsb=scale_of(arrays),
            progress=progress,
        )
    prints = {name: g.fingerprint for name, g in zip(names, batch.geometries, strict=True)}
    one = next(iter(prints.values()))
    report = json.dumps(outcome.report | {"fingerprint": one if len(prints) == 1 else prints})
    content = outcome.arrays | {"report": np.array(report)}
    write_whole(args.output, partial(write_arrays, arrays=content))
    print(report if args.json else f"{args.output}: {summary(batch, outcome.report)}")
    if outcome.fault:
        print(f"ropeway: failed: {outcome.fault}", file=sys.stderr)
    return 1 if outcome.fault else 0


def check_output(output: str):
    """Raise InputError for an output that could not be written, before long work is done for it."""
    if not Path(output).parent.is_dir():
        raise InputError("output", output, "its folder does not exist")


def batch_of(
    args: argparse.Namespace, arrays: dict[str, np.ndarray], kinds: tuple[str, ...]
) -> tuple[list[str], RopeBatch]:
    """The tokens that ``args`` and ``arrays`` describe, and the names of their geometries."""
    for kind in kinds:
        if kind not in arrays and kind != "v":
            raise InputError("array", kind, f"must be in {args.input}")
    heads = {kind: arrays[kind] for kind in kinds if kind in arrays}
    tokens = len(np.atleast_1d(next(iter(heads.values()))))
    geometries, slots = chosen(args, model_from(args), arrays.get("layers"), tokens)
    return list(geometries), RopeBatch(
        heads=heads,
        positions=arrays.get("positions", np.arange(tokens)),
        geometries=tuple(geometries.values()),
        slots=slots,
        conjugate=args.conjugate,
        pure=args.no_amplitude or args.k_only,
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


def summary(batch: RopeBatch, report: dict) -> str:
    """The report in a line."""
    parts = [f"{batch.tokens} tokens", f"engine {report['engine']}"]
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
