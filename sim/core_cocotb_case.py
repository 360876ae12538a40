# SPDX-License-Identifier: Apache-2.0
"""Cases of the regression, played to the exported Verilog by cocotbext-axi."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from .cocotb_run import simulator
from .core_cocotb_run import CoreSimulation
from .core_traffic import CoreTraffic
from .regression import CORES, Case, traffic_of

__all__ = ["run_case"]


@lru_cache(maxsize=2)
def _simulation(core: str, folder: Path, name: str) -> CoreSimulation:
    p = CORES[core]()
    return CoreSimulation(p, folder / f"{core}-{name}", CoreTraffic(p, 0).table, name=name)


def run_case(case: Case, folder: Path, name: str | None = None) -> dict[str, int]:
    """Run a case in the simulator ``name``, "verilator" or "icarus", or the one there is.

    A core is built once in ``folder`` for all of its cases that follow each other. Counted are
    elements that were compared, loads, resets, clocks and accesses to registers. Raises
    CocotbFailedError where anything is not as golden says, or SimulatorMissingError.
    """
    simulation = _simulation(case.core, folder, name or simulator())
    traffic = traffic_of(simulation.parameters, case)
    first = traffic.get("script") or traffic["scores"]
    beats = np.random.default_rng(case.seed).integers(len(first.beats) // 2, size=case.resets)
    return simulation.run(**traffic, breaks=tuple(beats.tolist()))
