# SPDX-License-Identifier: Apache-2.0
"""Proves every claim and sees each planted bug rejected: ``python -m tests.formal [NAME…]``.

A name chooses the claims that contain it. Exits 1 where a claim has no proof, a cover is not
reached, or a planted bug passes.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor

from .catalogue import CLAIMS
from .checks import ROOT, Check, checks
from .symbiyosys import Outcome, warm_up

__all__: list[str] = []

BUILD = ROOT / "build" / "formal"


def row(check: Check, outcome: Outcome) -> str:
    """A line of the table, and the log of a run that did not end as it must."""
    good = outcome.word == check.wanted
    line = (
        f"{'ok' if good else 'WRONG':5}  {outcome.word:7}  {outcome.seconds:6.1f} s  {check.name}"
    )
    return line if good else f"{line}\n{outcome.log}"


def main() -> int:
    """Run the chosen claims; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.formal", description=__doc__)
    parser.add_argument("-j", type=int, default=2, help="runs at once")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    chosen = [c for c in CLAIMS if not asked.names or any(name in c.name for name in asked.names)]
    todo = [check for claim in chosen for check in checks(claim)]
    warm_up(BUILD / "bin")
    wrong = 0
    with ThreadPoolExecutor(asked.j) as pool:
        outcomes = pool.map(lambda check: check.outcome(BUILD), todo)
        for check, outcome in zip(todo, outcomes, strict=True):
            wrong += outcome.word != check.wanted
            print(row(check, outcome), flush=True)
    print(f"prove: {len(chosen)} claims, {len(todo) - wrong} of {len(todo)} runs as they must be")
    return int(wrong > 0 or not todo)


if __name__ == "__main__":
    sys.exit(main())
