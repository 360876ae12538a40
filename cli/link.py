# SPDX-License-Identifier: Apache-2.0
"""``ropeway link``: a board at a serial port, loaded, streamed through, tested and asked."""

import argparse
import json
import re
import sys
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ropeway.boards.link import Link
from ropeway.golden import InputError
from ropeway.golden.arrays import read_arrays
from ropeway.golden.batch import RopeBatch
from ropeway.golden.engines import Progress
from ropeway.sim.run import run_words

from .batches import KNOWN, described
from .board_summary import board_facts, lines_of
from .options import add_geometry_arguments, integer, model_from, named_geometry
from .ports import add_link_arguments, over_link
from .progress import ProgressBar
from .run import check_output, deliver, scale_of, warn_beyond_context

__all__ = ["add_arguments", "run"]

ENGINE = "board"  # in a report, in the place of what simulates it
TESTED = "llama-3.1-8b"
WORD = 0xFFFF_FFFF
NUMBERED = re.compile(r"([A-Z][A-Z0-9_]*)(?:\[([0-9]{1,4})\])?")


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    parser.add_argument("port", metavar="PORT", help="/dev/ttyUSB0, COM3, socket://HOST:PORT")
    add_link_arguments(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, what: str, use) -> argparse.ArgumentParser:
        found = actions.add_parser(name, help=what, description=what, allow_abbrev=False)
        found.set_defaults(use=use)
        return found

    found = action("info", "what the board is, holds and has done", info)
    found.add_argument("--json", action="store_true", help="print it as JSON")
    add_geometry_arguments(action("load", "load a geometry, and read back its fingerprint", load))
    found = action("run", "rotate arrays on the board, and compare with the golden model", turn)
    add_geometry_arguments(found)
    found.add_argument("input", metavar="INPUT.npz", help="q, k, v, positions, layers, scale")
    found.add_argument("-o", "--output", metavar="OUTPUT.npz", required=True)
    found.add_argument("--json", action="store_true", help="print the report as JSON")
    found.add_argument("--k-only", action="store_true", help="shift cached keys by positions")
    found.add_argument("--conjugate", action="store_true", help="turn backwards")
    found.add_argument("--no-amplitude", action="store_true", help="turn without scaling")
    found.set_defaults(input_scale=None, mask=None)  # of other schemes
    found = action("self-test", "run tokens at full speed, on the board alone", self_test)
    add_geometry_arguments(found, default=TESTED)
    found.add_argument("--tokens", metavar="N", help="how many; default 1000")
    found.add_argument("--seed", metavar="S", help="of what they are made from; default 0")
    found.add_argument("--json", action="store_true", help="print the report as JSON")
    found = action("read", "read a register", read)
    found.add_argument("name", metavar="NAME", help="of a register, NAME[N] of one of several")
    found = action("write", "write a register", write)
    found.add_argument("name", metavar="NAME", help="of a register, NAME[N] of one of several")
    found.add_argument("values", metavar="VALUE", nargs="+", help="a word, or FIELD=VALUE …")


def run(args: argparse.Namespace) -> int:
    """Do what is asked for; 1 where a comparison, the self-test or the link fails, else 0."""
    return over_link(args, args.port, args.use(args))


def info(args: argparse.Namespace):
    """Print what the board is."""

    def use(link: Link) -> int:
        facts = board_facts(link)
        print(json.dumps(facts, indent=1) if args.json else "\n".join(lines_of(facts)))
        return 0

    return use


def load(args: argparse.Namespace):
    """Load a geometry."""
    model = model_from(args)
    name, geometry = named_geometry(model, args)

    def use(link: Link) -> int:
        print(f"{args.port}: {name} of {args.config}, fingerprint {link.load(geometry)}")
        return 0

    return use


def turn(args: argparse.Namespace):
    """Rotate arrays, write them and the report; 1 where they differ from the golden model."""
    check_output(args.output)
    model = model_from(args)
    arrays = read_arrays(args.input, KNOWN)
    prints, batch = described(args, model, arrays)
    if not isinstance(batch, RopeBatch):
        raise InputError("scheme", batch.geometry.scheme, "must be rope on a board")
    if not args.k_only:
        warn_beyond_context(batch)

    def use(link: Link) -> int:
        request = replace(link.request, lsb=scale_of(arrays))
        request.check(batch.heads)
        with ProgressBar() as progress:
            outcome = run_words(batch, request, link.engine, partial(on_board, link), progress)
        outcome = replace(outcome, report=outcome.report | {"engine": ENGINE})
        return deliver(args, batch.tokens, prints, outcome)

    return use


def on_board(
    link: Link, batch: RopeBatch, progress: Progress
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A batch of words turned by the board, whose clocks nobody counted."""
    return link.rotate_words(batch, progress), {}


def self_test(args: argparse.Namespace):
    """Test the board; 1 where it fails."""
    geometry = named_geometry(model_from(args), args)[1]
    tokens, seed = integer("tokens", args.tokens), integer("seed", args.seed)

    def use(link: Link) -> int:
        link.load(geometry)
        with ProgressBar() as progress:
            report = link.self_test(
                1000 if tokens is None else tokens, seed=seed or 0, progress=progress
            )
        facts = report.as_dict()
        print(json.dumps(facts) if args.json else "\n".join(lines_of(facts)))
        if report.fault:
            print(f"ropeway: failed: self-test: {report.fault}", file=sys.stderr)
        return 1 if report.fault else 0

    return use


def read(args: argparse.Namespace):
    """Print a register's fields."""
    name, number = numbered(args.name)

    def use(link: Link) -> int:
        for field, value in link.read(name, number).items():
            shown = args.name if field == "value" else f"{args.name}.{field.upper()}"
            print(f"{shown} = {value} (0x{value & 0xFFFF_FFFF_FFFF_FFFF:x})")
        return 0

    return use


def write(args: argparse.Namespace):
    """Write a register's fields."""
    name, number = numbered(args.name)
    if len(args.values) == 1 and "=" not in args.values[0]:
        word, fields = value_of(args.name, args.values[0]), None
    else:
        pairs = (text.partition("=") for text in args.values)
        word, fields = 0, {field.lower(): value_of(field, text) for field, _, text in pairs}

    def use(link: Link) -> int:
        register = link.registers.get(name)
        if fields is not None or register is None:
            link.write(name, number, **fields or {})
        elif register.fields[0].name == "VALUE":
            link.write(name, number, value=word)
        else:
            link.write(name, number, **register.decode(word & WORD))
        return 0

    return use


def numbered(text: str) -> tuple[str, int]:
    """A register's name, and which of several; small letters will do."""
    found = NUMBERED.fullmatch(text.upper())
    if not found:
        raise InputError("register", text, "must be NAME or NAME[N]")
    return found[1], int(found[2] or 0)


def value_of(key: str, text: str) -> int:
    """An integer, decimal or hexadecimal."""
    if not re.fullmatch(r"-?[0-9]{1,20}|0[xX][0-9a-fA-F]{1,16}", text):
        raise InputError(key, text, "must be an integer")
    return int(text, 0) if text[:2].lower() == "0x" else int(text)
