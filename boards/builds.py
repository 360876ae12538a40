# SPDX-License-Identifier: Apache-2.0
"""``python -m ropeway.boards.builds``: every board's bitstream, and the table of their figures."""

import argparse
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from ropeway.golden.errors import InputError

from .bitstream import BUILDS, SEEDS, bitstream, blocks
from .build import TimingError
from .catalogue import BOARDS, board_named
from .configuration import default_configuration

__all__ = ["PAGE", "entry", "main", "markdown", "merged", "with_builds"]

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "boards.md"
SECTION = re.compile(r"(<!-- begin builds[^\n]*-->\n).*?(<!-- end builds -->)", re.DOTALL)
KEPT = (
    "device",
    "clock_mhz",
    "achieved_mhz",
    "slack_ns",
    "seeds_mhz",
    "scheme",
    "parameters",
    "table_fingerprint",
    "utilisation",
    "design_sha256",
    "tools",
)
LOGIC = ("TRELLIS_COMB", "ICESTORM_LC", "LUT4")
HEADS = ["board", "device", "core", "clock, MHz", "reached", "logic", "blocks", "minutes"]


def entry(record: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """What is kept of a build: its figures, and what they are figures of."""
    return {key: record[key] for key in KEPT} | {
        "blocks": blocks(record),
        "seconds": round(seconds),
    }


def merged(builds: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """The builds with those found in place of what there was, in the catalogue's order."""
    known = {**builds, **found}
    return {name: known[name] for name in BOARDS if name in known}


def markdown(builds: Mapping[str, Any]) -> str:
    """The table of every build."""
    rows = [HEADS, ["---"] * len(HEADS)]
    for name, e in builds.items():
        unit = {
            key.split(".")[1]: value
            for key, value in e["parameters"].items()
            if key.startswith(e["scheme"])
        }
        logic = next(e["utilisation"][kind] for kind in LOGIC if kind in e["utilisation"])
        rows.append(
            [
                f"`{name}`",
                e["device"],
                f"{e['scheme']}, {unit['lanes']} × {unit['data_bits']}",
                f"{e['clock_mhz']:g}",
                f"{e['achieved_mhz']:.1f}",
                f"{logic['used']} of {logic['available']}",
                ", ".join(f"{count} {block}" for block, count in e["blocks"].items()),
                f"{e['seconds'] / 60:.1f}",
            ]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def with_builds(page: str, builds: Mapping[str, Any]) -> str:
    """The page's text with its table made of the builds."""
    return SECTION.sub(lambda found: found[1] + markdown(builds) + found[2], page)


def main(argv: list[str] | None = None) -> int:
    """Build boards into build/BOARD each, their figures into the page; 1 where one misses."""
    parser = argparse.ArgumentParser(prog="ropeway.boards.builds", description=__doc__)
    parser.add_argument(
        "--only", action="append", metavar="BOARD", help="may be given again (default: every one)"
    )
    args = parser.parse_args(argv)
    try:
        for name in args.only or ():
            board_named(name)
    except InputError as error:
        print(f"ropeway: error: {error}", file=sys.stderr)
        return 2
    missed = [name for name in args.only or BOARDS if not _built(name)]
    return 1 if missed else 0


def _built(name: str) -> bool:
    """Build one board and keep what came of it; whether it has a bitstream."""
    started, folder = monotonic(), ROOT / "build" / name
    try:
        made = bitstream(name, default_configuration(BOARDS[name]), folder, seeds=SEEDS)
    except (RuntimeError, TimingError) as error:
        print(f"ropeway: failed: {name}: {error}", file=sys.stderr)
        return False
    for file, content in made.files().items():
        (folder / file).write_bytes(content)
    found = entry(made.record, monotonic() - started)
    builds = merged(json.loads(BUILDS.read_text()), {name: found})
    BUILDS.write_text(json.dumps(builds, indent=1) + "\n")
    PAGE.write_text(with_builds(PAGE.read_text(), builds))
    print(f"{name}: {found['achieved_mhz']} MHz of {found['clock_mhz']:g}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
