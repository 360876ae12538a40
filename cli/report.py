# SPDX-License-Identifier: Apache-2.0
"""``ropeway report``: what every unit takes and how fast it is, held to the last report."""

import argparse
import json
import os
import sys
from pathlib import Path

from ropeway.boards.designs import DESIGNS, Design
from ropeway.boards.devices import DEVICES
from ropeway.boards.report import REPORT, accept, as_json, merged
from ropeway.boards.report_cache import Cache
from ropeway.boards.report_facts import facts
from ropeway.boards.report_gate import findings
from ropeway.boards.report_page import page
from ropeway.boards.report_run import measure, tool_versions
from ropeway.boards.report_tables import document
from ropeway.golden import InputError

from .options import integer
from .output import write_whole
from .progress import ProgressBar

__all__ = ["add_arguments", "run"]

CACHE = Path("build") / "report-cache"
QUICK_SEEDS = 1


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="this design; may be given again"
    )
    parser.add_argument("--quick", action="store_true", help="a few small designs, one seed each")
    parser.add_argument("--seeds", metavar="N", help="from 1 on; default each design's own number")
    parser.add_argument("-j", "--jobs", metavar="N", help="tools at a time; default one a core")
    parser.add_argument("--dask", metavar="ADDRESS", help="run on the cluster of this scheduler")
    parser.add_argument(
        "-o", "--output", metavar="DIR", default="build/report", help="where the report is written"
    )
    parser.add_argument(
        "--accept", action="store_true", help="make it the committed report, whatever is worse"
    )


def run(args: argparse.Namespace) -> int:
    """Write report.json, .md and .html; 1 where a figure is worse than the last report allows."""
    designs, seeds, jobs = (
        _chosen(args),
        _positive("seeds", args.seeds),
        _positive("jobs", args.jobs),
    )
    if args.quick and seeds is None:
        seeds = QUICK_SEEDS
    if args.accept and seeds is not None and any(seeds < d.seeds for d in designs.values()):
        raise InputError("seeds", seeds, "must be no fewer than the designs' own to be accepted")
    before = json.loads(REPORT.read_text()) if REPORT.exists() else {"designs": {}}
    try:
        with ProgressBar() as progress:
            measured = measure(
                designs,
                Cache(CACHE),
                seeds=seeds,
                jobs=jobs or os.cpu_count() or 1,
                address=args.dask,
                progress=progress,
            )
    except RuntimeError as error:
        print(f"ropeway: failed: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    report = merged(before, {"tools": tool_versions(), "designs": measured}, list(DESIGNS))
    report |= facts(report)
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "report.json", as_json(report).encode())
    write_whole(folder / "report.md", document(report).encode())
    write_whole(folder / "report.html", page(report).encode())
    for name in designs:
        print("\n".join(_told(name, report["designs"][name])))
    print(f"{folder / 'report.html'} has all of it")
    worse = findings(before, report, list(designs) if args.only or args.quick else None)
    for finding in worse:
        print(f"ropeway: {'accepted' if args.accept else 'failed'}: {finding}", file=sys.stderr)
    if args.accept:
        accept(report)
        return 0
    return 1 if worse else 0


def _chosen(args: argparse.Namespace) -> dict[str, Design]:
    """The designs that are asked for."""
    if args.only and args.quick:
        raise InputError("only", args.only[0], "cannot stand beside --quick")
    for name in args.only or ():
        if name not in DESIGNS:
            raise InputError("only", name, f"must be one of {', '.join(DESIGNS)}")
    if args.only:
        return {name: DESIGNS[name] for name in DESIGNS if name in args.only}
    return {name: d for name, d in DESIGNS.items() if d.quick or not args.quick}


def _positive(option: str, text: str | None) -> int | None:
    number = integer(option, text)
    if number is not None and number < 1:
        raise InputError(option, number, "must be at least 1")
    return number


def _told(name: str, found: dict) -> list[str]:
    """What is found of a design, in lines to read."""
    rates = ", ".join(str(rate) for rate in found["seeds_mhz"].values())
    cells = ", ".join(f"{count} {cell}" for cell, count in found["cells"].items())
    return [
        f"{name}, {DEVICES[found['device']].title}: median {found['median_mhz']} MHz of {rates}",
        f"  {cells}",
        "  critical path of the slowest seed:",
        *(f"    {step}" for step in found["critical_path"]),
    ]
