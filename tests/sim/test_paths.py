# SPDX-License-Identifier: Apache-2.0
"""No unit has a path within a clock from one port to another."""

import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_options import UNITS as SCHEMES
from ropeway.golden.core_options import core_parameters
from ropeway.hdl.core_top import CoreTop
from ropeway.hdl.skid import Skid
from ropeway.sim.paths import combinational_paths
from tests.sim.test_verilog import UNITS


class Planted(wiring.Component):
    """A register slice beside which each kind of path is planted, or none."""

    def __init__(self, kind: str):
        self._kind = kind
        ports = {"i": In(stream.Signature(8)), "o": Out(stream.Signature(8))}
        super().__init__(ports | {"address": In(3), "word": Out(8)})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.skid = skid = Skid(8)
        wiring.connect(m, wiring.flipped(self.i), skid.i)
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        m.submodules.memory = memory = Memory(shape=8, depth=8, init=range(8))
        port = memory.read_port(domain="comb" if self._kind == "memory" else "sync")
        m.d.comb += [port.addr.eq(self.address), self.word.eq(port.data)]
        if self._kind == "ready":
            m.d.comb += self.i.ready.eq(skid.i.ready | self.o.ready)
        if self._kind == "valid":
            m.d.comb += self.o.valid.eq(skid.o.valid & self.i.valid)
        return m


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("none", set()),
        ("ready", {("o__ready", "i__ready")}),
        ("valid", {("i__valid", "o__valid")}),
        ("memory", {("address", "word")}),
    ],
)
def test_a_path_that_is_planted_is_found(kind, found):
    assert combinational_paths(Planted(kind)) == found


@pytest.mark.parametrize("name", UNITS)
def test_no_unit_joins_two_ports_within_a_clock(name):
    found = combinational_paths(UNITS[name]())
    # A position's slot decides whether it is taken: one port, and no valid or ready of another.
    assert found == ({("i_position__payload", "i_position__ready")} if name == "rope" else set())


@pytest.mark.slow
def test_no_output_of_a_core_depends_on_an_input_within_a_clock():
    parameters, _ = core_parameters(SCHEMES, {}, {})
    assert combinational_paths(CoreTop(parameters)) == set()
