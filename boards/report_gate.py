# SPDX-License-Identifier: Apache-2.0
"""What has become worse between two reports, beyond what is allowed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

__all__ = ["CLOCK_DROP", "GROWTH", "Finding", "findings"]

GROWTH = {"luts": 0.02, "placed": 0.02, "multipliers": 0.0, "memories": 0.0}
"""How much a count of cells may grow, as a share: synthesis shuffles LUTs when names change."""

CLOCK_DROP = 0.05
"""How much the median clock rate may fall: less than another seed may change it."""


@dataclass(frozen=True)
class Finding:
    """One figure of one design that is worse than it may be, and both of its values."""

    design: str
    figure: str
    before: Any
    after: Any
    rule: str

    def __str__(self) -> str:
        return f"{self.design}: {self.figure} = {self.after}, was {self.before}: {self.rule}"


def findings(before: dict, after: dict, names: Iterable[str] | None = None) -> list[Finding]:
    """Everything in a report that another does not allow; of the designs ``names``, default all.

    Cells grow by no more than ``GROWTH``, the median clock rate over the seeds of both falls by no
    more than ``CLOCK_DROP``, latency and clocks a token do not grow; no design, parameter or figure
    is dropped; and the configuration, the hash of the netlist, is that of the report before.
    """
    found = []
    for name in before["designs"] if names is None else names:
        old, new = before["designs"].get(name), after["designs"].get(name)
        if old is None:
            continue
        if new is None:
            found.append(Finding(name, "design", "reported", "absent", "must not be dropped"))
            continue
        found += _design(name, old, new)
    if names is None:
        for key in before:
            if key not in after:
                found.append(Finding("report", key, "reported", "absent", "must not be dropped"))
    return found


def _design(name: str, old: dict, new: dict) -> Iterator[Finding]:
    yield from _dropped(name, old, new)
    for key, most in GROWTH.items():
        was, now = old["cells"].get(key), new["cells"].get(key)
        if was is not None and now is not None and now > was * (1 + most):
            yield Finding(name, key, was, now, f"may grow by {most:.0%}")
    yield from _slower(name, old, new)
    for figure, was, now in _clocks(old, new):
        if was is not None and now is not None and now > was:
            yield Finding(name, figure, was, now, "must not grow")
    if new["configuration"] != old["configuration"]:
        was, now = old["configuration"][:12], new["configuration"][:12]
        yield Finding(name, "configuration", was, now, "another netlist: accept it if it is meant")


def _dropped(name: str, old: dict, new: dict) -> Iterator[Finding]:
    """What a design had and has no more; parameters that are others."""
    for key, value in old.items():
        if key not in new:
            yield Finding(name, key, "reported", "absent", "must not be dropped")
        elif isinstance(value, dict) and key != "seeds_mhz":
            for part in value:
                if part not in new[key]:
                    yield Finding(
                        name, f"{key}.{part}", value[part], "absent", "must not be dropped"
                    )
    for part, value in old["parameters"].items():
        now = new.get("parameters", {}).get(part, value)
        if now != value:
            yield Finding(name, f"parameters.{part}", value, now, "must not change")


def _slower(name: str, old: dict, new: dict) -> Iterator[Finding]:
    """The median over the seeds that both have: a seed gives the same result every time."""
    common = sorted(old["seeds_mhz"].keys() & new["seeds_mhz"].keys(), key=int)
    if not common:
        yield Finding(name, "seeds", ", ".join(old["seeds_mhz"]), "none of these", "must be common")
        return
    was, now = (round(median(e["seeds_mhz"][seed] for seed in common), 1) for e in (old, new))
    if now < was * (1 - CLOCK_DROP):
        what = f"MHz, median of seeds {', '.join(common)}"
        yield Finding(name, what, was, now, f"may fall by {CLOCK_DROP:.0%}")


def _clocks(old: dict, new: dict) -> Iterator[tuple[str, Any, Any]]:
    yield "latency_clocks", old.get("latency_clocks"), new.get("latency_clocks")
    was, now = old.get("simulated") or {}, new.get("simulated") or {}
    for key in was:
        yield key, was[key], now.get(key)
