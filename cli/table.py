# SPDX-License-Identifier: Apache-2.0
"""``ropeway table``: one geometry as a file that loads the hardware."""

import argparse
from pathlib import Path

from ropeway.golden import InputError
from ropeway.golden.table_files import TABLE_SUFFIXES, image_of, render_table

from .options import add_geometry_arguments, model_from, named_geometry
from .output import write_whole

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    add_geometry_arguments(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="ends in .json, .h or .hex"
    )


def run(args: argparse.Namespace) -> int:
    """Write the table and say what it is."""
    path = Path(args.output)
    if path.suffix not in TABLE_SUFFIXES:
        raise InputError("output", args.output, f"must end in {', '.join(TABLE_SUFFIXES)}")
    model = model_from(args)
    _, geometry = named_geometry(model, args)
    write_whole(path, render_table(geometry, model.model_type, path.suffix).encode())
    print(f"{path}: {len(image_of(geometry))} words, fingerprint {geometry.fingerprint}")
    return 0
