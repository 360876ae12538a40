# SPDX-License-Identifier: Apache-2.0
"""Our models of blocks, our instances of them and Yosys's inference say the same."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from amaranth.hdl import Shape

from ropeway.sim.native import NativeModel
from ropeway.sim.native_packing import pack_items, unpack_items
from tests.netlist.blocks import CONTENT, FORMS, INPUTS, OUTPUTS, RAMS, SHAPES, Blocks
from tests.netlist.builds import netlist_of

CLOCKS = 2048
GOWIN_BLOCKS = {"SDPX9B": 1, "DPX9B": 2, "MULT18X18": 0}
OF_REGISTERS = {"REG_INPUTA_CLK", "REG_INPUTB_CLK", "REG_OUTPUT_CLK", "REGMODE_A", "REGMODE_B"}
# Of resets that never come, of ports that do not both read and write, and what is the default.
MOOT = {
    "RESETMODE",
    "ASYNC_RESET_RELEASE",
    "WRITEMODE_A",
    "WRITEMODE_B",
    "CLKAMUX",
    "CLKBMUX",
    "GSR",
}
WIRED = re.compile(
    r"AD[AB]([4-9]|1\d)|DI[AB]\d+|[ABC]\d+|SIGNED[AB]|SOURCE[AB]|WEB|CS[AB]\d|RST[AB]"
)


@pytest.fixture(scope="module")
def folder(request) -> Path:
    return request.config.rootpath / "build" / "test-netlist-models"


@pytest.fixture(scope="module")
def blocks() -> Blocks:
    return Blocks()


@pytest.fixture(scope="module")
def netlist(blocks, folder) -> str:
    return netlist_of(blocks, "ecp5", folder)[0]


def driven() -> dict[str, np.ndarray]:
    """Inputs by field, one a clock: every word of the ROM, and nothing read while it is written."""
    random = np.random.default_rng(5)
    corners = [0, 1, *((1 << n) + d for n in (16, 17) for d in (-1, 0)), (1 << 18) - 1]
    inputs = {
        name: np.where(
            random.random(CLOCKS) < 0.3,
            random.choice(corners, CLOCKS),
            random.integers(0, 1 << 18, CLOCKS),
        )
        for name in "ab"
    }
    inputs |= {f"rom_{port}": random.permutation(CLOCKS) % 1024 for port in "ab"}
    inputs |= {name: random.integers(0, 1024, CLOCKS) for name in ("write", "read")}
    inputs["data"] = random.integers(0, 1 << 36, CLOCKS)
    collides = inputs["read"] % 512 == inputs["write"] % 512
    inputs["enable"] = random.integers(0, 2, CLOCKS) & ~collides
    return inputs


def integers(values: np.ndarray, shape: Shape) -> np.ndarray:
    """Words as the numbers that a shape makes of their lowest bits."""
    values = values & (1 << shape.width) - 1
    return values - (values >> shape.width - 1 << shape.width) if shape.signed else values


def memory(inputs: dict[str, np.ndarray], width: int, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """What is read of a memory, and whether that had been written."""
    words, known = np.zeros(depth, np.int64), np.zeros(depth, bool)
    read, written = np.zeros(CLOCKS, np.int64), np.zeros(CLOCKS, bool)
    for clock in range(CLOCKS):
        at, to = (inputs[name][clock] % depth for name in ("read", "write"))
        read[clock], written[clock] = words[at], known[at]
        if inputs["enable"][clock]:
            words[to], known[to] = inputs["data"][clock] & (1 << width) - 1, True
    return read, written


def differences(blocks: Blocks, verilog: str, cache: Path) -> set[str]:
    """Results that are not as they must be in some clock."""
    inputs = driven()
    model = NativeModel(blocks, cache=cache, verilog=verilog)
    run = model.run({"i": pack_items(INPUTS, inputs)}, {"o": CLOCKS})
    found = unpack_items(OUTPUTS, run.items["o"])
    wanted = {f"rom_{port}": CONTENT[inputs[f"rom_{port}"]] for port in "ab"}
    for name, (a, b) in SHAPES.items():
        product = integers(inputs["a"], a) * integers(inputs["b"], b)
        wanted[name] = product & (1 << a.width + b.width) - 1
    compared = dict.fromkeys(wanted, np.ones(CLOCKS, bool))
    for name, (width, depth) in RAMS.items():
        wanted[name], compared[name] = memory(inputs, width, depth)
        assert np.count_nonzero(compared[name]) > CLOCKS // 8
    return {
        f"{form}_{name}"
        for form in blocks.forms
        for name, values in wanted.items()
        if np.any((found[f"{form}_{name}"] != values) & compared[name])
    }


@pytest.mark.slow
def test_every_form_of_every_primitive_gives_the_words_it_must(blocks, netlist, tmp_path):
    assert differences(blocks, netlist, tmp_path) == set()


@pytest.mark.slow
def test_gowin_s_form_of_every_primitive_gives_the_words_it_must(request, tmp_path):
    folder: Path = request.config.rootpath / "build" / "test-netlist-gowin"
    blocks = Blocks(FORMS[:1])
    verilog, cells = netlist_of(blocks, "gowin", folder)
    assert {name: cells.get(name, 0) for name in GOWIN_BLOCKS} == GOWIN_BLOCKS
    assert differences(blocks, verilog, tmp_path) == set()


def configured(cell: dict, behind: dict) -> tuple[list, list, list]:
    """A cell's operands, wires and parameters, but for its registers and what lets it write.

    A register before an inferred block is one within ours; a wire is what is ``behind`` it.
    """
    wires = {
        port: behind.get(bit, bit)
        for port, (bit,) in sorted(cell["connections"].items())
        if WIRED.fullmatch(port) and bit != "x"
    }
    operands = [
        [bit for port, bit in wires.items() if re.fullmatch(rf"{letter}\d+|SIGNED{letter}", port)]
        for letter in "AB"
    ]
    others = [item for item in wires.items() if not re.fullmatch(r"[AB]\d+|SIGNED[AB]", item[0])]
    parameters = cell["parameters"].items()
    fixed = sorted(item for item in parameters if item[0] not in OF_REGISTERS | MOOT)
    return sorted(operands, key=repr), others, fixed  # the operands go either way


@pytest.mark.parametrize("kind", ["MULT18X18D", "DP16KD"])
@pytest.mark.usefixtures("netlist")
def test_instances_are_configured_and_wired_as_what_is_inferred(folder, kind):
    cells = json.loads((folder / "design.json").read_text())["modules"]["top"]["cells"]
    behind = {
        cell["connections"]["Q"][0]: cell["connections"]["DI"][0]
        for cell in cells.values()
        if cell["type"] == "TRELLIS_FF"
    }
    of_kind = {path: cell for path, cell in cells.items() if cell["type"] == kind}
    placed = [configured(cell, {}) for path, cell in of_kind.items() if "placed" in path]
    inferred = [configured(cell, behind) for path, cell in of_kind.items() if "placed" not in path]
    assert len(placed) == 3
    assert all(len(others) > 18 for _, others, _ in placed)
    assert sorted(placed, key=repr) == sorted(inferred, key=repr)


FAULTS = {
    # A bit of a word of an inferred ROM, two wires of an inferred multiplier, a register of ours.
    "rom": (r"(INITVAL_21\(320'h[0-9a-f])([0-9a-f])([0-9a-f]*[1-9a-f])", r"\g<1>4\3"),
    "|".join(SHAPES): (r"\.A3\(([^)]*)\),(.*?)\.A4\(([^)]*)\)", r".A3(\3),\2.A4(\1)"),
    "placed": (r"(REG_OUTPUT_CLK\()\"CLK0\"", r'\1"NONE"'),
}


@pytest.mark.slow
def test_a_flipped_bit_swapped_wires_and_a_register_less_are_found(blocks, netlist, tmp_path):
    for pattern, replacement in FAULTS.values():
        harmed, count = re.subn(pattern, replacement, netlist, count=1, flags=re.DOTALL)
        assert count == 1
        assert harmed != netlist
        netlist = harmed
    wrong = differences(blocks, netlist, tmp_path)
    assert len(wrong) == 4, wrong  # the ROM at both of its ports
    for where in FAULTS:
        assert any(re.search(where, name) for name in wrong), (where, wrong)
