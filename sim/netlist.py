# SPDX-License-Identifier: Apache-2.0
"""What synthesis made of a design, as Verilog that simulates: its cells and their models.

Yosys has models of the iCE40's cells, and of the ECP5's and Gowin's but for the ECP5's multiplier
and all block RAM, whose models stand in sim/cell-models/.
"""

import re
from importlib.resources import files
from pathlib import Path

from .cell_library import CellLibrary
from .yosys import run_yosys, yosys_share

__all__ = ["cell_models", "device_models", "netlist_verilog"]


def device_models(library: CellLibrary) -> dict[str, str]:
    """Our models of a family's blocks that Yosys has none of, by module.

    They are to stand in this order: one may use what one before it defines.
    """
    folder = files("ropeway.sim") / "cell-models" / library.name
    if not folder.is_dir():
        return {}
    found = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".v"))
    return {name.removesuffix(".v"): (folder / name).read_text() for name in found}


def cell_models(library: CellLibrary) -> str:
    """Verilog of every cell that a netlist of a family has."""
    share = yosys_share() / library.name
    texts, own = [(share / name).read_text() for name in library.models], device_models(library)
    # Of a block of ours Yosys may have an empty module.
    emptied = re.compile(rf"\bmodule ({'|'.join(own)}) .*?\bendmodule\b", re.DOTALL)
    texts = [emptied.sub("", text) if own else text for text in texts]
    return "\n".join((f"`define {library.definition}", *texts, *own.values()))


def netlist_verilog(design: Path, library: CellLibrary, name: str) -> str:
    """What synthesis gave (Yosys's JSON) and its cells' models as one text.

    The top module is called ``name`` and has the ports of what was synthesized. Raises RuntimeError
    where Yosys fails.
    """
    netlist = design.with_suffix(".v")
    netlist.unlink(missing_ok=True)
    script = (
        ("read_json", design.name),
        ("rename -top", name),
        ("write_verilog -noattr", netlist.name),
    )
    run_yosys("".join(f"{verb} {what}\n" for verb, what in script), design.parent, "netlist.log")
    return f"{cell_models(library)}\n{netlist.read_text()}"
