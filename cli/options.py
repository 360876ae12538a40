# SPDX-License-Identifier: Apache-2.0
"""The options that choose a geometry, common to every verb that takes a CONFIG."""

import argparse
import sys
from typing import Any

from ropeway.golden import Geometry, InputError, Model, model_of
from ropeway.golden.sources import parse_json

__all__ = [
    "add_geometry_arguments",
    "add_model_arguments",
    "geometry_from",
    "integer",
    "model_from",
    "named_geometry",
]


def add_model_arguments(parser: argparse.ArgumentParser):
    """Add what changes a config's geometries: ``--context``, ``--scaling``, ``--tp``."""
    parser.add_argument(
        "--context", metavar="N", help="total tokens; dynamic NTK and longrope need it"
    )
    parser.add_argument("--scaling", metavar="JSON", help="a rope scaling instead of the file's")
    parser.add_argument("--tp", metavar="RANK/SIZE", help="the heads of one tensor-parallel worker")


def add_geometry_arguments(parser: argparse.ArgumentParser, default: str | None = None):
    """Add CONFIG, the options of ``add_model_arguments`` and the choice of one geometry.

    CONFIG may be left out where there is a ``default``.
    """
    what = "a config.json, a table that `ropeway table` wrote, or a preset's name"
    parser.add_argument(
        "config",
        metavar="CONFIG",
        nargs="?" if default else None,
        default=default,
        help=f"{what}; default {default}" if default else what,
    )
    add_model_arguments(parser)
    parser.add_argument("--layer", metavar="N", help="the geometry of layer N, from 0")
    parser.add_argument("--geometry", metavar="NAME", help="the geometry of that name")


def model_from(args: argparse.Namespace, config: str | None = None) -> Model:
    """The model that ``args`` describe, of ``config`` or of their own; warnings go to stderr."""
    model = model_of(
        args.config if config is None else config,
        context=integer("context", args.context),
        scaling=_scaling(args.scaling),
        tp=_rank(args.tp),
    )
    for warning in model.warnings:
        print(f"ropeway: warning: {warning}", file=sys.stderr)
    return model


def geometry_from(args: argparse.Namespace) -> Geometry:
    """The one geometry that ``args`` choose; InputError where there are several and they do not."""
    return named_geometry(model_from(args), args)[1]


def named_geometry(model: Model, args: argparse.Namespace) -> tuple[str, Geometry]:
    """The geometry of ``model`` that ``args`` choose, and its name ("nope" where nothing turns)."""
    geometry = model.geometry(args.geometry, integer("layer", args.layer))
    held = (name for name, each in model.geometries.items() if each is geometry)
    return next(held, "nope"), geometry


def integer(option: str, text: str | None) -> int | None:
    """The integer that an option's text is, None where it was not given."""
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 10:
        raise InputError(option, text, "must be an integer of at least 0")
    return int(text)


def _scaling(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    return {} if text.strip() == "null" else parse_json(text, "scaling")


def _rank(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, 1
    rank, slash, size = text.partition("/")
    if not slash or not (rank + size).isdecimal() or not (rank and size):
        raise InputError("tp", text, "must be RANK/SIZE")
    return int(rank), int(size)
