# SPDX-License-Identifier: Apache-2.0
"""``ropeway program``: a board's bitstream handed to its loader."""

import argparse
import subprocess
import sys
from pathlib import Path

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    parser.add_argument("board", metavar="BOARD", help="`ropeway boards` lists them")
    parser.add_argument(
        "-d", "--directory", metavar="DIR", help="where it was built; default build/BOARD"
    )


def run(args: argparse.Namespace) -> int:
    """Run the loader, whose output is shown; 1 where it fails."""
    from ropeway.boards.catalogue import board_named
    from ropeway.boards.program import program_command

    folder = Path(args.directory or f"build/{args.board}")
    command = program_command(args.board, board_named(args.board), folder)
    status = subprocess.run(command, check=False).returncode
    if status:
        print(f"ropeway: failed: {command[0]}: status {status}", file=sys.stderr)
    return 1 if status else 0
