# SPDX-License-Identifier: Apache-2.0
"""``python -m ropeway.boards.choices``: the alternatives of the design, measured side by side."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
from amaranth.hdl import unsigned
from amaranth.lib import wiring

from ropeway.golden.generators import GENERATORS
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.sincos import ENTRY_BITS, PHASE_BITS, quadrant_sincos
from ropeway.hdl.added_phase import AddedPhase
from ropeway.hdl.distributed_ram import DistributedRam
from ropeway.hdl.layouts import coefficient_layout, result_layout
from ropeway.hdl.phase_generator import PhaseGenerator
from ropeway.hdl.primitives import Ram
from ropeway.hdl.queue import Queue
from ropeway.hdl.rotator import Lane
from ropeway.hdl.row_generator import RowGenerator

from .choices_document import CHOICES, COUNTED, DOCUMENT, document
from .devices import DEVICES
from .place import netlist, synthesize_rtlil
from .report import configuration_hash

__all__ = ["components", "main", "measure", "rom_errors"]

DEVICE = DEVICES["lfe5u-25f-6"]
FORMS: dict[str, dict[str, Any]] = {name: {"generator": name} for name in GENERATORS}
"""The generators of rows, by the parameters that choose them."""

PHASES = 1 << 18  # angles at which an error is looked for


def components() -> dict[str, dict[str, Callable[[], wiring.Component]]]:
    """What is synthesized for each question: the alternatives by name."""
    p = RopeParameters()
    result: Any = unsigned(result_layout(p).size)
    return {
        "multipliers": {
            f"{count} multipliers": lambda count=count: Lane(RopeParameters(multipliers=count))
            for count in (3, 4)
        },
        "row memory": {
            "block RAM": lambda: Ram(*_row_memory(p)),
            "distributed RAM": lambda: DistributedRam(*_row_memory(p)),
        },
        "output queue": {
            f"{depth} beats": lambda depth=depth: Queue(result, depth, full_rate=True)
            for depth in (8, 16, 32, 64)
        },
        "generator": {
            name: lambda options=options: RowGenerator(RopeParameters(**options))
            for name, options in FORMS.items()
        },
        "phase": {
            "position × increment": lambda: PhaseGenerator(p.generator, p.position_bits, 1),
            "phase + increment": lambda: AddedPhase(p.max_pairs * p.slots),
        },
    }


def _row_memory(p: RopeParameters) -> tuple[int, int]:
    """The width and the depth of one lane's."""
    return coefficient_layout(p).size, p.rows * p.max_head_beats


def rom_errors() -> list[dict[str, Any]]:
    """The largest error of a sine by ROM size and terms of its series, in 2^-17.

    Over ``PHASES`` angles of the first quadrant; entries truncated to 20 bits with half a unit put
    back, in float64 otherwise. The last row is what the hardware computes, all its roundings in.
    """
    angle = (np.arange(PHASES) + 0.5) / PHASES * pi / 2
    found = []
    for bits in (8, 9, 10, 11, 12):
        steps = 1 << bits
        place = np.minimum((angle / (pi / 2) * steps).astype(int), steps - 1)
        middle = (np.arange(steps) + 0.5) * pi / 2 / steps
        sine, cosine = (
            (np.floor(wave(middle) * 2**ENTRY_BITS) + 0.5) / 2**ENTRY_BITS
            for wave in (np.sin, np.cos)
        )
        delta = angle - middle[place]
        terms = [sine[place], delta * cosine[place], -(delta**2) / 2 * sine[place]]
        for count in (1, 2, 3):
            error = np.abs(sum(terms[:count]) - np.sin(angle)).max()
            found.append({"entries": steps, "terms": count, "error": _digits(error * 2**17)})
    phases = np.arange(0, 1 << PHASE_BITS - 2, 1 << PHASE_BITS - 20)
    _, _, sine = quadrant_sincos(phases)
    error = np.abs(sine / 2**23 - np.sin(phases / 2**PHASE_BITS * 2 * pi)).max()
    return [*found, {"entries": 1024, "terms": 2, "error": _digits(error * 2**17), "built": True}]


def _digits(value: float) -> float:
    return float(f"{value:.3g}")


def measure(told: Callable[[str], object] = print) -> dict[str, Any]:
    """Synthesize every alternative; the cells of each, and the errors of the ROMs."""
    found: dict[str, Any] = {"device": DEVICE.title, "rom": rom_errors()}
    (build := Path.cwd() / "build").mkdir(exist_ok=True)
    for question, alternatives in components().items():
        found[question] = {}
        for name, make in alternatives.items():
            component = make()
            text = netlist(component, DEVICE)
            with tempfile.TemporaryDirectory(dir=build, prefix="choices-") as folder:
                cells = synthesize_rtlil(text, DEVICE.family, Path(folder), "design")
            row: dict[str, Any] = {cell: cells.get(cell, 0) for cell in COUNTED}
            for clocks in ("latency", "interval"):
                if isinstance(getattr(component, clocks, None), int):
                    row[clocks] = getattr(component, clocks)
            row["configuration"] = configuration_hash(text)
            found[question][name] = row
            told(f"{question}, {name}: {row}")
    return found


def main(argv: list[str] | None = None) -> int:
    """Measure everything, and write the JSON and the document."""
    argparse.ArgumentParser(prog="ropeway.boards.choices", description=__doc__).parse_args(argv)
    found = measure()
    CHOICES.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    DOCUMENT.write_text(document(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
