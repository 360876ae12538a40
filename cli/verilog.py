# SPDX-License-Identifier: Apache-2.0
"""``ropeway verilog``: a core as Verilog, for a design in another language."""

import argparse
import re
from pathlib import Path
from typing import Any

from ropeway.golden import InputError
from ropeway.golden.core_options import UNITS, core_parameters

from .options import integer
from .output import write_whole

__all__ = ["add_arguments", "run"]

GENERIC, EVERY = "generic", "all"
FAMILIES = (GENERIC, "ecp5", "ice40")


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    parser.add_argument(
        "--scheme",
        default="rope",
        metavar="SCHEMES",
        help=f"units, with commas between: {', '.join(UNITS)}; or {EVERY}. Default rope",
    )
    parser.add_argument("--lanes", metavar="N", help="pairs a clock; default 4")
    parser.add_argument("--bits", metavar="W", help="of an element; default 16")
    parser.add_argument("--format", metavar="F", help="fixed, bf16 or fp16; default fixed")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="UNIT.KEY=VALUE",
        help="another parameter, such as rope.slots=8, alibi.max_heads=64, table.depth=4096,"
        " table.bus_bits=256 (a table in external memory) or core.bus=wishbone; docs/verilog.md"
        " lists them",
    )
    parser.add_argument(
        "--family", default=GENERIC, metavar="|".join(FAMILIES), help=f"default {GENERIC}"
    )
    parser.add_argument("--top", default="ropeway", metavar="NAME", help="the module's name")
    parser.add_argument(
        "--extras",
        action="store_true",
        help="write a template, a FuseSoC core file and models of a family's blocks beside it",
    )
    parser.add_argument("-o", "--output", metavar="FILE.v", required=True)


def run(args: argparse.Namespace) -> int:
    """Write the files and say what they are."""
    path = checked(args)
    schemes = UNITS if args.scheme == EVERY else tuple(args.scheme.split(","))
    common: dict[str, Any] = {
        "lanes": integer("lanes", args.lanes),
        "data_bits": integer("bits", args.bits),
        "format": args.format,
    }
    given = {name: value for name, value in common.items() if value is not None}
    parameters, named = core_parameters(schemes, given, settings(args.set))

    from ropeway.hdl.core_top import CoreTop
    from ropeway.sim.cell_library import LIBRARIES
    from ropeway.sim.export import export, extras

    top, library = CoreTop(parameters), LIBRARIES.get(args.family)
    texts = {path: export(top, args.top, named, library)}
    if args.extras:
        beside = extras(top, args.top, path.stem, library)
        texts |= {path.with_name(path.stem + end): text for end, text in beside.items()}
    for name, text in texts.items():
        write_whole(name, text.encode())
        print(f"{name}: {len(text.splitlines())} lines")
    return 0


def checked(args: argparse.Namespace) -> Path:
    """The path to write; InputError for a file, family or name that cannot be."""
    path = Path(args.output)
    if path.suffix != ".v":
        raise InputError("output", args.output, "must end in .v")
    if not path.parent.is_dir():
        raise InputError("output", args.output, "its folder does not exist")
    if args.family not in FAMILIES:
        raise InputError("family", args.family, f"must be one of {', '.join(FAMILIES)}")
    if not re.fullmatch(r"[A-Za-z_]\w*", args.top, re.ASCII):
        raise InputError("top", args.top, "must be an identifier of Verilog")
    return path


def settings(given: list[str]) -> dict[str, str]:
    """The parameters that ``--set`` names, as they are written."""
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or "." not in key:
            raise InputError("set", text, "must be UNIT.KEY=VALUE")
        found[key] = value
    return found
