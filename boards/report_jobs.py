# SPDX-License-Identifier: Apache-2.0
"""What is done for a report, in pieces that any process or machine can do alone."""

import json
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .designs import Design, latency
from .devices import DEVICES
from .harness import SerialPorts
from .place import Placement, netlist, place, synthesize_rtlil

__all__ = ["Elaborated", "Seed", "Synthesized", "elaborate", "place_seed", "synthesize_design"]


@dataclass(frozen=True)
class Elaborated:
    """A design as RTLIL: between registers, and as it is placed where that is another.

    ``latency`` is the design's own, in clocks; None where it reads external memory.
    """

    name: str
    device: str
    rtlil: str
    placed: str
    latency: int | None


@dataclass(frozen=True)
class Synthesized:
    """The cells of each type, and the netlist that is placed, compressed."""

    name: str
    cells: dict[str, int]
    netlist: bytes


@dataclass(frozen=True)
class Seed:
    """One run of nextpnr: on which part, for which clock in MHz, from which seed, pinned or not."""

    name: str
    device: str
    target: float
    seed: int
    netlist: bytes
    floorplanned: bool = False


def elaborate(item: tuple[str, Design]) -> Elaborated:
    """A named design's RTLIL."""
    name, design = item
    device = DEVICES[design.device]
    component = design.build()
    text = netlist(component, device)
    pins = netlist(component, device, SerialPorts) if device.family.few_pins else ""
    return Elaborated(name, design.device, text, pins, latency(component))


def synthesize_design(design: Elaborated) -> Synthesized:
    """Run Yosys. Raises RuntimeError as ``place.synthesize`` does."""
    family = DEVICES[design.device].family
    with _scratch() as folder:
        cells = synthesize_rtlil(design.rtlil, family, folder, "design")
        made = folder / "design.json"
        if design.placed:
            synthesize_rtlil(design.placed, family, folder, "placed")
            made = folder / "placed.json"
        return Synthesized(design.name, cells, zlib.compress(made.read_bytes()))


def place_seed(seed: Seed) -> tuple[str, Placement]:
    """Run nextpnr; the design's name and the placement. Raises RuntimeError as ``place`` does."""
    device = DEVICES[seed.device]
    name = "placed.json" if device.family.few_pins else "design.json"
    with _scratch() as folder:
        (folder / name).write_bytes(zlib.decompress(seed.netlist))
        (found,) = place(
            device,
            folder,
            [seed.seed],
            target=seed.target,
            jobs=1,
            floorplanned=seed.floorplanned,
        )
    return seed.name, found


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder for tools. Not in /tmp: YoWASP's tools have one of their own."""
    (build := Path.cwd() / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=build, prefix="report-") as folder:
        yield Path(folder)


def as_bytes(found: Synthesized) -> bytes:
    """A synthesis for the cache."""
    head = json.dumps({"name": found.name, "cells": found.cells}).encode()
    return head + b"\n" + found.netlist


def from_bytes(kept: bytes) -> Synthesized:
    """The reverse."""
    head, _, compressed = kept.partition(b"\n")
    told = json.loads(head)
    return Synthesized(told["name"], told["cells"], compressed)
