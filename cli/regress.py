# SPDX-License-Identifier: Apache-2.0
"""``ropeway regress``: the whole core against the golden model, in many cases at a time."""

import argparse
import json
import os
import re
import sys
from pathlib import Path

from ropeway.golden import InputError
from ropeway.sim.regression import matrix, sample
from ropeway.sim.regression_run import as_junit, as_markdown, run_cases, shard, summary

from .options import integer
from .output import write_whole
from .progress import ProgressBar

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    parser.add_argument("-j", "--jobs", metavar="N", help="cases at a time; default one a core")
    parser.add_argument("--shard", metavar="K/N", help="the K-th of N shares of the cases, from 1")
    parser.add_argument("--dask", metavar="ADDRESS", help="run on the cluster of this scheduler")
    parser.add_argument("--quick", action="store_true", help="a few cases that touch everything")
    parser.add_argument(
        "-o", "--output", metavar="DIR", default="build/regress", help="where results are kept"
    )


def run(args: argparse.Namespace) -> int:
    """Write regress.json, .xml and .md, print the last; 1 where a case failed."""
    jobs = integer("jobs", args.jobs)
    if jobs is None:
        jobs = os.cpu_count() or 1
    if jobs < 1:
        raise InputError("jobs", jobs, "must be at least 1")
    cases = sample() if args.quick else list(matrix())
    if args.shard is not None:
        cases = shard(cases, *share(args.shard))
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    with ProgressBar() as progress:
        outcomes = run_cases(cases, folder, jobs=jobs, address=args.dask, progress=progress)
    found = summary(outcomes)
    text = as_markdown(found)
    write_whole(folder / "regress.json", (json.dumps(found, indent=1) + "\n").encode())
    write_whole(folder / "regress.xml", as_junit(outcomes))
    write_whole(folder / "regress.md", text.encode())
    print(text, end="")
    failed = [outcome for outcome in outcomes if outcome.failure]
    for outcome in failed:
        print(f"ropeway: failed: {outcome.case.name}: {outcome.failure}", file=sys.stderr)
    return 1 if failed else 0


def share(text: str) -> tuple[int, int]:
    """K and N of ``--shard``."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise InputError("shard", text, "must be K/N, K from 1 to N")
    return int(found[1]), int(found[2])
