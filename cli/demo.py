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

FIGURE = "rope.png"


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    parser.add_argument(
        "-o", "--output", metavar="DIR", default="build/demo", help="where the figure goes"
    )


def run(args: argparse.Namespace) -> int:
    """Print every claim with what was seen, write the figure; 1 where a claim fails."""
    if find_spec("matplotlib") is None:
        raise InputError("matplotlib", "missing", "install ropeway[figure]")
    from ropeway.sim.demo import Demonstration
    from ropeway.sim.prompt import PROMPT

    started = monotonic()
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    print(f'"{" ".join(PROMPT[:-1])}{PROMPT[-1]}" at seven positions through a Llama-3.1-8B layer:')
    print(
        "32 + 8 + 8 heads of 128, half-split, llama3; 4 lanes of 16 bits, simulated clock by clock"
    )
    failed = []
    with ProgressBar() as progress:
        shown = Demonstration(progress)
        for claim in shown.claims():
            progress.clear()
            print(
                f"{'ok' if claim.holds else 'FAILED':6}  {claim.text:68}  {claim.seen}", flush=True
            )
            if not claim.holds:
                failed.append(claim)
    from ropeway.sim.figure import draw  # matplotlib takes a second to start

    draw(shown, folder / FIGURE)
    print(f"{folder / FIGURE}, {monotonic() - started:.0f} s in all")
    for claim in failed:
        print(f"ropeway: failed: {claim.text}: {claim.seen}", file=sys.stderr)
    return 1 if failed else 0
