# SPDX-License-Identifier: Apache-2.0
"""Every board of the catalogue: its pins, its clock and the core it is given."""

import json
import re

import pytest

from ropeway.boards.catalogue import BOARDS, board_named, described
from ropeway.boards.clocks import core_clock
from ropeway.boards.configuration import configure, default_config, default_configuration
from ropeway.boards.top import BoardTop
from ropeway.golden.config import geometry_of
from ropeway.golden.errors import InputError

from .small_core import SmallCore

WANTED = {
    *("ulx3s-12f", "ulx3s-25f", "ulx3s-45f", "ulx3s-85f", "orangecrab-25f", "orangecrab-85f"),
    *("ecpix5-45", "ecpix5-85", "colorlight-5a-75b", "colorlight-i5", "colorlight-i9"),
    *("icebreaker", "upduino-v3", "ice40hx8k-b-evn"),
    *("tang-nano-9k", "tang-nano-20k", "tang-primer-20k"),
}
LINES = {"rx": "i", "tx": "o"}


def planned(name: str) -> dict[str, str]:
    """The files of a board's build, with a small core."""
    board, platform = BOARDS[name], BOARDS[name].load()
    clock = core_clock(platform, board.clock_hz)
    return platform.prepare(BoardTop(SmallCore(), clock, board.leds), emit_src=False).files


def test_every_board_asked_for_is_there():
    assert set(BOARDS) == WANTED


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_s_pins_are_all_placed(name):
    board, files = BOARDS[name], planned(name)
    (text,) = (text for file, text in files.items() if file.endswith((".lpf", ".pcf", ".cst")))
    uart = described(board)["uart"]
    for line, pin in uart.items():
        assert re.search(rf'uart_0__{line}__io"?( SITE)? "?{pin}\b', text), line
    pins = re.findall(r'(?:SITE "|set_io \S+ |IO_LOC "\S+" )(\w+)', text)
    assert len(pins) == len(set(pins))
    # The clock, the port, an LED each; a reset button, or a device's own oscillator.
    others = 1 - (name == "upduino-v3") + (name.startswith("ecpix5"))
    assert len(pins) == 2 + len(board.leds) + others
    assert {"passed"} <= set(board.leds) <= {"passed", "failed", "busy"}


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_s_clock_is_the_one_that_its_core_is_told(name):
    """The dividers as the netlist has them make the clock that registers and UART count by."""
    board, text = BOARDS[name], planned(name)["top.il"]
    source = board.load().default_clk_frequency
    number = {
        key: int(value, 2) if bits else int(value or plain)
        for key, bits, value, plain in re.findall(
            r"parameter(?: signed)? \\(\w+) (?:(\d+)'([01]+)|(\d+))", text
        )
    }
    if "EHXPLLL" in text:
        made = source * number["CLKFB_DIV"] / number["CLKI_DIV"]
    elif "SB_PLL40" in text:
        made = source * (number["DIVF"] + 1) / (number["DIVR"] + 1) / 2 ** number["DIVQ"]
    elif "rPLL" in text:
        made = source * (number["FBDIV_SEL"] + 1) / (number["IDIV_SEL"] + 1)
    elif "SB_HFOSC" in text:
        made = 48_000_000 / 2 ** int(re.search(r'\\CLKHF_DIV "0b(\d+)"', text)[1], 2)
    else:
        made = source
    assert made == board.clock_hz
    assert default_configuration(board).hosted.clock_hz == board.clock_hz


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_s_core_is_as_wide_as_promised_and_begins_with_a_table_it_serves(name):
    configuration = default_configuration(BOARDS[name])
    assert configuration.hosted.core.bus == "registers"
    assert configuration.hosted.image
    assert configuration.named["core.bus"] == "registers"
    assert configuration.hosted.core.data_bits == 16
    if name in ("ulx3s-25f", "ecpix5-45", "ecpix5-85"):
        assert configuration.hosted.core.rope.lanes >= 4
        assert configuration.hosted.core.rope.max_head_dim >= 256


def test_what_one_asks_for_takes_the_catalogue_s_place():
    board = BOARDS["ulx3s-25f"]
    geometry = geometry_of("phi-2")
    found = configure(
        board,
        geometry,
        scheme="rope,sinusoidal",
        settings={"rope.slots": "8"},
        clock_hz=50_000_000,
        lanes=2,
        bits=12,
        baud=115200,
    )
    assert found.hosted.core.units == ("rope", "sinusoidal")
    assert (found.hosted.core.rope.lanes, found.hosted.core.rope.slots) == (2, 8)
    assert (found.hosted.core.data_bits, found.hosted.baud) == (12, 115200)
    assert found.geometry.fingerprint == geometry.fingerprint
    assert found.as_dict()["parameters"]["sinusoidal.lanes"] == 2
    assert json.loads(json.dumps(found.as_dict())) == found.as_dict()


@pytest.mark.parametrize(
    ("scheme", "config", "lanes", "says"),
    [
        ("rope", "gpt2", 4, "config = learned: this core serves rope"),
        ("sinusoidal", "phi-2", 4, "config = rope: this core serves sinusoidal"),
        ("rope", "phi-2", 32, "lanes = 32: head_dim 80"),
    ],
)
def test_a_geometry_that_the_core_does_not_serve_is_refused(scheme, config, lanes, says):
    with pytest.raises(InputError, match=says):
        configure(
            BOARDS["ulx3s-25f"],
            geometry_of(config),
            scheme=scheme,
            settings={},
            clock_hz=100_000_000,
            lanes=lanes,
        )


def test_an_unknown_board_or_scheme_is_refused():
    with pytest.raises(InputError, match=r"board = ulx3s: must be one of ulx3s-12f, "):
        board_named("ulx3s")
    with pytest.raises(InputError, match=r"scheme = alibi: must be of rope, sinusoidal"):
        default_config("alibi")


@pytest.mark.parametrize("name", ["upduino-v3", "ulx3s-25f", "tang-nano-20k"])
def test_a_clock_that_the_board_cannot_make_is_refused_before_anything_is_made(name):
    with pytest.raises(InputError, match=r"clock = 25\.7 MHz"):
        core_clock(BOARDS[name].load(), 25_700_000)


def test_boards_are_listed(ropeway):
    called = ropeway("boards")
    assert called.status == 0
    lines = called.out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(BOARDS)
    assert lines[0].index("device") == lines[1].index("LFE5U") == lines[-1].index("GW2A")
    told = json.loads(ropeway("boards", "--json").out)
    assert told["icebreaker"]["uart"] == {"rx": "6", "tx": "9"}
    assert told["icebreaker"]["program"] == "iceprog"
    assert told["ulx3s-85f"]["device"] == "LFE5U-85F"
