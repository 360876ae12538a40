# SPDX-License-Identifier: Apache-2.0
"""The report of what was measured: one JSON, and all that is written from it."""

import hashlib
import json
from pathlib import Path

from .designs import Design
from .devices import DEVICES
from .place import Placement, median_fmax
from .report_figures import ERROR_TITLE, figures
from .report_jobs import Elaborated
from .report_tables import document, with_tables
from .svg import standalone

__all__ = ["README", "REPORT", "accept", "as_json", "configuration_hash", "entry", "merged"]

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "boards" / "report.json"
README = ROOT / "README.md"
DOCUMENT = ROOT / "docs" / "report.md"
ERROR = ROOT / "docs" / "error.svg"


def configuration_hash(rtlil: str) -> str:
    """A hash of the very netlist that was measured: another means that the figures are stale."""
    return hashlib.sha256(rtlil.encode()).hexdigest()


def entry(
    design: Design,
    elaborated: Elaborated,
    cells: dict[str, int],
    placements: list[Placement],
    simulated: dict[str, float] | None,
) -> dict:
    """One design on its device: the seeds' clock rates, the median's figures, and its cells.

    ``simulated`` is what its simulation took. A unit that reads external memory has none, and no
    latency of its own.
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
        "target_mhz": device.target,
        "seeds_mhz": {str(p.seed): round(p.fmax, 1) for p in placements},
        "median_mhz": round(fmax, 1),
        f"{unit}_per_second": round(fmax * 1e6 * rate),
        "latency_clocks": elaborated.latency,
        "simulated": simulated,
        "cells": {name: counted.get(cell, 0) for name, cell in device.family.cells.items()},
        "critical_path": slowest.critical,
        "configuration": configuration_hash(elaborated.rtlil),
    }


def merged(report: dict, found: dict, names: list[str]) -> dict:
    """A report with what was found in place of what it had of those; ``names`` in their order."""
    designs = report.get("designs", {}) | found["designs"]
    kept = {name: designs[name] for name in names if name in designs}
    return report | found | {"designs": kept}


def as_json(report: dict) -> str:
    """The text that is committed."""
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def accept(report: dict):
    """Make a report the committed one, and write the tables that are made of it."""
    REPORT.write_text(as_json(report))
    README.write_text(with_tables(README.read_text(), report))
    DOCUMENT.write_text(document(report))
    for figure in figures(report):
        if figure.title == ERROR_TITLE:
            ERROR.write_text(standalone(figure.svg))
