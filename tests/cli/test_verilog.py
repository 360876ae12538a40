# SPDX-License-Identifier: Apache-2.0
"""``ropeway verilog`` writes what other tools take without a word."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ropeway.sim.verilator import verilator_environment
from ropeway.sim.yosys import run_yosys

CORES = {
    "rope": ("--lanes", "2"),
    "every unit": ("--scheme", "all", "--set", "learned.max_width=768"),
    "floats": (
        *("--scheme", "rope", "--format", "bf16", "--lanes", "1", "--top", "turner"),
        *("--set", "rope.temperature=true", "--set", "rope.axes=3"),
    ),
    "table in memory": ("--scheme", "learned", "--set", "table.bus_bits=256"),
    "scores alone": ("--scheme", "alibi", "--lanes", "8", "--set", "alibi.scaled=true"),
    "ecp5": ("--family", "ecp5", "--set", "rope.max_head_dim=64"),
    "ice40": ("--family", "ice40", "--lanes", "1", "--set", "rope.coefficient_bits=16"),
}


def lint(folder: Path, top: str, *files: str) -> str:
    """What Verilator's -Wall says of files; nothing where all is well."""
    done = subprocess.run(
        ["verilator", "--lint-only", "-Wall", "--quiet", "--top-module", top, *files],
        cwd=folder,
        env=os.environ | verilator_environment(fast="-O0"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert bool(done.returncode) == ("%" in done.stderr)
    return done.stderr


@pytest.fixture
def written(ropeway, tmp_path):
    """Writes a core with all that stands beside it; the command's last line and the folder."""

    def call(*options: str) -> Path:
        called = ropeway("verilog", *options, "--extras", "-o", tmp_path / "core.v")
        assert (called.status, called.err) == (0, "")
        assert str(tmp_path / "core.v") in called.out
        return tmp_path

    return call


@pytest.mark.slow
@pytest.mark.parametrize("core", CORES)
def test_a_core_and_its_template_are_clean_and_elaborate(core, written):
    options = CORES[core]
    top = options[options.index("--top") + 1] if "--top" in options else "ropeway"
    folder = written(*options)
    models = [path.name for path in folder.glob("*_models.v")]
    assert bool(models) == (core == "ecp5")
    text = (folder / "core.v").read_text()
    declared = re.findall(r"^// module (\S+)$", text, re.MULTILINE)
    assert declared == re.findall(r"^module (\S+?)\s*\(", text, re.MULTILINE)
    assert declared[0] == top
    user = 'module user;\n`include "core_inst.vh"\nendmodule\n'
    (folder / "user.v").write_text(user)
    if core != "ice40":  # whose blocks only Yosys has models of
        assert lint(folder, top, "core.v", *models) == ""
        assert "%Error" not in lint(folder, "user", "user.v", "core.v", *models)
    family = {"ecp5": "ecp5", "ice40": "ice40"}.get(core)
    library = f"read_verilog -lib +/{family}/cells_sim.v\n" if family else ""
    library += "read_verilog -lib +/ecp5/cells_bb.v\n" if family == "ecp5" else ""
    run_yosys(
        f"{library}read_verilog user.v core.v\nhierarchy -check -top {top}\nproc\ncheck -assert\n",
        folder,
    )
    if shutil.which("iverilog") and core != "ice40":
        command = ["iverilog", "-g2001", "-Wall", "-t", "null", "-s", "user", "user.v", "core.v"]
        done = subprocess.run([*command, *models], cwd=folder, capture_output=True, check=False)
        assert done.returncode == 0


def test_lint_is_no_formality(written):
    """What is waived is waived by name: a fault of another kind is still told."""
    folder = written("--lanes", "1", "--set", "rope.max_head_dim=32")
    text = (folder / "core.v").read_text()
    latch = "  reg held;\n  always @* if (aclk) held = aresetn;\nendmodule"
    harmed = text.replace("endmodule", latch, 1)
    (folder / "core.v").write_text(harmed)
    assert "%Warning-LATCH" in lint(folder, "ropeway", "core.v")


def test_the_same_parameters_give_the_same_file_which_states_them(ropeway, tmp_path):
    texts = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.v"
        assert ropeway("verilog", "--lanes", "1", "--set", "rope.slots=8", "-o", path).status == 0
        texts.append(path.read_text())
    assert texts[0] == texts[1]
    assert "// rope.lanes = 1\n" in texts[0]
    assert "// rope.slots = 8\n" in texts[0]
    assert "// rope.generator = pipelined\n" in texts[0]
    assert str(tmp_path) not in texts[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.v", "two.v"]


def test_the_core_file_names_the_files_and_the_module(written):
    core = (
        written("--family", "ecp5", "--lanes", "1", "--top", "turner") / "core.core"
    ).read_text()
    assert core.startswith("CAPI=2:\nname: ::turner:")
    assert "files: [core.v]" in core
    assert "files: [core_models.v]" in core
    assert core.count("toplevel: turner") == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--scheme", "rope,yarn"), "scheme = yarn: must be of rope"),
        (("--lanes", "3"), "lanes = 3: must be one of"),
        (("--lanes", "many"), "lanes = many: must be an integer"),
        (("--format", "fp8"), "format = fp8: must be fixed"),
        (("--family", "xc7"), "family = xc7: must be one of generic, ecp5, ice40"),
        (("--top", "1st"), "top = 1st: must be an identifier of Verilog"),
        (("--set", "slots=8"), "set = slots=8: must be UNIT.KEY=VALUE"),
        (("--set", "rope.slots=x"), "rope.slots = x: must be an integer"),
        (("--set", "rope.slots=5"), "slots = 5: must be 1, 2, 4, 8 or 16"),
        (("--set", "rope.temperature=1"), "rope.temperature = 1: must be true or false"),
        (("--set", "rope.generator=x"), "generator = x: must be one of pipelined, shared, serial"),
        (("--set", "rope.size=5"), "rope.size = 5: must be one of lanes, "),
        (("--set", "alibi.max_heads=5"), "alibi.max_heads = 5: is of no unit of this core: rope"),
        (("-o", "core.sv"), "output = core.sv: must end in .v"),
        (("-o", "absent/core.v"), "output = absent/core.v: its folder does not exist"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    ropeway, tmp_path, monkeypatch, options, says
):
    monkeypatch.chdir(tmp_path)
    called = ropeway("verilog", "-o", "core.v", *options)
    assert called.status == 2
    assert called.err.startswith(f"ropeway: error: {says}")
    assert called.err.count("\n") == 1
    assert not any(tmp_path.iterdir())
