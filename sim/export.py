# SPDX-License-Identifier: Apache-2.0
"""A component as the files that another flow takes: Verilog, a template, a FuseSoC core, models."""

import re
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from .cell_library import CellLibrary
from .native_streams import Port, ports_of
from .netlist import device_models
from .verilog import write_verilog
from .yosys import yosys_version

__all__ = ["export", "extras"]

LICENCE = "// SPDX-License-Identifier: Apache-2.0"
# What Verilator's -Wall says of generated Verilog, and why it is no fault.
WAIVED = {
    "DECLFILENAME": "one file holds every module",
    "PROCASSINIT": "registers have a value from power-on, and are assigned",
    "UNSIGNED": "what is done for every lane may be clear for the first",
    "UNUSEDSIGNAL": "not every bit of a word is of use where it comes by",
    "WIDTHEXPAND": "an operator's operands have their own widths, and are extended",
    "WIDTHTRUNC": "an operator's result is cut to what it is assigned to",
}
OF_BLOCKS = {"PINMISSING": "inputs of a block that are left open are 0, its outputs of no use"}
OF_MODELS = {"UNUSEDPARAM": "a block has parameters for modes that are not modelled"}


def export(
    component: wiring.Component,
    name: str,
    parameters: Mapping[str, Any],
    library: CellLibrary | None = None,
) -> str:
    """A component as the Verilog-2001 module ``name``, every module of it in one text.

    It begins with what made it and of which ``parameters``; the same parameters and tools give the
    same text on every machine. Clean under Verilator's -Wall, but for what it waives with a reason.
    Raises what ``write_verilog`` does.
    """
    with tempfile.TemporaryDirectory() as scratch:
        body = write_verilog(component, Path(scratch) / "made.v", name, library).read_text()
    modules = re.findall(r"^module (\S+?)\s*\(", body, re.MULTILINE)
    family = library.name if library else "generic"
    head = [
        LICENCE,
        f"// Module {name}, generated: change its parameters instead.",
        f"// ropeway {version('ropeway')}, Amaranth {version('amaranth')}, Yosys {yosys_version()}",
        "//",
        f"// family = {family}",
        *(f"// {key} = {_written(value)}" for key, value in parameters.items()),
        "//",
        *(f"// module {module}" for module in modules),
    ]
    return "\n".join((*head, _waiving(body, WAIVED | (OF_BLOCKS if library else {}))))


def extras(
    component: wiring.Component, name: str, stem: str, library: CellLibrary | None = None
) -> dict[str, str]:
    """What stands beside ``stem``.v, by the end of each file's name.

    A template that instantiates the module, a FuseSoC core file, and with a ``library`` models of
    those of its blocks that Yosys has none of.
    """
    files = {"_inst.vh": _template(name, ports_of(component))}
    models = device_models(library) if library else {}
    if models:
        text = "\n".join(text.removeprefix(LICENCE).lstrip() for text in models.values())
        files["_models.v"] = f"{LICENCE}\n{_waiving(text, WAIVED | OF_MODELS)}"
    files[".core"] = _fusesoc(name, stem, bool(models))
    return files


def _written(value: Any) -> str:
    """A parameter's value as ``ropeway verilog --set`` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _waiving(body: str, waived: Mapping[str, str]) -> str:
    """A file's text with warnings waived in it, and in no file that follows it."""
    lines = ["/* verilator lint_save */"]
    lines += [f"/* verilator lint_off {code} */  // {why}" for code, why in waived.items()]
    return "\n".join((*lines, "", body.rstrip(), "/* verilator lint_restore */", ""))


def _template(name: str, ports: tuple[Port, ...]) -> str:
    """Wires for every port, and an instance."""
    wires = [
        f"wire {f'[{port.bits - 1}:0] ' if port.bits > 1 else ''}{port.name};"
        f"  // {'into' if port.into else 'out of'} {name}"
        for port in ports
    ]
    pins = ",\n".join(f"    .{port.name}({port.name})" for port in ports)
    return "\n".join((LICENCE, *wires, "", f"{name} {name}_0 (", pins, ");", ""))


def _fusesoc(name: str, stem: str, modelled: bool) -> str:
    """A core file of FuseSoC, CAPI 2."""
    filesets = [("rtl", f"{stem}.v")] + ([("models", f"{stem}_models.v")] if modelled else [])
    lines = ["CAPI=2:", f"name: ::{name}:{version('ropeway')}"]
    lines += ["description: A streaming positional-encoding engine", "filesets:"]
    for fileset, file in filesets:
        lines += [f"  {fileset}:", f"    files: [{file}]", "    file_type: verilogSource"]
    lines += ["targets:", "  default:", "    filesets: [rtl]", f"    toplevel: {name}"]
    if modelled:
        lines += ["  sim:", "    filesets: [rtl, models]", f"    toplevel: {name}"]
    return "\n".join((*lines, ""))
