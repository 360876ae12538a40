# SPDX-License-Identifier: Apache-2.0
"""Where a wide engine's multipliers and memories go on an ECP5: pins for its netlist."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ropeway.golden.errors import InputError

__all__ = ["floorplan"]

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


DIES = {
    "LFE5U-25F": Die(3, 4, (13,), (25, 37)),
    "LFE5U-45F": Die(4, 5, (22, 46), (10, 34, 58)),
    "LFE5U-85F": Die(7, 6, (34, 58, 10), (46, 22, 70, 82)),
}


def floorplan(netlist: dict, device: str) -> dict:
    """The netlist, as Yosys' JSON, with a ``BEL`` for each multiplier and for the lanes' memories.

    A lane's multipliers stand side by side, and lanes in order, after the generator's, which has
    the first sites of the first row; what a lane reads and writes is as near to it as there is
    room. nextpnr, left alone, scatters them over the die, and the wires between are the longest of
    all. Raises InputError for a device without a plan or with too few sites.
    """
    if device not in DIES:
        raise InputError("device", device, f"has no floorplan; {', '.join(DIES)} have")
    die, cells = DIES[device], netlist["modules"]["top"]["cells"]
    named = {
        kind: sorted(name for name, cell in cells.items() if cell["type"] == kind)
        for kind in (MULTIPLIERS, MEMORIES)
    }
    sites = {
        MULTIPLIERS: [site for y in die.multipliers for site in die.row(MULTIPLIERS, y)],
        MEMORIES: [site for y in die.memories for site in die.row(MEMORIES, y)],
    }
    for kind, key in ((MULTIPLIERS, "multipliers"), (MEMORIES, "memories")):
        if len(named[kind]) > len(sites[kind]):
            raise InputError(key, len(named[kind]), f"{device} has {len(sites[kind])}")
    placed = _multipliers(named[MULTIPLIERS], die)
    placed |= _memories(named[MEMORIES], placed, sites[MEMORIES])
    pinned = {
        name: cell | {"attributes": cell["attributes"] | {"BEL": str(placed[name])}}
        if name in placed
        else cell
        for name, cell in cells.items()
    }
    top = netlist["modules"]["top"] | {"cells": pinned}
    return netlist | {"modules": netlist["modules"] | {"top": top}}


def _lane(name: str) -> int | None:
    """The lane whose part it is."""
    found = re.search(r"\.lane_(\d+)\.", name)
    return int(found[1]) if found else None


def _multipliers(names: list[str], die: Die) -> dict[str, Site]:
    """The generator's, then lane by lane, in as few rows as they need, equally long."""
    lanes: dict[int, list[str]] = {}
    for name in names:
        if (lane := _lane(name)) is not None:
            lanes.setdefault(lane, []).append(name)
    others = [name for name in names if _lane(name) is None]
    each = len(die.row(MULTIPLIERS, 0))
    rows = -(-len(names) // each)
    most = -(-len(lanes) // rows)
    placed: dict[str, Site] = {}
    free: list[Site] = []
    for number, y in enumerate(die.multipliers):
        row = die.row(MULTIPLIERS, y)
        mine = [name for lane in sorted(lanes)[number * most :][:most] for name in lanes[lane]]
        begin = len(row) - len(mine)
        placed |= dict(zip(mine, row[begin:], strict=True))
        free += row[:begin]
    return placed | dict(zip(others, free, strict=False))


def _memories(names: list[str], placed: dict[str, Site], sites: list[Site]) -> dict[str, Site]:
    """Each the free site nearest to what it feeds; first come what has the longest way."""
    lanes: dict[int, list[Site]] = {}
    others = []
    for name, site in placed.items():
        lane = _lane(name)
        (others if lane is None else lanes.setdefault(lane, [])).append(site)
    if not lanes:
        return {}
    at = {lane: [sum(s.x for s in l) / len(l), l[0].y] for lane, l in lanes.items()}
    wanted: list[tuple[str, float, float]] = []
    for buffer in ("rotated", "gathered"):
        columns = [
            sorted((n for n in names if f"{buffer}.bank_{bank}." in n), key=_column)
            for bank in range(2)
        ]
        for bank, group in enumerate(columns):
            for column, name in enumerate(group):
                # An element goes to a lane as it stands, and to another as a pair's.
                element = (column + 0.5) / len(group) * len(lanes)
                users = [int(element), int(bank * len(lanes) / 2 + element / 2)]
                x, y = (sum(at[user][axis] for user in users) / 2 for axis in range(2))
                wanted.append((name, x, y))
    wanted += [
        (name, sum(s.x for s in others) / len(others), others[0].y)
        for name in names
        if others and re.search(r"\.(sincos|pairs_low|pairs_high)\.", name)
    ]
    wanted += [(name, *at[lane]) for name in names if (lane := _lane(name)) is not None]
    taken: dict[str, Site] = {}
    free = list(sites)
    for name, x, y in wanted:
        nearest = min(free, key=lambda site: abs(site.x - x) + abs(site.y - y))
        free.remove(nearest)
        taken[name] = nearest
    return taken


def _column(name: str) -> int:
    return int(name.rsplit("_", 1)[-1])
