# SPDX-License-Identifier: Apache-2.0
"""``ropeway demo``: a prompt through simulated hardware, every claim checked as it is printed."""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from ropeway.golden import InputError

from .progress import ProgressBar

__all__ = ["add_arguments", "run"]

SCHEMES = ("rope", "sinusoidal", "learned", "alibi")


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    parser.add_argument("--scheme", default="rope", metavar="|".join(SCHEMES), help="default rope")
    parser.add_argument(
        "-o", "--output", metavar="DIR", default="build/demo", help="where the figure goes"
    )


def run(args: argparse.Namespace) -> int:
    """Print every claim with what was seen, write the figure; 1 where a claim fails."""
    if args.scheme not in SCHEMES:
        raise InputError("scheme", args.scheme, f"must be one of {', '.join(SCHEMES)}")
    if find_spec("matplotlib") is None:
        raise InputError("matplotlib", "missing", "install ropeway[figure]")
    from ropeway.sim.demonstrations import DEMONSTRATIONS
    from ropeway.sim.prompt import QUESTION

    started = monotonic()
    figure = Path(args.output) / f"{args.scheme}.png"
    figure.parent.mkdir(parents=True, exist_ok=True)
    failed = []
    with ProgressBar() as progress:
        shown = DEMONSTRATIONS[args.scheme](progress)
        print(f'"{QUESTION}" at seven positions {shown.heading}')
        for claim in shown.claims():
            progress.clear()
            word = "ok" if claim.holds else "FAILED"
            print(f"{word:6}  {claim.text:68}  {claim.seen}", flush=True)
            if not claim.holds:
                failed.append(claim)
    shown.draw(figure)
    print(f"{figure}, {monotonic() - started:.0f} s in all")
    for claim in failed:
        print(f"ropeway: failed: {claim.text}: {claim.seen}", file=sys.stderr)
    return 1 if failed else 0
