# SPDX-License-Identifier: Apache-2.0
"""The tables of a report, for the README, for a document of their own and for a page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ropeway.golden.generators import generator_interval

from .devices import DEVICES
from .svg import si

__all__ = ["Table", "as_markdown", "designs_table", "document", "tables", "with_tables"]

CELLS = {
    "luts": "LUT4 (Yosys)",
    "placed": "logic cells (nextpnr)",
    "multipliers": "multipliers",
    "memories": "block RAMs",
}
SECTION = re.compile(r"(<!-- begin (figures|speed)\b[^\n]*-->\n).*?(<!-- end \2 -->)", re.DOTALL)


@dataclass(frozen=True)
class Table:
    """Rows of cells under their heads; ``said`` is what stands before them."""

    title: str
    said: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def tables(report: dict) -> list[Table]:
    """Every table for which the report has something."""
    found = [designs_table(report)]
    if report.get("schemes"):
        found.append(schemes_table(report))
    if report.get("models"):
        found.append(models_table(report))
    if report.get("speed"):
        found.append(speed_table(report))
    return found


WIDTH = ("engines", "lanes", "data_bits")


def designs_table(report: dict) -> Table:
    """What each unit takes and gives."""
    heads = ["unit", "device", "lanes × bits", "MHz, median (seeds)", "a second", "heads"]
    rows = []
    for e in report["designs"].values():
        parameters = e["parameters"]
        seeds = ", ".join(f"{value:.0f}" for value in e["seeds_mhz"].values())
        rate = next(name for name in e if name.endswith("_per_second"))
        rows.append(
            [
                e["title"],
                DEVICES[e["device"]].title,
                " × ".join(str(parameters[each]) for each in WIDTH if each in parameters),
                f"{e['median_mhz']:.0f} ({seeds})",
                f"{_rate(e[rate])} {rate.removesuffix('_per_second')}",
                _heads(e),
                f"{e['latency_clocks']} clocks" if e["latency_clocks"] else "the memory's",
                *(str(e["cells"][name]) for name in CELLS),
            ]
        )
    said = (
        "Each unit alone and whole, between registers; latency from a position to its result. A"
        " RoPE engine's rate is that of tokens of so many heads or more, which the row that is made"
        " meanwhile serves; twice its lanes divide head_dim. Where engines are several, each has"
        " streams of its own, and so many heads in them. Of one with a floorplan"
        " the multipliers and memories are pinned: docs/engine.md says how."
    )
    return Table("Units", said, [*heads, "latency", *CELLS.values()], rows)


def _heads(entry: dict) -> str:
    """How many, wholly turned, take as long as their row."""
    p = entry["parameters"]
    if entry["scheme"] != "rope":
        return "any"
    return str(p["lanes"] * generator_interval(p["generator"], p["position_bits"]))


def schemes_table(report: dict) -> Table:
    """The work of each scheme for one token."""
    heads = ["scheme", "example", "operation", "a token", "bytes in, out", "operations a byte"]
    rows = [
        [
            each["scheme"],
            each["example"],
            each["operation"],
            f"{each['operations_per_token']:,}",
            f"{each['bytes_in']:,}, {each['bytes_out']:,}",
            f"{each['operations_per_byte']:.3g}",
            each["bound"],
            f"{si(each['table_bits'])}bit",
            f"{si(each['stored_bits'])}bit" if each["stored_bits"] else "—",
        ]
        for each in report["schemes"]
    ]
    said = (
        "What one token takes of each scheme, and what its tables hold against one stored for the"
        " whole context. All of them move more than they compute: they belong in the stream."
    )
    return Table("Work", said, [*heads, "bound by", "table", "stored for the context"], rows)


def models_table(report: dict) -> Table:
    """Tokens a second of every preset."""
    heads = ["model", "scheme", "unit", "clocks a token", "tokens/s, one layer", "whole model"]
    rows = [
        [
            each["model"],
            each["scheme"],
            each["unit"],
            f"{each['clocks_per_token']:,}",
            si(each["layer_tokens_per_second"]),
            si(each["model_tokens_per_second"]),
        ]
        for each in report["models"]
    ]
    said = (
        "One unit at its median clock rate, and the same unit doing every layer in turn. A model of"
        " several geometries is counted layer by layer; biases are those of 2,048 keys."
    )
    return Table("Models", said, heads, rows)


def speed_table(report: dict) -> Table:
    """How fast the software is."""
    rows = [[each["what"], each["rate"], each["than"]] for each in report["speed"]]
    said = "One core, NumPy arrays in and out; measured by `make speed`."
    return Table("Speed of the software", said, ["what", "rate", "against"], rows)


def as_markdown(table: Table) -> str:
    """A table's heads and rows."""
    rows = [table.heads, ["---"] * len(table.heads), *table.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def document(report: dict) -> str:
    """All tables as one document."""
    parts = [
        "# Report\n",
        "Written by `ropeway report --accept`; the page beside it has figures.\n",
    ]
    for table in tables(report):
        parts += [f"## {table.title}\n", f"{table.said}\n", as_markdown(table)]
    return "\n".join(parts)


def with_tables(readme: str, report: dict) -> str:
    """The README's text with its tables made of the report."""
    made = {"figures": as_markdown(designs_table(report))}
    if report.get("speed"):
        made["speed"] = as_markdown(speed_table(report))
    return SECTION.sub(lambda found: found[1] + made.get(found[2], "") + found[3], readme)


def _rate(value: float) -> str:
    return f"{value / 1e9:.2f} G" if value >= 1e8 else f"{value / 1e6:.0f} M"
