# SPDX-License-Identifier: Apache-2.0
"""The last carry of an ECP5's chain, which Yosys names and mostly nothing takes."""

__all__ = ["open_carries"]


def open_carries(netlist: dict) -> dict:
    """The netlist, Yosys' JSON, without the carries that nothing takes.

    nextpnr gives each that has a name a slice to come out of its chain by, taken or not; so a chain
    of a few bits would be half as long again.
    """
    top = netlist["modules"]["top"]
    taken = {bit for port in top["ports"].values() for bit in port["bits"]}
    for cell in top["cells"].values():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "input":
                taken.update(bits)

    def opened(cell: dict) -> dict:
        if cell["type"] != "CCU2C" or taken.intersection(cell["connections"]["COUT"]):
            return cell
        return cell | {"connections": cell["connections"] | {"COUT": ["x"]}}

    cells = {name: opened(cell) for name, cell in top["cells"].items()}
    return netlist | {"modules": netlist["modules"] | {"top": top | {"cells": cells}}}
