# SPDX-License-Identifier: Apache-2.0
"""A component's Verilog has its ports by name and nothing of the machine that wrote it."""

import os
import re
import sys
from pathlib import Path

import pytest

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.hdl.learned_adder import LearnedAdder
from ropeway.hdl.learned_memory import LearnedMemory
from ropeway.sim import verilog
from ropeway.sim.verilog import environment, write_verilog

AR = ("id", "addr", "len", "size", "burst", "lock", "cache", "prot", "qos", "valid", "ready")
R = ("id", "data", "resp", "last", "valid", "ready")


def written(folder: Path) -> str:
    p = AdderParameters(lanes=1, max_width=32)
    unit = LearnedAdder(p, LearnedMemory(p, 64))
    return write_verilog(unit, folder / "unit.v", "unit").read_text()


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
    monkeypatch.setattr(verilog.shutil, "which", lambda *_args, **_path: None)
    with pytest.raises(RuntimeError, match="Yosys is missing"):
        verilog._yosys()
