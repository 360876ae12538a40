# SPDX-License-Identifier: Apache-2.0
"""The figures of a report, each made of the report alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .devices import DEVICES
from .svg import Bar, Series, bar_chart, line_chart, si, wave_chart

__all__ = ["ERROR_TITLE", "Figure", "critical_parts", "figures"]

STEP = re.compile(r"([0-9.]+) ns (\S+)")
ERROR_TITLE = "Error against position"
KINDS = ("logic", "routing", "clock to output", "setup")


@dataclass(frozen=True)
class Figure:
    """A chart, under its title; ``said`` is what to see in it, ``wide`` that it needs room."""

    title: str
    said: str
    svg: str
    wide: bool = False


def figures(report: dict) -> list[Figure]:
    """Every figure for which the report has something."""
    makers = (_lanes, _efficiency, _accuracy, _critical, _models, _waveform)
    return [figure for make in makers for figure in make(report)]


def _rope(report: dict) -> dict[str, dict]:
    """The RoPE engines that differ from the first in their lanes alone."""
    first = report["designs"].get("rope")
    if first is None:
        return {}
    rest = {k: v for k, v in first["parameters"].items() if k not in ("lanes", "generator")}
    return {
        name: e
        for name, e in report["designs"].items()
        if e["device"] == first["device"] and {k: e["parameters"].get(k) for k in rest} == rest
    }


def _lanes(report: dict) -> Iterator[Figure]:
    found = sorted(_rope(report).values(), key=lambda e: e["parameters"]["lanes"])
    if len(found) < 2:
        return
    lanes = [e["parameters"]["lanes"] for e in found]
    device = DEVICES[found[0]["device"]].title

    def line(name: str, ink: int, values: list[float]) -> Series:
        return Series(name, list(zip(lanes, values, strict=True)), ink)

    area = [
        line("logic cells, placed", 1, [e["cells"]["placed"] for e in found]),
        line("LUT4, synthesized", 2, [e["cells"]["luts"] for e in found]),
    ]
    yield Figure(
        "Area against lanes",
        f"The RoPE engine of 16 bits on {device}. A lane turns one pair a clock.",
        line_chart("Area against lanes", "lanes", "cells", area, ticks=lanes),
    )
    clocks = [
        line("best seed", 2, [max(e["seeds_mhz"].values()) for e in found]),
        line("median", 1, [e["median_mhz"] for e in found]),
        line("worst seed", 3, [min(e["seeds_mhz"].values()) for e in found]),
    ]
    ceiling = DEVICES[found[0]["device"]].ceiling
    limit = Series("block RAM's shortest pulse", [(n, ceiling) for n in lanes], 4, dashed=True)
    yield Figure(
        "Clock rate against lanes",
        "As nextpnr estimates it, seed by seed; no figure is quoted above the dashed line.",
        line_chart("Clock rate against lanes", "lanes", "MHz", [*clocks, limit], ticks=lanes),
    )


def _efficiency(report: dict) -> Iterator[Figure]:
    rows = [(n, e) for n, e in report["designs"].items() if e.get("pairs_per_second")]
    for title, cell, said in (
        ("Pairs a second for each multiplier", "multipliers", "a multiplier"),
        ("Pairs a second for each LUT", "luts", "a LUT4"),
    ):
        bars = []
        for name, e in rows:
            if count := e["cells"][cell]:
                rate = e["pairs_per_second"] / count
                bars.append(Bar(name, [(rate, 1, f"{name}: {si(rate)}")], f"{si(rate)}"))
        if bars:
            text = f"Every RoPE engine's sustained rate, for {said} of those it takes."
            yield Figure(title, text, bar_chart(title, bars))


def _accuracy(report: dict) -> Iterator[Figure]:
    if not (found := report.get("accuracy")):
        return
    at = found["position"]
    title = ERROR_TITLE
    series = [
        Series("float32, as GPUs compute it", list(zip(at, found["float32"], strict=True)), 3),
        Series("Ropeway, 16-bit words", list(zip(at, found["ropeway"], strict=True)), 1),
    ]
    crossing = next(
        p for p, a, b in zip(at, found["ropeway"], found["float32"], strict=True) if b > a
    )
    yield Figure(
        title,
        f"The largest error of a turned pair against exact mathematics, {found['model']}. A phase"
        f" held as a fraction of a turn does not lose bits with distance; a float32 angle does, and"
        f" is the worse of the two from about position {crossing} on.",
        line_chart(title, "position", "LSB of 16 bits", series, x_log=True, y_log=True),
    )


def _models(report: dict) -> Iterator[Figure]:
    models = report.get("models") or []
    bars = []
    for each in sorted(models, key=lambda m: -m["model_tokens_per_second"]):
        layer, model = each["layer_tokens_per_second"], each["model_tokens_per_second"]
        parts = [
            (model, 1, f"{each['model']}: {si(model)} tokens/s through every layer"),
            (max(0.0, layer - model), 2, f"{each['model']}: {si(layer)} tokens/s of one layer"),
        ]
        bars.append(Bar(each["model"], parts, f"{si(model)} · {si(layer)}"))
    if bars:
        title = "Tokens a second by model"
        yield Figure(
            title,
            "A unit of up to four lanes at its median clock, doing every layer of a model in turn,"
            " and one layer alone (the whole bar). Lengths are logarithmic.",
            bar_chart(title, bars, log=True, width=1100, legend=("every layer", "one layer")),
            wide=True,
        )


def _waveform(report: dict) -> Iterator[Figure]:
    if waves := report.get("waveform"):
        title = "Three tokens, clock by clock"
        yield Figure(
            title,
            "Recorded in simulation: a small core of two lanes. The second token's position comes"
            " late, and the taker stalls once; nothing is lost and no bubble is left behind.",
            wave_chart(title, {name: [*map(int, bits)] for name, bits in waves.items()}),
            wide=True,
        )


def _critical(report: dict) -> Iterator[Figure]:
    bars = []
    for name, e in report["designs"].items():
        sums = critical_parts(e["critical_path"])
        parts = [
            (sums[kind], ink, f"{name}: {kind} {sums[kind]:.2f} ns")
            for ink, kind in enumerate(KINDS, 1)
        ]
        bars.append(Bar(name, parts, f"{sum(sums.values()):.2f} ns"))
    if bars:
        title = "Critical path of each design"
        yield Figure(
            title,
            "Of the slowest seed, from register to register; the steps are at the end of the page.",
            bar_chart(title, bars, legend=KINDS),
        )


def critical_parts(path: list[str]) -> dict[str, float]:
    """Nanoseconds of a critical path by kind; a carry chain is logic."""
    sums: dict[str, float] = dict.fromkeys(KINDS, 0.0)
    for step in path:
        if found := STEP.match(step):
            kind = {"clk-to-q": "clock to output", "chain": "logic"}.get(found[2], found[2])
            sums[kind if kind in sums else "logic"] += float(found[1])
    return sums
