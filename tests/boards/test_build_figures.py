# SPDX-License-Identifier: Apache-2.0
"""The page's table of builds is that of the committed builds, and they are of these very boards."""

import json

import pytest

from ropeway.boards import builds as boards_builds
from ropeway.boards.bitstream import BUILDS, Bitstream
from ropeway.boards.build import TimingError
from ropeway.boards.builds import PAGE, entry, main, markdown, merged, with_builds
from ropeway.boards.catalogue import BOARDS
from ropeway.boards.configuration import default_configuration

BUILT = json.loads(BUILDS.read_text())
RECORD = {
    "device": "LFE5U-25F",
    "bitstream": "ulx3s-25f.bit",
    "clock_mhz": 100.0,
    "achieved_mhz": 110.6,
    "slack_ns": 0.958,
    "seeds_mhz": {"1": 110.6},
    "scheme": "rope",
    "parameters": {"rope.lanes": 4, "rope.data_bits": 16},
    "table_fingerprint": "0f3013d1bb62b5ab",
    "utilisation": {
        "TRELLIS_COMB": {"used": 10201, "available": 24288},
        "DP16KD": {"used": 26, "available": 56},
        "MULT18X18D": {"used": 21, "available": 28},
    },
    "design_sha256": "d",
    "tools": {},
}
ROW = (
    "| `ulx3s-25f` | LFE5U-25F | rope, 4 × 16 | 100 | 110.6 | 10201 of 24288"
    " | 26 DP16KD, 21 MULT18X18D | 1.5 |"
)


def test_the_page_s_table_is_that_of_the_builds():
    text = PAGE.read_text()
    assert with_builds(text, BUILT) == text
    assert markdown(BUILT) in text


def test_every_board_has_been_built():
    assert list(BUILT) == list(BOARDS)


@pytest.mark.parametrize("name", BUILT)
def test_a_board_has_been_built_as_the_catalogue_has_it(name):
    """Stale figures: run `make bitstreams ARGS="--only BOARD"`."""
    built, configuration = BUILT[name], default_configuration(BOARDS[name])
    assert built["parameters"] == configuration.as_dict()["parameters"]
    assert built["table_fingerprint"] == configuration.geometry.fingerprint
    assert built["clock_mhz"] * 1e6 == BOARDS[name].clock_hz
    assert built["achieved_mhz"] >= built["clock_mhz"]
    assert built["slack_ns"] >= 0


def test_a_row_has_what_was_built_and_how_fast_it_is():
    assert markdown({"ulx3s-25f": entry(RECORD, 90.4)}).splitlines()[2] == ROW


def test_building_one_keeps_the_figures_of_the_others():
    found = merged(
        {"ulx3s-85f": {"x": 1}, "gone": {}, "ulx3s-12f": {"x": 2}}, {"ulx3s-12f": {"x": 3}}
    )
    assert found == {"ulx3s-12f": {"x": 3}, "ulx3s-85f": {"x": 1}}
    assert list(found) == ["ulx3s-12f", "ulx3s-85f"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Figures and page of a tree of their own."""
    builds, page = tmp_path / "builds.json", tmp_path / "boards.md"
    builds.write_text("{}")
    page.write_text(PAGE.read_text())
    monkeypatch.setattr(boards_builds, "BUILDS", builds)
    monkeypatch.setattr(boards_builds, "PAGE", page)
    monkeypatch.setattr(boards_builds, "ROOT", tmp_path)
    (tmp_path / "build" / "ulx3s-25f").mkdir(parents=True)
    return tmp_path


def test_what_is_built_is_kept_with_its_figures(place, monkeypatch, capsys):
    monkeypatch.setattr(boards_builds, "bitstream", lambda *_, **__: Bitstream(b"bits", RECORD))
    assert main(["--only", "ulx3s-25f"]) == 0
    assert capsys.readouterr().out == "ulx3s-25f: 110.6 MHz of 100\n"
    assert (place / "build" / "ulx3s-25f" / "ulx3s-25f.bit").read_bytes() == b"bits"
    assert json.loads((place / "builds.json").read_text())["ulx3s-25f"]["achieved_mhz"] == 110.6
    assert (
        "| `ulx3s-25f` | LFE5U-25F | rope, 4 × 16 | 100 | 110.6 |"
        in (place / "boards.md").read_text()
    )


def test_a_board_that_misses_its_clock_keeps_its_figures_and_fails_the_whole(
    place, monkeypatch, capsys
):
    def miss(*_, **__):
        raise TimingError("96.31 MHz of 100 MHz, 0.38 ns short, with seed 1")

    monkeypatch.setattr(boards_builds, "bitstream", miss)
    assert main(["--only", "ulx3s-25f"]) == 1
    told = "ropeway: failed: ulx3s-25f: 96.31 MHz of 100 MHz, 0.38 ns short, with seed 1\n"
    assert capsys.readouterr().err == told
    assert (place / "builds.json").read_text() == "{}"


def test_a_board_that_is_not_there_is_refused_in_one_line(capsys):
    assert main(["--only", "ulx3s"]) == 2
    assert capsys.readouterr().err.startswith("ropeway: error: board = ulx3s: must be one of ")
