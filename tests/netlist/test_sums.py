# SPDX-License-Identifier: Apache-2.0
"""Sums of products in two SB_MAC16 are those that they must be, as Yosys's model has it."""

from pathlib import Path

import numpy as np
import pytest
from amaranth.hdl import Module, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.hdl.multipliers import ProductSum
from ropeway.hdl.streams import delayed
from ropeway.sim.native import NativeModel
from tests.hdl.test_multipliers import SUMS, summed
from tests.netlist.builds import items_of, netlist_of

KINDS = ("a lane's", "a phase's")


class Sums(wiring.Component):
    """One of each kind, each with operands of its own; results never wait."""

    i: stream.Interface
    o: stream.Interface

    def __init__(self):
        self.units = {}
        for kind in KINDS:
            *shapes, width, addend_bits = SUMS[kind]
            self.units[kind] = ProductSum(*shapes, width, addend_bits=addend_bits)
        inputs = {
            f"{number}_{name}": member.shape
            for number, unit in enumerate(self.units.values())
            for name, member in unit.signature.members.items()
            if member.flow is In
        }
        outputs = {f"{n}_p": unit.p.shape() for n, unit in enumerate(self.units.values())}
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(inputs))),
                "o": Out(stream.Signature(data.StructLayout(outputs))),
            }
        )

    def elaborate(self, _platform):
        m = Module()
        m.d.comb += self.i.ready.eq(1)
        m.d.comb += self.o.valid.eq(
            delayed(m, self.i.valid, ProductSum.latency, reset_less=False, name="valid")
        )
        for number, unit in enumerate(self.units.values()):
            m.submodules[f"unit_{number}"] = unit
            for name, member in unit.signature.members.items():
                if member.flow is In:
                    given = Value.cast(self.i.payload[f"{number}_{name}"])
                    m.d.comb += Value.cast(getattr(unit, name)).eq(given)
            m.d.comb += self.o.payload[f"{number}_p"].eq(unit.p)
        return m


@pytest.mark.slow
def test_both_kinds_of_sum_are_exact_in_the_device_s_blocks(request):
    component, count = Sums(), 2000
    folder: Path = request.config.rootpath / "build" / "test-netlist-sums"
    verilog, cells = netlist_of(component, "ice40", folder)
    assert cells["SB_MAC16"] == 4
    given, wanted = {}, []
    for number, kind in enumerate(KINDS):
        inputs, sums = summed(kind, count)
        given |= {f"{number}_{name}": values for name, values in inputs.items()}
        wanted.append(sums)
    model = NativeModel(component, verilog=verilog)
    layout, results = component.i.payload.shape(), component.o.payload.shape()
    items = [
        layout.const(dict(zip(given, values, strict=True))).as_value().value
        for values in zip(*given.values(), strict=True)
    ]
    run = model.run({"i": items_of(items, layout.size)}, {"o": len(items)})
    packed = [
        int.from_bytes(np.ascontiguousarray(row).tobytes(), "little") for row in run.items["o"]
    ]
    for number, sums in enumerate(wanted):
        field = results[f"{number}_p"]
        found = [word >> field.offset & (1 << field.width) - 1 for word in packed]
        assert found == sums
