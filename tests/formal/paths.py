# SPDX-License-Identifier: Apache-2.0
"""Whether one port depends on another within a clock, by walking the netlist."""

from amaranth.hdl import Fragment, Signal, Value
from amaranth.hdl._ir import PortDirection, build_netlist
from amaranth.lib import wiring

__all__ = ["combinational_inputs"]


def combinational_inputs(component: wiring.Component) -> dict[str, set[str]]:
    """For each output, the inputs that it depends on within a clock; ports by their path."""
    ports = {}
    for path, member, value in component.signature.flatten(component):
        direction = PortDirection.Output if member.flow is wiring.Out else PortDirection.Input
        if isinstance(Value.cast(value), Signal):  # a stream that is always ready says so by a 1
            ports["__".join(map(str, path))] = (Value.cast(value), direction)
    netlist = build_netlist(
        Fragment.get(component, None), ports=[(n, v, d) for n, (v, d) in ports.items()]
    )
    top = netlist.top
    owner = {
        bit: name
        for name, (start, width) in top.ports_i.items()
        if name in ports
        for bit in range(start, start + width)
    }
    return {
        name: set().union(*(_inputs(netlist, net, owner) for net in value))
        for name, value in top.ports_o.items()
    }


def _inputs(netlist, net, owner: dict[int, str]) -> set[str]:
    """The inputs that a net depends on within a clock."""
    found, seen, todo = set(), set(), [net]
    while todo:
        net = todo.pop()
        if net in seen or net.is_const:
            continue
        seen.add(net)
        if net.cell == 0:
            found |= {owner[net.bit]} if net.bit in owner else set()
        else:
            todo += [source for source, _ in netlist.cells[net.cell].comb_edges_to(net.bit)]
    return found
