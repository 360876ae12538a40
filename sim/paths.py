# SPDX-License-Identifier: Apache-2.0
"""Which outputs of a component depend on which inputs within a clock, found in its netlist."""

import json
import tempfile
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from amaranth.back import rtlil
from amaranth.lib import wiring

from .yosys import run_yosys

__all__ = ["combinational_paths"]

TOP = "top"
# Memories become registers and multiplexers, so that a port that reads within a clock is a path.
SCRIPT = f"""\
read_rtlil {TOP}.il
hierarchy -check -top {TOP}
proc
flatten
opt_clean
memory_collect
write_json {TOP}.json
"""
REGISTERS = ("$dff", "$adff", "$sdff", "$aldff", "$ff")  # with their enables, by their beginnings
IGNORED = ("$scopeinfo", "$print", "$check")


def combinational_paths(component: wiring.Component) -> set[tuple[str, str]]:
    """Pairs of an input port and an output port that a path without a register joins.

    Raises RuntimeError where there is no Yosys, and for a cell of which it is not known whether it
    is a register.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / f"{TOP}.il").write_text(rtlil.convert(component, name=TOP, emit_src=False))
        run_yosys(SCRIPT, folder)
        module = json.loads((folder / f"{TOP}.json").read_text())["modules"][TOP]
    follows = defaultdict(set)
    for cell in module["cells"].values():
        for before, after in _arcs(cell):
            follows[before].add(after)
    outputs = {
        bit: name
        for name, port in module["ports"].items()
        if port["direction"] == "output"
        for bit in port["bits"]
    }
    found = set()
    for name, port in module["ports"].items():
        if port["direction"] == "input":
            reached = _reached(port["bits"], follows)
            found |= {(name, outputs[bit]) for bit in reached if bit in outputs}
    return found


def _arcs(cell: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Wires that a cell makes others of within a clock."""
    kind, wires = cell["type"], cell["connections"]
    if kind.startswith(REGISTERS) or kind in IGNORED:
        return
    if kind.startswith("$mem"):
        yield from _read_arcs(cell)
        return
    if not kind.startswith("$") or "latch" in kind:
        raise RuntimeError(f"{kind} may be a register")
    into, out = (
        [
            bit
            for name, bits in wires.items()
            if cell["port_directions"][name] == way
            for bit in bits
        ]
        for way in ("input", "output")
    )
    yield from ((before, after) for before in into for after in out)


def _read_arcs(cell: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """From the address to the data of each port of a memory that has no clock."""
    parameters, wires = cell["parameters"], cell["connections"]
    ports, clocked = int(parameters["RD_PORTS"], 2), int(parameters["RD_CLK_ENABLE"], 2)
    bits, width = int(parameters["ABITS"], 2), int(parameters["WIDTH"], 2)
    for port in range(ports):
        if not clocked >> port & 1:
            for before in wires["RD_ADDR"][bits * port : bits * (port + 1)]:
                for after in wires["RD_DATA"][width * port : width * (port + 1)]:
                    yield before, after


def _reached(bits: Iterable[int], follows: Mapping[int, set[int]]) -> set[int]:
    """All wires that follow from ``bits``, themselves included."""
    seen, waiting = set(bits), deque(bits)
    while waiting:
        for after in follows.get(waiting.popleft(), ()):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen
