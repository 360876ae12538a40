# SPDX-License-Identifier: Apache-2.0
"""Where engines' multipliers and memories go on an ECP5: pins for their netlist."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, groupby
from statistics import mean
from typing import NamedTuple

import numpy as np

from ropeway.golden.errors import InputError

__all__ = ["OPTIONS", "floorplan"]

OPTIONS = ("--placer-heap-timingweight", "100")
"""What nextpnr is told beside the pins: that what they leave to it be placed for its timing."""

GROUP = 9  # columns, in which a row of blocks has four
SPINE = 2  # columns wide
MULTIPLIERS, MEMORIES = "MULT18X18D", "DP16KD"
NEAREST = 8  # times as near as any other memory is what a multiplier has through a LUT


class Site(NamedTuple):
    """A block's column and row, and what it is called there."""

    x: int
    y: int
    bel: str

    def __str__(self) -> str:
        return f"X{self.x}/Y{self.y}/{self.bel}"


class Wanted(NamedTuple):
    """A memory, where it is best, and what a step away from there weighs."""

    name: str
    x: float
    y: float
    weight: int = 1


@dataclass(frozen=True)
class Die:
    """Rows of blocks, in groups ``left`` and ``right`` of the clock's spine.

    As Project Trellis' database has them, and nextpnr's ``--write`` shows for a full device.
    """

    left: int
    right: int
    multipliers: tuple[int, ...]
    memories: tuple[int, ...]

    def _groups(self) -> Iterator[int]:
        for group in range(self.left + self.right):
            yield 4 + GROUP * group + (SPINE if group >= self.left else 0)

    def row(self, kind: str, y: int) -> list[Site]:
        """The sites of a row, from left to right."""
        if kind == MULTIPLIERS:
            return [Site(x + n, y, f"MULT18_{n}") for x in self._groups() for n in (0, 1, 4, 5)]
        return [Site(x + 2 * n, y, f"EBR{n}") for x in self._groups() for n in range(4)]

    def sites(self, kind: str) -> list[Site]:
        """All of them, row by row."""
        rows = self.multipliers if kind == MULTIPLIERS else self.memories
        return [site for y in rows for site in self.row(kind, y)]


DIES = {
    "LFE5U-25F": Die(3, 4, (13,), (25, 37)),
    "LFE5U-45F": Die(4, 5, (22, 46), (10, 34, 58)),
    "LFE5U-85F": Die(7, 6, (34, 58, 10), (46, 22, 70, 82)),
}


def floorplan(netlist: dict, device: str) -> dict:
    """The netlist, Yosys' JSON, with a ``BEL`` for each multiplier and for their memories.

    A lane's multipliers stand side by side, and lanes in order; before them the generator's, in the
    order of what flows through it. What they read and write is as near to them as there is room.
    Several engines, ``engine_0`` on, stand beside each other. nextpnr, left alone, scatters them
    over the die, and the wires between are the longest of all.

    Raises InputError for a device without a plan or with too few sites.
    """
    if device not in DIES:
        raise InputError("device", device, f"has no floorplan: {', '.join(DIES)} have")
    die, top = DIES[device], netlist["modules"]["top"]
    named = {kind: _of_type(top["cells"], kind) for kind in (MULTIPLIERS, MEMORIES)}
    for key, kind in (("multipliers", MULTIPLIERS), ("memories", MEMORIES)):
        if len(named[kind]) > len(die.sites(kind)):
            raise InputError(key, len(named[kind]), f"{device} has {len(die.sites(kind))}")
    free, placed, wanted = die.sites(MULTIPLIERS), {}, []
    memories = _by_number("engine", named[MEMORIES])
    for engine, names in _by_number("engine", named[MULTIPLIERS]).items():
        mine = _multipliers(names, free, left=(engine or 0) % 2 == 1)
        free = [site for site in free if site not in mine.values()]
        wanted += _wanted(memories.get(engine, []), mine)
        placed |= mine
    placed |= _assigned(wanted, die.sites(MEMORIES))
    pinned = {
        name: cell | {"attributes": cell["attributes"] | {"BEL": str(placed[name])}}
        for name, cell in top["cells"].items()
        if name in placed
    }
    modules = netlist["modules"] | {"top": top | {"cells": top["cells"] | pinned}}
    return netlist | {"modules": modules}


def _of_type(cells: dict, kind: str) -> list[str]:
    return sorted(name for name, cell in cells.items() if cell["type"] == kind)


def _by_number(part: str, names: Iterable[str]) -> dict[int | None, list[str]]:
    """The names of what belongs to ``part_0``, ``part_1`` and so on; under None those of none."""
    found: dict[int | None, list[str]] = {}
    for name in names:
        number = re.search(rf"\.{part}_(\d+)\.", name)
        found.setdefault(int(number[1]) if number else None, []).append(name)
    return found


def _flow(name: str) -> int:
    """How far along the generator's way from a position to coefficients a part of it is."""
    stages = (".phase.", ".sincos.", ".amplitude")
    return next((stage for stage, part in enumerate(stages) if part in name), -1)


def _rows(sites: list[Site]) -> list[list[Site]]:
    return [list(row) for _, row in groupby(sites, key=lambda site: site.y)]


def _multipliers(names: list[str], free: list[Site], *, left: bool) -> dict[str, Site]:
    """An engine's: lanes to the ends of as few rows as hold them, as many a row; others before.

    Or, ``left``, to their beginnings, as far as the others leave them. Where there is no room
    before them, the others stand in the nearest row that has.
    """
    lanes = _by_number("lane", names)
    others = sorted(lanes.pop(None, []), key=_flow)
    order = [parts for _, parts in sorted(lanes.items())]
    rows = sorted(_rows(free), key=len, reverse=True)
    room = accumulate(len(row) for row in rows)
    count = next(n for n, sites in enumerate(room, 1) if sites >= len(names) - len(others))
    most = -(-len(order) // count)
    placed: dict[str, Site] = {}
    for number, row in enumerate(rows[:count]):
        mine = [name for lane in order[number * most :][:most] for name in lane]
        spare = len(row) - len(mine)
        begin = min(spare, len(others)) if left else spare
        placed |= zip(mine, row[begin:], strict=False)
    first = placed[order[0][0]] if order else rows[0][-1]

    def away(site: Site) -> int:
        return abs(site.x - first.x) + abs(site.y - first.y)

    rest = _rows([site for site in free if site not in placed.values()])
    able = [row for row in rest if len(row) >= len(others)]
    near = min(
        (sorted(row, key=away)[: len(others)] for row in able),
        key=lambda row: sum(away(site) for site in row),
        default=[],
    )
    return placed | dict(zip(others, sorted(near), strict=True))


def _wanted(names: list[str], placed: dict[str, Site]) -> Iterator[Wanted]:
    """An engine's memories that its lanes or their generator read or write."""

    def middle(*parts: str) -> tuple[float, float]:
        sites = [site for name, site in placed.items() if any(part in name for part in parts)]
        return mean(site.x for site in sites), mean(site.y for site in sites)

    lanes = sum(lane is not None for lane in _by_number("lane", placed))
    flows = any(_flow(name) >= 0 for name in placed)  # the generator has multipliers
    for buffer in ("rotated", "gathered"):
        for bank in range(2):
            columns = [name for name in names if f"{buffer}.bank_{bank}." in name]
            columns.sort(key=lambda name: int(name.rsplit("_", 1)[1]))
            for column, name in enumerate(columns):
                # An element goes to a lane as it stands, and to another as a pair's.
                element = (column + 0.5) / len(columns) * lanes
                users = int(element), int(bank * lanes / 2 + element / 2)
                yield Wanted(name, *middle(*(f".lane_{lane}." for lane in users)))
    for name in names:
        if lane := re.search(r"\.lane_\d+\.", name):
            yield Wanted(name, *middle(lane[0]))
        elif ".sincos." in name and flows:
            yield Wanted(name, *middle(".sincos."))
        elif ".table." in name and flows:
            yield Wanted(name, *middle(".phase."), NEAREST if ".pairs_" in name else 1)
        elif re.search(r"\.(steps|exits)\.", name):
            yield Wanted(name, *middle(".lane_0."))


def _assigned(wanted: list[Wanted], sites: list[Site]) -> dict[str, Site]:
    """A site for each, so that all together are as near to where they are best as can be."""
    # It comes with `fpga`, which who asks for a report's figures need not have.
    from scipy.optimize import linear_sum_assignment

    away = np.array(
        [
            [each.weight * ((site.x - each.x) ** 2 + (site.y - each.y) ** 2) for site in sites]
            for each in wanted
        ]
    ).reshape(len(wanted), len(sites))
    _, chosen = linear_sum_assignment(away)
    return {each.name: sites[site] for each, site in zip(wanted, chosen, strict=True)}
