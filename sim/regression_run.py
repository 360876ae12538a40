# SPDX-License-Identifier: Apache-2.0
"""Runs a regression's cases side by side, keeps what each gave, and sums it up."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from ropeway.golden.engines import Progress, silent

from .pool import as_they_come
from .regression import Case, Outcome, run_case, sources_hash

__all__ = ["as_junit", "as_markdown", "run_cases", "shard", "summary"]

SUMMED = ("elements", "loads", "resets", "clocks", "seconds")


def shard(cases: Sequence[Case], part: int, parts: int) -> list[Case]:
    """Every ``parts``-th case from the ``part``-th on, counted from 1."""
    return list(cases[part - 1 :: parts])


def run_cases(
    cases: Sequence[Case],
    folder: Path,
    *,
    jobs: int = 1,
    address: str | None = None,
    progress: Progress = silent,
) -> list[Outcome]:
    """Run the cases that ``folder`` has no outcome of yet, of these very sources; all outcomes.

    ``jobs`` at a time on this machine, or on the cluster whose dask scheduler is at ``address``.
    Each outcome is kept as soon as it is there, so that what is broken off can be gone on with; one
    that failed is run again.
    """
    store = folder / sources_hash()
    store.mkdir(parents=True, exist_ok=True)
    outcomes = {case: kept for case in cases if (kept := _kept(store, case))}
    pending = [case for case in cases if case not in outcomes]
    for outcome in as_they_come(run_case, pending, jobs=jobs, address=address):
        _keep(store, outcome)
        outcomes[outcome.case] = outcome
        progress(outcome.case.name, len(outcomes), len(cases))
    return [outcomes[case] for case in cases]


def _place(store: Path, case: Case) -> Path:
    return store / f"{case.name.replace(', ', '_').replace(' ', '-')}.json"


def _kept(store: Path, case: Case) -> Outcome | None:
    """The outcome of a case that passed before."""
    try:
        outcome = Outcome.from_dict(json.loads(_place(store, case).read_text()))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return outcome if outcome.case == case and not outcome.failure else None


def _keep(store: Path, outcome: Outcome):
    place = _place(store, outcome.case)
    written = place.with_suffix(f".{os.getpid()}")
    written.write_text(json.dumps(outcome.as_dict(), indent=1) + "\n")
    written.replace(place)


def summary(outcomes: Sequence[Outcome]) -> dict:
    """Sums by core and engine, and in all, as plain values, and every outcome."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.case.group, []).append(outcome)
    return {
        "sources": sources_hash(),
        "total": _sums(outcomes),
        "groups": {name: _sums(some) for name, some in groups.items()},
        "outcomes": [outcome.as_dict() for outcome in outcomes],
    }


def _sums(outcomes: Sequence[Outcome]) -> dict:
    paused = sum(o.elements for o in outcomes if o.case.idle or o.case.stall)
    sums = {name: sum(getattr(o, name) for o in outcomes) for name in SUMMED}
    failed = sum(bool(o.failure) for o in outcomes)
    sums["seconds"] = round(sums["seconds"], 1)
    return {"cases": len(outcomes), "failed": failed, "paused_elements": paused} | sums


def as_markdown(found: dict) -> str:
    """The sums as a table, and each failure in a line."""
    heads = (
        "core, engine",
        "cases",
        "failed",
        "elements",
        "with pauses",
        "loads",
        "resets",
        "clocks",
        "s",
    )
    rows = [heads, ("---",) * len(heads)]
    for name, sums in [*found["groups"].items(), ("all", found["total"])]:
        keys = ("cases", "failed", "elements", "paused_elements", *SUMMED[1:])
        rows.append((name, *(f"{sums[key]:,}" for key in keys)))
    lines = [f"| {' | '.join(row)} |" for row in rows]
    failed = [outcome for outcome in found["outcomes"] if outcome["failure"]]
    lines += [f"- {Case(**o['case']).name}: {o['failure']}" for o in failed]
    return "\n".join(lines) + "\n"


def as_junit(outcomes: Sequence[Outcome]) -> bytes:
    """The outcomes in the form that CI servers read."""
    suite = ET.Element(
        "testsuite",
        name="ropeway regress",
        tests=str(len(outcomes)),
        failures=str(sum(bool(outcome.failure) for outcome in outcomes)),
        time=f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    )
    for outcome in outcomes:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=outcome.case.group,
            name=outcome.case.name,
            time=f"{outcome.seconds:.3f}",
        )
        if outcome.failure:
            ET.SubElement(case, "failure", message=outcome.failure)
    return ET.tostring(suite, encoding="utf-8", xml_declaration=True)
