# SPDX-License-Identifier: Apache-2.0
"""A component with its inside in reach, for invariants over registers and for cut points."""

import sys

from amaranth.hdl import Array, Elaboratable, Module, Signal, Value

__all__ = ["Opened"]


class Opened(Elaboratable):
    """Stands for a component: has its ports, and knows the variables of its ``elaborate``.

    ``opened["filled"]`` is the variable of that name, a register or a wire, as it was at the end of
    ``elaborate`` or else of a method that this called. Raises LookupError where there is none.
    """

    def __init__(self, component: Elaboratable):
        self._component, self._variables = component, {}
        sys.setprofile(self._returned)
        try:
            self._module = component.elaborate(None)
        finally:
            sys.setprofile(None)
        component._MustUse__used = True

    def _returned(self, frame, event, _result):
        """Keep a method's variables; ``elaborate`` is the last to return."""
        if event == "return" and frame.f_locals.get("self") is self._component:
            self._variables |= frame.f_locals

    def elaborate(self, _platform):
        return self._module

    def __getattr__(self, name: str):
        return getattr(self._component, name)

    def __getitem__(self, name: str):
        if name not in self._variables:
            raise LookupError(f"elaborate has no variable {name!r}")
        return self._variables[name]

    def driven(self, name: str) -> Signal:
        """The one signal of that name that the component drives, where its variable is gone."""
        (signal,) = (signal for signal in self._module._driving if signal.name == name)
        return signal

    def driven_array(self, name: str, number: Value) -> Value:
        """Of the signals ``name``_0, ``name``_1 … the one of a number."""
        names = {signal.name: signal for signal in self._module._driving}
        count = sum(key.rpartition("_")[0] == name for key in names)
        return Array(names[f"{name}_{i}"] for i in range(count))[number]

    def inside(self, name: str) -> Elaboratable:
        """The submodule of that name."""
        return self._module._named_submodules[name][0]

    def open(self, name: str) -> "Opened":
        """That submodule, with its inside in reach too."""
        opened = Opened(self.inside(name))
        self._module._named_submodules[name] = (opened, None)
        return opened

    def cut(self, name: str) -> Elaboratable:
        """Take that submodule out; the harness drives what it gave. Returns it for its ports."""
        component = self.inside(name)
        component._MustUse__used = True
        self._module._named_submodules[name] = (Module(), None)
        return component

    def memory(self, address: Value) -> Value:
        """What stands at an address of the component's one memory, combinational."""
        port = self["memory"].read_port(domain="comb")
        self._module.d.comb += port.addr.eq(address)
        return Value.cast(port.data)
