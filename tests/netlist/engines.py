# SPDX-License-Identifier: Apache-2.0
"""RoPE engines as netlists, held to golden by the tests of the engine itself."""

from pathlib import Path
from typing import Any

import numpy as np

from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.engine import RopeEngine
from ropeway.sim.bench import Load, Result
from ropeway.sim.native import NativeModel
from ropeway.sim.native_engine import NativeEngine, Pauses
from tests.geometries import POSITIONS, served
from tests.netlist.builds import netlist_of
from tests.sim.engines import Step, check, token_of


def engine_of(p: RopeParameters, family: str, folder: Path) -> tuple[NativeEngine, dict]:
    """A netlist's engine, and how many cells of each type it has."""
    engine = RopeEngine(p)
    verilog, cells = netlist_of(engine, family, folder)
    return NativeEngine(p, model=NativeModel(engine, verilog=verilog)), cells


def every_geometry(engine: Any, tokens: int, *, seed: int = 1) -> Result:
    """Tokens of as many geometries as there are slots, all flags, under random stalls."""
    p, random = engine.parameters, np.random.default_rng(seed)
    tables = [table for table in served(p) if table.head_dim <= p.max_head_dim][: p.slots]
    steps = [
        Step(
            tables[number % len(tables)],
            token_of(
                p,
                tables[number % len(tables)],
                random,
                position=POSITIONS[number % len(POSITIONS)],
                slot=number % len(tables),
                conjugate=number % 5 == 3,
                pure=number % 7 == 4,
                bypass=number % 13 == 8,
            ),
        )
        for number in range(tokens)
    ]
    loads = [Load(slot, table) for slot, table in enumerate(tables)]
    return check(engine, steps, loads, Pauses(0.2, 0.2, 0.2, 0.2, seed))
