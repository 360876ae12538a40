# SPDX-License-Identifier: Apache-2.0
"""A component's Verilog has its ports by name, Verilog-2001 only, and nothing of the machine."""

import os
import re
import sys
from pathlib import Path

import pytest
from amaranth.back import rtlil

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.alibi import AlibiUnit
from ropeway.hdl.engine import RopeEngine
from ropeway.hdl.learned_adder import LearnedAdder
from ropeway.hdl.learned_memory import LearnedMemory
from ropeway.hdl.learned_ram import LearnedRam
from ropeway.hdl.sinusoidal_adder import SinusoidalAdder
from ropeway.sim import verilog, yosys
from ropeway.sim.cell_library import LIBRARIES
from ropeway.sim.verilog import environment, write_verilog

AR = ("id", "addr", "len", "size", "burst", "lock", "cache", "prot", "qos", "valid", "ready")
R = ("id", "data", "resp", "last", "valid", "ready")
ADDER = AdderParameters(lanes=1, max_width=32)
UNITS = {
    "rope": lambda: RopeEngine(RopeParameters(lanes=1, max_head_dim=64)),
    "learned, block RAM": lambda: LearnedAdder(ADDER, LearnedRam(ADDER, 256)),
    "learned, memory": lambda: LearnedAdder(ADDER, LearnedMemory(ADDER, 64)),
    "sinusoidal": lambda: SinusoidalAdder(ADDER),
    "alibi": lambda: AlibiUnit(AlibiParameters()),
}


def written(folder: Path) -> str:
    return write_verilog(UNITS["learned, memory"](), folder / "unit.v", "unit").read_text()


def test_ports_are_the_signature_s_and_axi_s_have_their_names(tmp_path):
    (head,) = re.findall(r"^module unit\((.*?)\);", written(tmp_path), re.MULTILINE | re.DOTALL)
    ports = {port.strip() for port in head.split(",")}
    streams = {"i", "i_position", "i_load", "o"}
    assert ports == (
        {f"{name}__{part}" for name in streams for part in ("payload", "valid", "ready")}
        | {f"m_axi__ar{name}" for name in AR}
        | {f"m_axi__r{name}" for name in R}
        | {"base", "stride", "loaded", "fingerprint", "status", "clear", "clk", "rst"}
    )


def test_a_file_says_nothing_of_the_machine_and_is_the_same_again(tmp_path):
    first = written(tmp_path)
    assert first == written(tmp_path)
    assert str(Path(sys.prefix).parent) not in first
    assert ".py" not in first
    assert first.startswith("module ")


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_is_assignments_and_registers_of_verilog_2001(name, tmp_path):
    text = write_verilog(UNITS[name](), tmp_path / "unit.v", "unit").read_text()
    assert set(re.findall(r"^ *always (.*?)(?: begin)?$", text, re.MULTILINE)) == {"@(posedge clk)"}
    words = set(re.findall(r"[$`]?\b[a-z_]\w*", re.sub(r"\\\S+|\(\*.*\*\)|\"[^\"]*\"", "", text)))
    later = {"logic", "always_ff", "always_comb", "always_latch", "bit", "int", "unique", "enum"}
    assert not words & later
    assert not {word for word in words if word[0] in "$`"} - {"$signed", "$unsigned"}


@pytest.mark.parametrize("name", UNITS)
def test_no_memory_gives_a_word_in_the_clock_that_writes_it(name):
    """A port that is transparent, or one of two clocks, costs logic where a device has none."""
    text = rtlil.convert(UNITS[name](), name="unit", emit_src=False)
    masks = re.findall(r"parameter \\TRANSPARENCY_MASK (.*)", text)
    assert masks
    assert all(not re.search("1", mask.partition("'")[2]) for mask in masks), masks


LATCH = """
module \\latch
  wire input 1 \\a
  wire output 2 \\o
  cell $dlatch \\held
    parameter \\WIDTH 1
    parameter \\EN_POLARITY 1
    connect \\D \\a
    connect \\EN \\a
    connect \\Q \\o
  end
end
"""


def test_a_latch_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(verilog.rtlil, "convert", lambda *_component, **_options: LATCH)
    with pytest.raises(RuntimeError, match=r"(?s)Yosys failed.*Assertion failed.*t:\$dlatch"):
        write_verilog(UNITS["sinusoidal"], tmp_path / "latch.v", "latch")
    assert not (tmp_path / "latch.v").exists()


def test_a_family_s_own_blocks_are_instantiated(tmp_path):
    unit = UNITS["sinusoidal"]()
    text = write_verilog(unit, tmp_path / "unit.v", "unit", LIBRARIES["ecp5"]).read_text()
    assert len(re.findall(r"^ *MULT18X18D #", text, re.MULTILINE)) == 7
    assert "DP16KD #" in text


def test_the_environment_is_as_it_was_even_after_an_error(monkeypatch):
    monkeypatch.setenv("ROPEWAY_A", "before")
    monkeypatch.delenv("ROPEWAY_B", raising=False)
    with environment(ROPEWAY_A=None, ROPEWAY_B="within"):
        within = os.environ.get("ROPEWAY_A"), os.environ.get("ROPEWAY_B")
    assert within == (None, "within")
    with pytest.raises(KeyError), environment(ROPEWAY_A="within", ROPEWAY_B="within"):
        os.environ["ROPEWAY_C"]
    assert os.environ["ROPEWAY_A"] == "before"
    assert "ROPEWAY_B" not in os.environ


def test_without_yosys_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(yosys.shutil, "which", lambda *_args, **_path: None)
    with pytest.raises(RuntimeError, match="Yosys is missing"):
        yosys.yosys()
