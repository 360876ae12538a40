# SPDX-License-Identifier: Apache-2.0
"""``ropeway boards``: the boards that bitstreams are built for."""

import argparse
import json

__all__ = ["add_arguments", "run"]

COLUMNS = ("board", "device", "MHz", "core", "uart", "loader")


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    parser.add_argument("--json", action="store_true", help="all that is known of each")


def run(args: argparse.Namespace) -> int:
    """Print what the catalogue has."""
    from ropeway.boards.catalogue import BOARDS, described

    boards = {name: described(board) for name, board in BOARDS.items()}
    if args.json:
        print(json.dumps(boards, indent=1))
        return 0
    rows = [COLUMNS, *(row(name, board) for name, board in boards.items())]
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(COLUMNS))]
    for cells in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        )
    return 0


def row(name: str, board: dict) -> tuple[str, ...]:
    """A board in words; its core as scheme, lanes × bits."""
    core = f"{board['scheme']} {board['lanes']}×{board['bits']}"
    uart = f"{board['uart']['rx']} {board['uart']['tx']}"
    clock = f"{board['clock_hz'] / 1e6:g}"
    return name, board["device"], clock, core, uart, board["loader"]
