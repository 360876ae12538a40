# SPDX-License-Identifier: Apache-2.0
"""The figures that the README states: one JSON, written by measuring, and the table made of it."""

import hashlib
import json
import re
from pathlib import Path

from amaranth.lib import wiring

from .designs import Design
from .devices import DEVICES
from .place import Placement, median_fmax, netlist

__all__ = ["REPORT", "configuration_hash", "entry", "markdown", "merged", "update", "with_figures"]

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "boards" / "report.json"
README = ROOT / "README.md"
SECTION = re.compile(r"(<!-- begin figures[^\n]*-->\n).*?(<!-- end figures -->)", re.DOTALL)
TITLES = {
    "luts": "LUT4 (Yosys)",
    "placed": "logic cells (nextpnr)",
    "multipliers": "multipliers",
    "memories": "block RAMs",
}


def configuration_hash(component: wiring.Component, device: str) -> str:
    """A hash of the very netlist that was measured: another means that the figures are stale."""
    text = netlist(component, DEVICES[device])
    return hashlib.sha256(text.encode()).hexdigest()


def entry(
    design: Design,
    component: wiring.Component,
    cells: dict[str, int],
    placements: list[Placement],
    target: float,
) -> dict:
    """One design on its device: the seeds' clock rates, the median's figures, and its cells.

    A unit that reads external memory has no latency of its own.
    """
    device = DEVICES[design.device]
    fmax = median_fmax(placements, device)
    slowest = min(placements, key=lambda placement: placement.fmax)
    rate, unit = design.rate
    counted = placements[0].cells | cells
    return {
        "title": design.title,
        "scheme": design.scheme,
        "device": design.device,
        "parameters": design.configuration(),
        "target_mhz": target,
        "seeds_mhz": {str(p.seed): round(p.fmax, 1) for p in placements},
        "median_mhz": round(fmax, 1),
        f"{unit}_per_second": round(fmax * 1e6 * rate),
        "latency_clocks": getattr(component, "latency", None),
        "cells": {name: counted.get(cell, 0) for name, cell in device.family.cells.items()},
        "critical_path": slowest.critical,
        "configuration": configuration_hash(component, design.device),
    }


def merged(report: dict, tools: dict[str, str], found: dict[str, dict], names: list[str]) -> dict:
    """A report with what was found in place of what it had of those; ``names`` in their order."""
    designs = report.get("designs", {}) | found
    return {"tools": tools, "designs": {name: designs[name] for name in names if name in designs}}


def markdown(report: dict) -> str:
    """The README's table."""
    heads = ["unit", "device", "lanes × bits", "MHz, median (seeds)", "a second", "latency"]
    rows = [[*heads, *TITLES.values()]]
    rows.append(["---"] * len(rows[0]))
    for e in report["designs"].values():
        parameters = e["parameters"]
        seeds = ", ".join(f"{value:.0f}" for value in e["seeds_mhz"].values())
        rate = next(name for name in e if name.endswith("_per_second"))
        rows.append(
            [
                e["title"],
                DEVICES[e["device"]].title,
                f"{parameters['lanes']} × {parameters['data_bits']}",
                f"{e['median_mhz']:.0f} ({seeds})",
                f"{_figures(e[rate])} {rate.removesuffix('_per_second')}",
                f"{e['latency_clocks']} clocks" if e["latency_clocks"] else "the memory's",
                *(str(e["cells"][name]) for name in TITLES),
            ]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _figures(value: float) -> str:
    return f"{value / 1e9:.2f} G" if value >= 1e8 else f"{value / 1e6:.0f} M"


def with_figures(readme: str, report: dict) -> str:
    """The README's text with its figures made of the report."""
    return SECTION.sub(lambda found: found[1] + markdown(report) + found[2], readme)


def update(report: dict):
    """Write the report, and the README's figures from it."""
    REPORT.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    README.write_text(with_figures(README.read_text(), report))
