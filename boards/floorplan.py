# SPDX-License-Identifier: Apache-2.0
"""Where an engine's multipliers and memories go on an ECP5: pins for its netlist."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import mean
from typing import NamedTuple

from ropeway.golden.errors import InputError

__all__ = ["OPTIONS", "floorplan"]

OPTIONS = ("--placer-heap-timingweight", "100")
"""What nextpnr is told beside the pins: that what they leave to it be placed for its timing."""

GROUP = 9  # columns, in which a row of blocks has four
SPINE = 2  # columns wide
MULTIPLIERS, MEMORIES = "MULT18X18D", "DP16KD"


class Site(NamedTuple):
    """A block's column and row, and what it is called there."""

    x: int
    y: int
    bel: str

    def __str__(self) -> str:
        return f"X{self.x}/Y{self.y}/{self.bel}"


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
    """The netlist, Yosys' JSON, with a ``BEL`` for each multiplier and for its lanes' memories.

    A lane's multipliers stand side by side, and lanes in order; before them the generator's, in the
    order of what flows through it; what lanes and generator read and write is as near to them as
    there is room. nextpnr, left alone, scatters them over the die, and the wires between are the
    longest of all.

    Raises InputError for a device without a plan or with too few sites.
    """
    if device not in DIES:
        raise InputError("device", device, f"has no floorplan: {', '.join(DIES)} have")
    die, top = DIES[device], netlist["modules"]["top"]
    named = {kind: _of_type(top["cells"], kind) for kind in (MULTIPLIERS, MEMORIES)}
    for key, kind in (("multipliers", MULTIPLIERS), ("memories", MEMORIES)):
        if len(named[kind]) > len(die.sites(kind)):
            raise InputError(key, len(named[kind]), f"{device} has {len(die.sites(kind))}")
    placed = _multipliers(named[MULTIPLIERS], die)
    if placed:
        placed |= _nearest(_wanted(named[MEMORIES], placed), die.sites(MEMORIES))
    pinned = {
        name: cell | {"attributes": cell["attributes"] | {"BEL": str(placed[name])}}
        for name, cell in top["cells"].items()
        if name in placed
    }
    modules = netlist["modules"] | {"top": top | {"cells": top["cells"] | pinned}}
    return netlist | {"modules": modules}


def _of_type(cells: dict, kind: str) -> list[str]:
    return sorted(name for name, cell in cells.items() if cell["type"] == kind)


def _lane(name: str) -> int | None:
    """The lane whose part it is."""
    found = re.search(r"\.lane_(\d+)\.", name)
    return int(found[1]) if found else None


def _by_lane(names: Iterable[str]) -> dict[int | None, list[str]]:
    """The names of each lane's parts; under None those of no lane."""
    found: dict[int | None, list[str]] = {}
    for name in names:
        found.setdefault(_lane(name), []).append(name)
    return found


def _flow(name: str) -> int:
    """How far along the generator's way from a position to coefficients a part of it is."""
    stages = (".phase.", ".sincos.", ".amplitude")
    return next((stage for stage, part in enumerate(stages) if part in name), -1)


def _multipliers(names: list[str], die: Die) -> dict[str, Site]:
    """Lane by lane to the ends of as few rows as hold them, as many a row; the others before."""
    lanes = _by_lane(names)
    others = sorted(lanes.pop(None, []), key=_flow)
    rows = -(-len(names) // len(die.row(MULTIPLIERS, 0)))
    order = [lanes[lane] for lane in sorted(lane for lane in lanes if lane is not None)]
    most = -(-len(order) // max(rows, 1))
    placed: dict[str, Site] = {}
    free: list[Site] = []
    for number, y in enumerate(die.multipliers):
        row = die.row(MULTIPLIERS, y)
        mine = [name for lane in order[number * most :][:most] for name in lane]
        begin = len(row) - len(mine)
        placed |= zip(mine, row[begin:], strict=True)
        free += row[:begin]
    near = sorted(free, key=lambda site: -site.x)[: len(others)]
    return placed | dict(zip(others, reversed(near), strict=True))


def _wanted(names: list[str], placed: dict[str, Site]) -> Iterator[tuple[str, float, float]]:
    """Each memory, and where it is best: what has the longest way first."""
    at = {
        lane: (mean(placed[name].x for name in parts), placed[parts[0]].y)
        for lane, parts in _by_lane(placed).items()
    }
    lanes = len(at) - (None in at)
    for buffer in ("rotated", "gathered"):
        for bank in range(2):
            columns = [name for name in names if f"{buffer}.bank_{bank}." in name]
            columns.sort(key=lambda name: int(name.rsplit("_", 1)[1]))
            for column, name in enumerate(columns):
                # An element goes to a lane as it stands, and to another as a pair's.
                element = (column + 0.5) / len(columns) * lanes
                users = at[int(element)], at[int(bank * lanes / 2 + element / 2)]
                yield name, mean(user[0] for user in users), mean(user[1] for user in users)
    if None in at:
        for name in names:
            if re.search(r"\.(sincos|pairs_low|pairs_high)\.", name):
                yield name, *at[None]
    for name in names:
        if (lane := _lane(name)) is not None:
            yield name, *at[lane]


def _nearest(wanted: Iterable[tuple[str, float, float]], sites: list[Site]) -> dict[str, Site]:
    """Each the free site nearest to where it is best, in their order."""
    taken: dict[str, Site] = {}
    free = list(sites)
    for name, x, y in wanted:
        taken[name] = min(free, key=lambda site: abs(site.x - x) + abs(site.y - y))
        free.remove(taken[name])
    return taken
