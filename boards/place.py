# SPDX-License-Identifier: Apache-2.0
"""Synthesis, placing and routing of a component alone: its cells and clock rate."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import median

from amaranth.back import rtlil
from amaranth.lib import wiring

from ropeway.golden.errors import InputError
from ropeway.sim.yosys import run_yosys

from .carries import open_carries
from .devices import Device, Family
from .floorplan import OPTIONS, floorplan
from .harness import RegisteredPorts, SerialPorts

__all__ = [
    "Placement",
    "median_fmax",
    "netlist",
    "place",
    "placement_of",
    "run_tool",
    "synthesize",
    "synthesize_bare",
    "synthesize_rtlil",
]

CHAIN = 3  # short steps one after the other that are told as one


@dataclass(frozen=True)
class Placement:
    """The result of one seed: Fmax in MHz, cells used, and the critical path's ends."""

    seed: int
    fmax: float
    cells: dict[str, int]
    critical: list[str]


def run_tool(name: str, arguments: list[str], directory: Path):
    """Run a tool in a directory; raises RuntimeError with the end of its output where it fails.

    Raises InputError, with what to install, where there is no such tool.
    """
    command = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if command is None:
        extra = "gowin" if "gowin" in name else "fpga"
        raise InputError("tool", name, f"is not installed: pip install 'ropeway[{extra}]'")
    done = subprocess.run(
        [command, *arguments], cwd=directory, capture_output=True, text=True, check=False
    )
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-8:])
        raise RuntimeError(f"{name} failed with status {done.returncode}:\n{tail}")


def netlist(component: wiring.Component, device: Device, harness: type = RegisteredPorts) -> str:
    """RTLIL of a component in its harness, the same text on every machine."""
    top = harness(component)
    return rtlil.convert(top, platform=device, ports=top.ports, name="top", emit_src=False)


def synthesize(component: wiring.Component, device: Device, directory: Path) -> dict[str, int]:
    """Write ``design.json``, the component between registers; returns the cells of each type.

    Where the device's nextpnr needs pins, what it places is beside it in ``placed.json``.

    Raises RuntimeError when a tool fails, when the log tells of conflicting drivers, with which
    Yosys has produced wrong hardware and exit status 0, or when a block of the device is lost.
    """
    directory.mkdir(parents=True, exist_ok=True)
    cells = synthesize_rtlil(netlist(component, device), device.family, directory, "design")
    if device.family.few_pins:
        text = netlist(component, device, SerialPorts)
        synthesize_rtlil(text, device.family, directory, "placed")
    return cells


def synthesize_bare(component: wiring.Component, device: Device, directory: Path) -> dict[str, int]:
    """As ``synthesize``, but its ports are the design's own, so that it can be simulated."""
    directory.mkdir(parents=True, exist_ok=True)
    text = rtlil.convert(component, platform=device, name="top", emit_src=False)
    return synthesize_rtlil(text, device.family, directory, "design")


def synthesize_rtlil(text: str, family: Family, directory: Path, name: str) -> dict[str, int]:
    """Write ``NAME.json``, what Yosys makes of RTLIL whose top is ``top``; the cells of each type.

    Raises RuntimeError as ``synthesize`` does.
    """
    for made in (f"{name}.json", "stat.json", "synthesis.log"):
        (directory / made).unlink(missing_ok=True)
    (directory / f"{name}.il").write_text(text)
    script = f"read_rtlil {name}.il\n{family.synthesis} -top top -json {name}.json\n"
    run_yosys(script, directory, "synthesis.log")
    if "Driver-driver conflict" in (directory / "synthesis.log").read_text():
        raise RuntimeError("synthesis met a driver-driver conflict; its result cannot be trusted")
    run_yosys(f"read_json {name}.json\ntee -q -o stat.json stat -json\n", directory, "stat.log")
    statistics = json.loads((directory / "stat.json").read_text())
    cells = statistics["design"]["num_cells_by_type"]
    for block in family.blocks:
        asked, got = text.count(f"cell \\{block} "), cells.get(block, 0)
        if got < asked:
            raise RuntimeError(f"synthesis left {got} {block} of {asked}")
    return cells


def place(
    device: Device,
    directory: Path,
    seeds: list[int],
    *,
    target: float,
    jobs: int = 2,
    floorplanned: bool = False,
) -> list[Placement]:
    """Place and route what was synthesized with each seed, ``jobs`` at a time; the Placements.

    ``target`` is the clock in MHz to aim for; ``floorplanned`` pins blocks by ``floorplan`` first.
    Source of the cell counts: nextpnr's utilisation, which has the harness's registers in it.
    """
    design, options = "placed.json" if device.family.few_pins else "design.json", ()
    prepared = json.loads((directory / design).read_text())
    if device.family.open_carries:
        prepared = open_carries(prepared)
    if floorplanned:
        prepared, options = floorplan(prepared, device.device), OPTIONS
    (directory / "prepared.json").write_text(json.dumps(prepared))

    def run(seed: int) -> Placement:
        report = f"report-{seed}.json"
        (directory / report).unlink(missing_ok=True)
        run_tool(
            device.family.nextpnr,
            [
                *(*device.nextpnr, *device.family.options, *options),
                *("--json", "prepared.json", "--freq", str(target), "--seed", str(seed)),
                *("--timing-allow-fail", "--report", report),
                *("-q", "-l", f"nextpnr-{seed}.log"),
            ],
            directory,
        )
        return placement_of(
            seed, json.loads((directory / report).read_text()), target, device.family.short
        )

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(run, seeds))


def placement_of(seed: int, report: dict, target: float, short: float) -> Placement:
    """Read a report of nextpnr's, checking that its clock had the target's constraint."""
    (clock,) = report["fmax"].values()
    if abs(clock["constraint"] - target) > 0.01 * target:
        raise RuntimeError(f"the clock was constrained to {clock['constraint']} MHz, not {target}")
    cells = {name: use["used"] for name, use in report["utilization"].items() if use["used"]}
    clocked = [
        path["path"]
        for path in report["critical_paths"]
        if path["from"].startswith("posedge") and path["to"].startswith("posedge")
    ]
    longest = max(clocked, key=lambda path: sum(step["delay"] for step in path))
    return Placement(seed, clock["achieved"], cells, steps(longest, short))


def steps(path: list[dict], short: float) -> list[str]:
    """A path in words; runs of steps shorter than ``short`` ns, carry chains, take one line."""
    lines = []
    for is_short, group in groupby(path, key=lambda step: step["delay"] < short):
        run = list(group)
        if is_short and len(run) >= CHAIN:
            lines.append(f"{sum(step['delay'] for step in run):.2f} ns chain of {len(run)} steps")
            continue
        lines += [
            f"{step['delay']:.2f} ns {step['type']} {step['from']['cell']} → {step['to']['cell']}"
            for step in run
        ]
    return lines


def median_fmax(placements: list[Placement], device: Device) -> float:
    """The median over seeds, never above what the device's blocks allow."""
    return min(device.ceiling, median(placement.fmax for placement in placements))
