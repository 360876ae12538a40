# SPDX-License-Identifier: Apache-2.0
"""Components synthesized for a family, as Verilog that compiles in place of their own."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from amaranth.lib import wiring

from ropeway.boards.devices import Device, family_of
from ropeway.boards.place import synthesize_bare
from ropeway.sim.cell_library import LIBRARIES
from ropeway.sim.native_build import TOP
from ropeway.sim.netlist import netlist_verilog


def netlist_of(component: wiring.Component, family: str, folder: Path) -> tuple[str, dict]:
    """The netlist and its cells' models as Verilog, and how many cells of each type it has."""
    library = LIBRARIES[family]
    device = Device(library.device, family_of(library.device), nextpnr=(), target=0)
    cells = synthesize_bare(component, device, folder)
    return netlist_verilog(folder / "design.json", library, TOP), cells


def items_of(values: Iterable[int], bits: int) -> np.ndarray:
    """Integers as a native model's items, uint32 [items, words]."""
    size = 4 * ((bits + 31) // 32)
    raw = b"".join(value.to_bytes(size, "little") for value in values)
    return np.frombuffer(raw, dtype="<u4").reshape(-1, size // 4)
