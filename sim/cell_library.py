# SPDX-License-Identifier: Apache-2.0
"""What Yosys has of the families whose own blocks we instantiate."""

from dataclasses import dataclass

__all__ = ["LIBRARIES", "CellLibrary"]


@dataclass(frozen=True)
class CellLibrary:
    """A family's cells, in files of Yosys's folder ``name``; a platform for hdl/primitives.py.

    ``device`` is any part of it. ``declarations`` are of the blocks that we instantiate, ``models``
    simulate what a netlist is made of, with ``definition`` made before them.
    """

    name: str
    device: str
    declarations: tuple[str, ...]
    models: tuple[str, ...]
    definition: str

    def declaring(self) -> str:
        """The commands with which Yosys knows the blocks."""
        files = (f"+/{self.name}/{file}" for file in self.declarations)
        return "".join(f"read_verilog -lib {file}\n" for file in files)


LIBRARIES = {
    library.name: library
    for library in (
        CellLibrary(
            "ecp5",
            "LFE5U-25F",
            ("cells_sim.v", "cells_bb.v"),
            ("common_sim.vh", "ccu2c_sim.vh"),
            "NO_INCLUDES",  # of names that no netlist has
        ),
        CellLibrary(
            "ice40",
            "iCE40UP5K",
            ("cells_sim.v",),
            ("cells_sim.v",),
            "NO_ICE40_DEFAULT_ASSIGNMENTS",  # to open inputs, in SystemVerilog: netlists have none
        ),
        CellLibrary(
            "gowin",
            "GW1NR-9C",
            ("cells_sim.v", "cells_xtra_gw1n.v"),
            ("cells_sim.v",),
            "NO_DEFINITIONS",  # there are none
        ),
    )
}
