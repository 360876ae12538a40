# SPDX-License-Identifier: Apache-2.0
"""The measured choices as a document."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ropeway.golden.sincos import ENTRY_BITS

from .report_tables import Table, as_markdown

__all__ = ["CHOICES", "COUNTED", "DOCUMENT", "document", "tables"]

ROOT = Path(__file__).resolve().parent.parent
CHOICES, DOCUMENT = ROOT / "boards" / "choices.json", ROOT / "docs" / "choices.md"
COUNTED = ("LUT4", "CCU2C", "TRELLIS_DPR16X4", "TRELLIS_FF", "MULT18X18D", "DP16KD")
CLOCKS = ("latency", "interval")
ABOUT = """\
Each alternative alone, between registers, synthesized by Yosys; errors by NumPy. `make choices`
measures them anew and writes this page.
"""
SAID = {
    "multipliers": """\
One lane, its pair of 16-bit elements turned with three products (the row holds c, c + s and s − c)
or with four. Both give the same bits. Three take a DSP less, and a lane of three also takes fewer
LUTs: they are taken where data and coefficients fit.
""",
    "row memory": """\
One lane's share of four rows for heads to 256. Distributed RAM would save two blocks a lane, of
which this part has 56, and take LUTs, its words' own and those that choose among them. Block RAM is
taken.
""",
    "output queue": """\
The results of an adder. When the taker stalls, beats are still on their way through the lanes, and
more follow before room is seen again: 16 is the first power of two that holds both. Distributed RAM
holds it at a cost that hardly changes up to there. (The RoPE engine has none: a result leaves the
buffer it was turned into as it is taken.)
""",
    "generator": """\
The whole generator of rows. One pair a clock is needed where a token's heads are few for its lanes;
with 32 + 8 heads on one lane a pair every 40 clocks is enough.
""",
    "phase": """\
A phase made from any position, against one that is kept and stepped. Adding saves the multipliers
and gives the same bits, but then a token can only be the one after the last: interleaved sequences,
a roll-back, a cache shift and a context parallel worker's block need the product.
""",
    "rom": """\
The largest error of a sine in units of 2^-17, the last bit of a coefficient, by the entries of the
quarter wave and the terms of the series after the look-up. One correction and 1,024 entries leave
less than a coefficient's rounding does, and the factor is the other half of the same look-up; a
second correction would cost multipliers for what cannot be seen. The last row is what the hardware
computes, with all its roundings.
""",
}


def tables(found: dict[str, Any]) -> list[Table]:
    """The measurements as tables."""
    made = []
    for question, rows in found.items():
        if question == "device":
            continue
        if question == "rom":
            heads = ["entries", "look-up alone", "one correction", "two corrections", "ROM, bits"]
            title = "ROM size against correction terms"
            made.append(Table(title, SAID[question], heads, _rom_rows(rows)))
            continue
        columns = [
            name for name in (*COUNTED, *CLOCKS) if any(row.get(name) for row in rows.values())
        ]
        cells = [[name, *(str(row.get(c, "—")) for c in columns)] for name, row in rows.items()]
        title = f"{question[0].upper()}{question[1:]}"
        made.append(Table(title, SAID[question], [found["device"], *columns], cells))
    return made


def _rom_rows(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    found = []
    for size in dict.fromkeys(row["entries"] for row in rows):
        errors = [f"{r['error']:g}" for r in rows if r["entries"] == size and "built" not in r]
        found.append([f"{size:,}", *errors, f"{size * ENTRY_BITS:,}"])
    (built,) = (row for row in rows if "built" in row)
    bits = f"{built['entries'] * ENTRY_BITS:,}"
    return [*found, [f"{built['entries']:,}, as built", "", f"{built['error']:g}", "", bits]]


def document(found: dict[str, Any]) -> str:
    """The measurements as a document."""
    parts = ["# Choices, measured\n", ABOUT]
    for table in tables(found):
        parts += [f"## {table.title}\n", table.said, as_markdown(table)]
    return "\n".join(parts)
