# SPDX-License-Identifier: Apache-2.0
"""A report as one page of HTML that needs nothing else: no network, no script, dark or light."""

from collections.abc import Sequence
from html import escape

from .report_figures import Figure, figures
from .report_tables import Table, tables
from .svg import STYLE

__all__ = ["page"]

ABOUT = (
    "Synthesis by Yosys, placing and routing by nextpnr, results by simulation. Clock rates are"
    " nextpnr's estimates; nothing here has run on a physical board."
)
LAYOUT = """
body { margin: 0 auto; max-width: 1180px; padding: 24px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, "Open Sans", sans-serif; }
h1 { font-size: 28px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 36px 0 8px; }
h3 { font-size: 16px; margin: 0 0 2px; } p { margin: 0 0 10px; max-width: 80ch; }
.soft, figcaption { color: var(--soft); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr));
  gap: 18px; }
figure { margin: 0; padding: 16px; background: var(--card); border: 1px solid var(--grid);
  border-radius: 10px; } figure.wide { grid-column: 1 / -1; }
svg { width: 100%; height: auto; display: block; margin-top: 8px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 13.5px; }
th, td { padding: 5px 12px 5px 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--grid); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; }
td { font-variant-numeric: tabular-nums; } summary { cursor: pointer; }
li { font: 12.5px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
"""


def page(report: dict) -> str:
    """The page's text."""
    tools = ", ".join(f"{name} {version}" for name, version in report["tools"].items())
    body = [
        "<h1>Ropeway, measured</h1>",
        f"<p>{ABOUT}</p>",
        f'<p class="soft">{escape(tools)}</p>',
        f'<div class="figures">{"".join(map(_figure, figures(report)))}</div>',
        *(_table(table) for table in tables(report)),
        _paths(report),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>Ropeway, measured</title><style>{STYLE}{LAYOUT}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _figure(figure: Figure) -> str:
    wide = ' class="wide"' if figure.wide else ""
    return (
        f"<figure{wide}><h3>{escape(figure.title)}</h3>"
        f"<figcaption>{escape(figure.said)}</figcaption>{figure.svg}</figure>"
    )


def _table(table: Table) -> str:
    rows = "\n".join(_row(row, "td") for row in table.rows)
    return (
        f"<h2>{escape(table.title)}</h2>\n<p>{escape(table.said)}</p>\n"
        f'<div class="scroll"><table>\n{_row(table.heads, "th")}\n{rows}\n</table></div>'
    )


def _row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _paths(report: dict) -> str:
    parts = ["<h2>Critical paths, step by step</h2>"]
    for name, e in report["designs"].items():
        steps = "".join(f"<li>{escape(step)}</li>" for step in e["critical_path"])
        slowest = min(e["seeds_mhz"].values())
        parts.append(
            f"<details><summary>{escape(name)}, {slowest:.0f} MHz</summary>"
            f"<ol>{steps}</ol></details>"
        )
    return "\n".join(parts)
