# SPDX-License-Identifier: Apache-2.0
"""What stands around a component while it is measured: registers at every port."""

from collections.abc import Sequence

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

__all__ = ["RegisteredPorts", "SerialPorts", "SideBySide"]


def _ports(component: wiring.Component) -> list[tuple[bool, str, Value]]:
    """Whether each port that has bits is an input, its name, and its value."""
    found = []
    for path, member, value in component.signature.flatten(component):
        if value.shape() is not None and len(Value.cast(value)):
            incoming = member.flow is wiring.In
            if incoming and isinstance(value, Const):  # the ready of who is always ready
                continue
            found.append((incoming, "__".join(map(str, path)), Value.cast(value)))
    return found


class SideBySide(wiring.Component):
    """Components that share nothing but the clock; ports ``NAME_0``, ``NAME_1`` and so on."""

    def __init__(self, parts: Sequence[wiring.Component], name: str):
        self.parts = {f"{name}_{number}": part for number, part in enumerate(parts)}
        super().__init__({label: Out(part.signature) for label, part in self.parts.items()})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        for label, part in self.parts.items():
            m.submodules[label] = part
            wiring.connect(m, wiring.flipped(getattr(self, label)), part)
        return m


class RegisteredPorts(Elaboratable):
    """A component between registers, so that every path through its ports is timed in full."""

    def __init__(self, component: wiring.Component):
        self._component = component
        self.ports: list[Signal] = []
        self._pairs = []
        for incoming, name, inner in _ports(component):
            outer = Signal(inner.shape(), name=name)
            self.ports.append(outer)
            self._pairs.append((incoming, outer, inner))

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.component = self._component
        for incoming, outer, inner in self._pairs:
            register = Signal(inner.shape(), name=f"{outer.name}_register", reset_less=True)
            if incoming:
                m.d.sync += register.eq(outer)
                m.d.comb += inner.eq(register)
            else:
                m.d.sync += register.eq(inner)
                m.d.comb += outer.eq(register)
        return m


class SerialPorts(Elaboratable):
    """A component behind two pins, for tools that need every port on a pin of the package.

    Its inputs are a shift register's places, fed from ``serial_in``; its outputs are mixed into
    another, which ends at ``serial_out``, so that nothing is left out. Every path is from register
    to register; one from an output passes a LUT more than it needs.
    """

    def __init__(self, component: wiring.Component):
        self._component = component
        self._serial_in, self._serial_out = Signal(name="serial_in"), Signal(name="serial_out")
        self.ports = [self._serial_in, self._serial_out]

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.component = self._component
        given, mixed = self._serial_in, Signal()
        for incoming, name, value in _ports(self._component):
            register = Signal(len(value), name=f"{name}_register", reset_less=True)
            end = Signal(name=f"{name}_end")
            m.d.comb += end.eq(register[-1])
            if incoming:
                m.d.sync += register.eq(Cat(given, register))
                m.d.comb += value.eq(register)
                given = end
            else:
                m.d.sync += register.eq(value ^ Cat(mixed, register[:-1]))
                mixed = end
        m.d.comb += self._serial_out.eq(mixed)
        return m
