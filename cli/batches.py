# SPDX-License-Identifier: Apache-2.0
"""The batch that the arguments and the arrays of ``ropeway run`` describe."""

import argparse
from dataclasses import replace

import numpy as np

from ropeway.golden import InputError, Model, RopeGeometry
from ropeway.golden.adder import scale_word
from ropeway.golden.additive import AlibiGeometry, LearnedGeometry, SinusoidalGeometry
from ropeway.golden.batch import RopeBatch, rope_geometry, rope_slots
from ropeway.golden.embedding_batch import EmbeddingBatch
from ropeway.golden.score_batch import ScoreBatch

from .options import named_geometry

__all__ = ["KNOWN", "MASKS", "Batch", "described"]

Batch = RopeBatch | EmbeddingBatch | ScoreBatch

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


def described(
    args: argparse.Namespace, model: Model, arrays: dict[str, np.ndarray]
) -> tuple[dict[str, str], Batch]:
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
