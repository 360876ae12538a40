# SPDX-License-Identifier: Apache-2.0
"""Every device primitive twice: as our instance of a block, and as what synthesis infers."""

from collections.abc import Sequence

import numpy as np
from amaranth.hdl import Elaboratable, Fragment, Module, Value, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.hdl.multipliers import Multiplier
from ropeway.hdl.primitives import DualRom, Ram
from ropeway.hdl.streams import delayed

FORMS = ("placed", "inferred")
SHAPES = {
    "signed": (signed(18), signed(18)),
    "unsigned": (unsigned(18), unsigned(18)),
    "mixed": (signed(17), unsigned(18)),
}
RAMS = {"wide": (36, 512), "deep": (18, 1024)}
CONTENT = np.random.default_rng(3).integers(0, 1 << 18, 1024)
LATENCY = 2
INPUTS = data.StructLayout(
    {"a": 18, "b": 18, "rom_a": 10, "rom_b": 10, "enable": 1, "write": 10, "data": 36, "read": 10}
)
RESULTS = (
    {name: a.width + b.width for name, (a, b) in SHAPES.items()}
    | {"rom_a": 18, "rom_b": 18}
    | {name: width for name, (width, _) in RAMS.items()}
)
OUTPUTS = data.StructLayout(
    {f"{form}_{name}": width for form in FORMS for name, width in RESULTS.items()}
)


class Generic(Elaboratable):
    """A primitive in the form that synthesis has to infer."""

    def __init__(self, primitive: wiring.Component):
        self._primitive = primitive

    def elaborate(self, _platform):
        return Fragment.get(self._primitive, None)


class Blocks(wiring.Component):
    """All of them on the same inputs; results come ``LATENCY`` clocks later, and never wait.

    ``forms`` are those that there are; results of others are 0.
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, forms: Sequence[str] = FORMS):
        self.forms = forms
        super().__init__({"i": In(stream.Signature(INPUTS)), "o": Out(stream.Signature(OUTPUTS))})

    def elaborate(self, _platform):
        m = Module()
        m.d.comb += self.i.ready.eq(1)
        m.d.comb += self.o.valid.eq(delayed(m, self.i.valid, LATENCY, reset_less=False))
        for form in self.forms:
            self._multipliers(m, form)
            self._memories(m, form)
        return m

    def _add(self, m, form: str, name: str, primitive: wiring.Component):
        m.submodules[f"{form}_{name}"] = primitive if form == "placed" else Generic(primitive)
        return primitive

    def _multipliers(self, m, form: str):
        given, found = self.i.payload, self.o.payload
        for name, shapes in SHAPES.items():
            unit = self._add(m, form, name, Multiplier(*shapes))
            m.d.comb += [unit.a.eq(given.a), unit.b.eq(given.b), found[f"{form}_{name}"].eq(unit.p)]

    def _memories(self, m, form: str):
        given, found = self.i.payload, self.o.payload
        rom = self._add(m, form, "rom", DualRom(18, CONTENT.tolist()))
        for port in "ab":
            m.d.comb += getattr(rom, f"{port}_address").eq(given[f"rom_{port}"])
            m.d.comb += found[f"{form}_rom_{port}"].eq(getattr(rom, f"{port}_data"))
        for name, (width, depth) in RAMS.items():
            ram = self._add(m, form, name, Ram(width, depth))
            m.d.comb += [
                ram.write_enable.eq(given.enable & self.i.valid),
                ram.write_address.eq(given.write),
                ram.write_data.eq(given.data),
                ram.read_address.eq(given.read),
                Value.cast(found[f"{form}_{name}"]).eq(ram.read_data),
            ]
