# SPDX-License-Identifier: Apache-2.0
"""The figures that the README states: one JSON, written by measuring, and the table made of it."""

import hashlib
import json
import re
from pathlib import Path

from ropeway.hdl.engine import RopeEngine

from .place import DEVICES, Placement, median_fmax, netlist

__all__ = ["REPORT", "configuration_hash", "entry", "markdown", "update", "with_figures"]

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "boards" / "report.json"
README = ROOT / "README.md"
SECTION = re.compile(r"(<!-- begin figures[^\n]*-->\n).*?(<!-- end figures -->)", re.DOTALL)

TITLES = {
    "LUT4": "LUT4 (Yosys)",
    "TRELLIS_COMB": "TRELLIS_COMB (nextpnr)",
    "MULT18X18D": "MULT18X18D",
    "DP16KD": "DP16KD",
}


def configuration_hash(engine: RopeEngine, device: str) -> str:
    """A hash of the very netlist that was measured: another means that the figures are stale."""
    text = netlist(engine, DEVICES[device])
    return hashlib.sha256(text.encode()).hexdigest()


def entry(
    engine: RopeEngine,
    device: str,
    cells: dict[str, int],
    placements: list[Placement],
    target: float,
) -> dict:
    """One engine on one device: the seeds' clock rates, the median's figures, and its cells."""
    part, parameters = DEVICES[device], engine.parameters
    fmax = median_fmax(placements, part)
    slowest = min(placements, key=lambda placement: placement.fmax)
    return {
        "device": part.device,
        "grade": part.grade,
        "lanes": parameters.lanes,
        "data_bits": parameters.data_bits,
        "max_head_dim": parameters.max_head_dim,
        "slots": parameters.slots,
        "target_mhz": target,
        "seeds_mhz": {str(p.seed): round(p.fmax, 1) for p in placements},
        "median_mhz": round(fmax, 1),
        "pairs_per_second": round(fmax * 1e6 * parameters.lanes),
        "latency_clocks": engine.latency,
        "cells": {name: (cells | placements[0].cells).get(name, 0) for name in TITLES},
        "critical_path": slowest.critical,
        "configuration": configuration_hash(engine, device),
    }


def markdown(report: dict) -> str:
    """The README's table."""
    heads = ["device", "lanes × bits", "MHz, median (seeds)", "G pairs/s", "latency"]
    rows = [[*heads, *TITLES.values()]]
    rows.append(["---"] * len(rows[0]))
    for e in report["engines"]:
        seeds = ", ".join(f"{value:.0f}" for value in e["seeds_mhz"].values())
        rows.append(
            [
                f"{e['device']}-{e['grade']}",
                f"{e['lanes']} × {e['data_bits']}",
                f"{e['median_mhz']:.0f} ({seeds})",
                f"{e['pairs_per_second'] / 1e9:.2f}",
                f"{e['latency_clocks']} clocks",
                *(str(e["cells"][name]) for name in TITLES),
            ]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def with_figures(readme: str, report: dict) -> str:
    """The README's text with its figures made of the report."""
    return SECTION.sub(lambda found: found[1] + markdown(report) + found[2], readme)


def update(report: dict):
    """Write the report, and the README's figures from it."""
    REPORT.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    README.write_text(with_figures(README.read_text(), report))
