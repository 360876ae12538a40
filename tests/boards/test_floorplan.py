# SPDX-License-Identifier: Apache-2.0
"""A wide engine's blocks on an ECP5: each pinned once, a lane's side by side."""

import copy
import re
import subprocess
import sys
from itertools import pairwise

import pytest

from ropeway.boards.floorplan import DIES, floorplan
from ropeway.golden import InputError

GENERATOR = ("amplitude$51.product", "phase.column.ab", "phase.column.cd", "sincos.correction")
PARTS = ("difference_u", "k$52", "sum_v")


def netlist(lanes: int, *, columns: int = 0, others: int = len(GENERATOR)) -> dict:
    """What floorplan sees of an engine's; ``columns`` of memory in a bank of words."""
    multipliers = [f"generator.{name}.mult18x18d" for name in GENERATOR[:others]]
    memories = ["steps.items.dp16kd_0", "generator.sincos.rom.memory.dp16kd_0"]
    for lane in range(lanes):
        multipliers += [f"rotator.lane_{lane}.{part}.mult18x18d" for part in PARTS]
        memories += [f"row$248.lane_{lane}.dp16kd_{start}" for start in (0, 36)]
    memories += [
        f"{buffer}.bank_{bank}.dp16kd_{36 * column}"
        for buffer in ("gathered", "rotated")
        for bank in range(2)
        for column in range(columns or lanes // 2)
    ]
    types = dict.fromkeys(multipliers, "MULT18X18D") | dict.fromkeys(memories, "DP16KD")
    cells = {
        f"component.{name}": {"type": kind, "attributes": {"hdlname": name}}
        for name, kind in (types | {"adder": "CCU2C"}).items()
    }
    return {"creator": "test", "modules": {"top": {"ports": {}, "cells": cells}, "CCU2C": {}}}


def bels(planned: dict, word: str) -> dict[str, str]:
    """The pins of the cells of whose names it is part."""
    return {
        name: cell["attributes"]["BEL"]
        for name, cell in planned["modules"]["top"]["cells"].items()
        if word in name and "BEL" in cell["attributes"]
    }


def place_of(bel: str) -> tuple[int, int]:
    found = re.fullmatch(r"X(\d+)/Y(\d+)/(?:MULT18_[0145]|EBR[0-3])", bel)
    assert found, bel
    return int(found[1]), int(found[2])


WIDE = [("LFE5U-25F", 8, 0), ("LFE5U-45F", 16, 8), ("LFE5U-85F", 32, 15)]


@pytest.mark.parametrize(("device", "lanes", "columns"), WIDE)
def test_every_multiplier_has_a_site_of_its_own_and_a_lane_s_are_adjacent(device, lanes, columns):
    planned = floorplan(netlist(lanes, columns=columns), device)
    pins = bels(planned, "")
    assert len(set(pins.values())) == len(pins)
    assert len(bels(planned, "mult18x18d")) == 3 * lanes + len(GENERATOR)
    order = DIES[device].row("MULT18X18D", 0)
    number = {site.x: index for index, site in enumerate(order)}
    for lane in range(lanes):
        mine = sorted(place_of(bel) for bel in bels(planned, f"rotator.lane_{lane}.").values())
        first = number[mine[0][0]]
        assert [number[x] for x, _ in mine] == [first, first + 1, first + 2]
        assert len({y for _, y in mine}) == 1


@pytest.mark.parametrize("lanes", [4, 8])
def test_the_generator_s_multipliers_lead_in_the_order_of_its_flow_to_the_lanes(lanes):
    planned = floorplan(netlist(lanes), "LFE5U-25F")
    parts = ("phase.column", "sincos.correction", "amplitude$51", "rotator.")
    columns = [[place_of(bel)[0] for bel in bels(planned, part).values()] for part in parts]
    for before, after in pairwise(columns):
        assert max(before) < min(after)
    row = [site.x for site in DIES["LFE5U-25F"].row("MULT18X18D", 13)]
    assert row.index(min(columns[3])) == row.index(max(columns[2])) + 1


@pytest.mark.parametrize(("device", "lanes", "columns"), WIDE)
def test_every_memory_of_a_lane_is_pinned_and_its_row_is_near(device, lanes, columns):
    planned = floorplan(netlist(lanes, columns=columns), device)
    assert len(bels(planned, ".bank_")) == 4 * (columns or lanes // 2)
    for lane in range(lanes):
        products = [place_of(bel) for bel in bels(planned, f"rotator.lane_{lane}.").values()]
        rows = [place_of(bel) for bel in bels(planned, f"row$248.lane_{lane}.").values()]
        assert len(rows) == 2
        assert all(abs(x - products[1][0]) <= 20 for x, _ in rows)
    first = [place_of(bel) for bel in bels(planned, "rotator.lane_0.").values()]
    (steps,) = (place_of(bel) for bel in bels(planned, "steps.").values())
    assert abs(steps[0] - first[1][0]) <= 20


def several(engines: int) -> dict:
    """Engines of eight lanes side by side."""
    one = netlist(8)["modules"]["top"]["cells"]
    cells = {
        name.replace("component.", f"component.engine_{engine}."): cell
        for engine in range(engines)
        for name, cell in one.items()
    }
    return {"creator": "test", "modules": {"top": {"ports": {}, "cells": cells}}}


@pytest.mark.parametrize("engines", [1, 2, 4, 5])
def test_each_engine_has_its_lanes_in_a_row_and_its_generator_together(engines):
    planned = floorplan(several(engines), "LFE5U-85F")
    pins = bels(planned, "")
    assert len(set(pins.values())) == len(pins)
    columns = [site.x for site in DIES["LFE5U-85F"].row("MULT18X18D", 0)]
    for engine in range(engines):
        mine = {n: place_of(bel) for n, bel in pins.items() if f".engine_{engine}." in n}
        for part, count in (("rotator.", 24), ("generator.", 4)):
            sites = sorted(at for n, at in mine.items() if part in n and "mult18x18d" in n)
            first = columns.index(sites[0][0])
            assert [columns.index(x) for x, _ in sites] == [*range(first, first + count)]
            assert len({y for _, y in sites}) == 1
        for lane in range(8):
            (x, *_), (y, *_) = zip(
                *(at for n, at in mine.items() if f"rotator.lane_{lane}." in n), strict=True
            )
            rows = [at for n, at in mine.items() if f"row$248.lane_{lane}." in n]
            assert all(abs(at[0] - x) + abs(at[1] - y) <= 40 for at in rows)


def test_all_that_is_not_pinned_stays_as_it_was():
    given = netlist(8)
    before = copy.deepcopy(given)
    planned = floorplan(given, "LFE5U-25F")
    assert given == before
    for cell in planned["modules"]["top"]["cells"].values():
        cell["attributes"].pop("BEL", None)
    assert planned == before


def test_a_model_s_cost_is_told_without_the_solver(request):
    command = "import sys; sys.modules['scipy'] = None; from ropeway.cli import main; main()"
    words = ["inspect", "llama-3.1-8b", "--device", "lfe5u-25f-6"]
    done = subprocess.run(
        [sys.executable, "-c", command, *words],
        cwd=request.config.rootpath,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "tokens/s" in done.stdout


def test_sites_are_as_many_as_the_parts_have():
    found = {
        name: tuple(len(die.sites(kind)) for kind in ("MULT18X18D", "DP16KD"))
        for name, die in DIES.items()
    }
    assert found == {"LFE5U-25F": (28, 56), "LFE5U-45F": (72, 108), "LFE5U-85F": (156, 208)}


@pytest.mark.parametrize(
    ("design", "device", "said"),
    [
        (netlist(16), "LFE5U-25F", r"multipliers = 52: LFE5U-25F has 28"),
        (netlist(8, columns=15), "LFE5U-25F", r"memories = 78: LFE5U-25F has 56"),
        (netlist(1), "iCE40UP5K", r"device = iCE40UP5K: has no floorplan"),
    ],
)
def test_what_has_no_room_is_refused(design, device, said):
    with pytest.raises(InputError, match=said):
        floorplan(design, device)
