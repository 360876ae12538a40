# SPDX-License-Identifier: Apache-2.0
"""``ropeway build``: the bitstream of a board."""

import argparse
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropeway.golden import InputError

from .options import add_model_arguments, geometry_from, integer
from .output import write_whole
from .progress import ProgressBar
from .verilog import settings

if TYPE_CHECKING:
    from ropeway.boards.configuration import Configuration

__all__ = ["add_arguments", "add_configuration_arguments", "configuration_from", "run"]


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    add_configuration_arguments(parser)
    parser.add_argument("-o", "--output", metavar="DIR", help="default build/BOARD")
    parser.add_argument("--clock", metavar="MHZ", help="of the core; default the board's")
    parser.add_argument(
        "--seed", metavar="N", help="of placement; default the first of a few that is fast enough"
    )


def add_configuration_arguments(parser: argparse.ArgumentParser):
    """Add what says which board, and what it is to be configured with."""
    parser.add_argument("board", metavar="BOARD", help="`ropeway boards` lists them")
    parser.add_argument("--scheme", metavar="SCHEMES", help="rope, sinusoidal, or both: a,b")
    parser.add_argument("--lanes", metavar="N", help="pairs a clock")
    parser.add_argument("--bits", metavar="W", help="of an element")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="UNIT.KEY=VALUE",
        help="another parameter, such as rope.max_head_dim=64; docs/datasheet.md lists them",
    )
    parser.add_argument("--baud", metavar="N", help="of the serial port; default 1000000")
    parser.add_argument("--config", metavar="CONFIG", help="the geometry to begin with")
    add_model_arguments(parser)
    parser.add_argument("--layer", metavar="N", help="the geometry of layer N, from 0")
    parser.add_argument("--geometry", metavar="NAME", help="the geometry of that name")


def configuration_from(args: argparse.Namespace, clock_hz: int | None = None) -> "Configuration":
    """What they say; the core's clock is the board's unless given."""
    from ropeway.boards.catalogue import board_named
    from ropeway.boards.configuration import configure, default_config

    board = board_named(args.board)
    scheme = args.scheme or board.core.scheme
    args.config = args.config or default_config(scheme)
    return configure(
        board,
        geometry_from(args),
        scheme=scheme,
        settings=settings(args.set),
        clock_hz=clock_hz or board.clock_hz,
        lanes=integer("lanes", args.lanes),
        bits=integer("bits", args.bits),
        baud=integer("baud", args.baud),
    )


def run(args: argparse.Namespace) -> int:
    """Write the bitstream and build.json, or neither; 1 where timing is missed or a tool fails."""
    from ropeway.boards.bitstream import SEEDS, bitstream
    from ropeway.boards.build import TimingError

    clock_hz = None if args.clock is None else hertz(args.clock)
    configuration = configuration_from(args, clock_hz)
    seed = integer("seed", args.seed)
    seeds = SEEDS if seed is None else [seed]
    folder = Path(args.output or f"build/{args.board}")
    try:
        with ProgressBar() as progress:
            built = bitstream(args.board, configuration, folder, seeds=seeds, progress=progress)
    except (TimingError, RuntimeError) as error:
        what = "timing" if isinstance(error, TimingError) else "build"
        print(f"ropeway: failed: {what}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    for name, content in built.files().items():
        write_whole(folder / name, content)
    print(summary(folder, built.record))
    return 0


def summary(folder: Path, record: Mapping[str, Any]) -> str:
    """A line on what was built."""
    return (
        f"{folder / record['bitstream']}: {record['achieved_mhz']:.1f} MHz of"
        f" {record['clock_mhz']:g} MHz, {record['slack_ns']:.2f} ns to spare, seed"
        f" {record['seed']}; {record['scheme']} {record['table_fingerprint']}"
    )


def hertz(text: str) -> int:
    """A clock in Hz, of a text in MHz."""
    try:
        hz = Fraction(text) * 1_000_000
    except (ValueError, ZeroDivisionError):
        raise InputError("clock", text, "must be a number of MHz") from None
    if hz.denominator != 1 or not 0 < hz < 10**9:
        raise InputError("clock", text, "must be a whole number of Hz, below 1000 MHz")
    return int(hz)
