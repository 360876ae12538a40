# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG text whose colours are the page's: lines, bars and digital waves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

__all__ = ["STYLE", "Bar", "Series", "bar_chart", "line_chart", "standalone", "wave_chart"]

STYLE = """
:root { color-scheme: light dark; --paper: #fbfbf8; --ink: #17242f; --soft: #5c6b76;
  --grid: #dfe4e4; --c1: #1f6f8b; --c2: #8fb8c4; --c3: #d1603d; --c4: #b59a3c; --card: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --paper: #10171d; --ink: #e6ecee; --soft: #9bacb5;
  --grid: #2a3740; --c1: #57b3cf; --c2: #3b6f80; --c3: #ef8a66; --c4: #d9bf62; --card: #172129; } }
svg text { font-size: 12px; fill: var(--ink); font-family: system-ui, "Open Sans", sans-serif; }
.grid { stroke: var(--grid); } .line { fill: none; stroke-width: 2; }
.ink1 { stroke: var(--c1); } .ink2 { stroke: var(--c2); } .ink3 { stroke: var(--c3); }
.ink4 { stroke: var(--c4); }
.ink1.bar, .ink1.mark { fill: var(--c1); } .ink2.bar, .ink2.mark { fill: var(--c2); }
.ink3.bar, .ink3.mark { fill: var(--c3); } .ink4.bar, .ink4.mark { fill: var(--c4); }
.bar { stroke: none; }
"""
"""The charts' colours, for light and for dark, as a page or a file of a chart alone has them."""

WIDTH, LINE_HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 14, 46
BAR, GAP, CHARACTER = 16, 7, 6.6  # pixels; a letter's mean width


@dataclass(frozen=True)
class Series:
    """A line through ``points`` (x, y), drawn in the page's colour ``ink`` (1, 2, 3 …)."""

    name: str
    points: Sequence[tuple[float, float]]
    ink: int = 1
    dashed: bool = False


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart: its ``parts`` stand end to end, each (length, colour, title)."""

    label: str
    parts: Sequence[tuple[float, int, str]]
    said: str


class Axis:
    """Where a number stands between two pixels, by its size or by its logarithm."""

    def __init__(self, values: Sequence[float], pixels: tuple[float, float], *, log: bool):
        self.log, self.pixels = log, pixels
        low, high = min(values), max(values)
        if log:
            self.low, self.high = floor(log10(low)), ceil(log10(high))
            self.high += self.high == self.low
            step = max(1, (self.high - self.low) // 6)
            self.ticks = [10.0**n for n in range(self.low, self.high + 1, step)]
        else:
            step = _round_step(high / 5)
            self.low, self.high = 0.0, ceil(high / step) * step
            self.ticks = [step * n for n in range(round(self.high / step) + 1)]

    def at(self, value: float) -> float:
        """The pixel of a value."""
        share = ((log10(value) if self.log else value) - self.low) / (self.high - self.low)
        return self.pixels[0] + share * (self.pixels[1] - self.pixels[0])


def line_chart(
    title: str,
    x_title: str,
    y_title: str,
    series: Sequence[Series],
    *,
    x_log: bool = False,
    y_log: bool = False,
    ticks: Sequence[float] = (),
) -> str:
    """Lines over two axes, a mark at each point; ``ticks`` are the x axis's own, if any."""
    xs = [x for line in series for x, _ in line.points] + list(ticks)
    ys = [y for line in series for _, y in line.points]
    x = Axis(xs, (LEFT, WIDTH - RIGHT), log=x_log)
    y = Axis(ys, (LINE_HEIGHT - BOTTOM, TOP + 18 * len(series)), log=y_log)
    parts = []
    for tick in y.ticks:
        at = y.at(tick)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
        )
        parts.append(_text(LEFT - 8, at + 4, si(tick), "end"))
    below = LINE_HEIGHT - BOTTOM + 18
    parts += [_text(x.at(tick), below, si(tick), "middle") for tick in ticks or x.ticks]
    parts.append(_text((LEFT + WIDTH) / 2, LINE_HEIGHT - 8, x_title, "middle"))
    middle = LINE_HEIGHT / 2
    parts.append(
        f'<text x="14" y="{middle}" text-anchor="middle"'
        f' transform="rotate(-90 14 {middle})">{escape(y_title)}</text>'
    )
    for number, line in enumerate(series):
        parts += _line(line, x, y)
        at = TOP + 18 * number
        dashes = ' stroke-dasharray="6 4"' if line.dashed else ""
        parts.append(
            f'<line class="ink{line.ink} line" x1="{LEFT + 8}" x2="{LEFT + 34}" y1="{at}" y2="{at}"'
            f"{dashes}/>"
        )
        parts.append(_text(LEFT + 42, at + 4, line.name))
    return _svg(title, WIDTH, LINE_HEIGHT, parts)


def _line(line: Series, x: Axis, y: Axis) -> list[str]:
    places = [(x.at(a), y.at(b), a, b) for a, b in line.points]
    path = " ".join(f"{left:.1f},{top:.1f}" for left, top, *_ in places)
    dashes = ' stroke-dasharray="6 4"' if line.dashed else ""
    parts = [f'<polyline class="ink{line.ink} line" points="{path}"{dashes}/>']
    for left, top, a, b in places:
        said = f"{line.name}: {si(a)}, {si(b)}"
        parts.append(
            f'<circle class="ink{line.ink} mark" cx="{left:.1f}" cy="{top:.1f}" r="3.5">'
            f"<title>{escape(said)}</title></circle>"
        )
    return parts


def bar_chart(
    title: str,
    bars: Sequence[Bar],
    *,
    log: bool = False,
    width: int = WIDTH,
    legend: Sequence[str] = (),
) -> str:
    """Horizontal bars, each with its label before it and what it says after it.

    ``legend`` names the parts of every bar, in the order of their colours.
    """
    left = 14 + CHARACTER * max(len(bar.label) for bar in bars)
    right = 14 + CHARACTER * max(len(bar.said) for bar in bars)
    totals = [sum(size for size, *_ in bar.parts) for bar in bars]
    ends = [total for total in totals if total > 0]
    if log:
        ends += [bar.parts[0][0] for bar in bars]
    axis = Axis(ends or [1.0], (left, width - right), log=log)
    parts, above = [], TOP
    if legend:
        above += BAR + GAP
        parts += _legend(legend, left)
    for number, (bar, total) in enumerate(zip(bars, totals, strict=True)):
        top, start, reached = above + number * (BAR + GAP), left, 0.0
        parts.append(_text(left - 8, top + 12, bar.label, "end"))
        for size, ink, said in bar.parts:
            reached += size
            end = axis.at(reached) if reached > 0 else left
            parts.append(
                f'<rect class="ink{ink} bar" x="{start:.1f}" y="{top}" height="{BAR}"'
                f' width="{max(0.0, end - start):.1f}"><title>{escape(said)}</title></rect>'
            )
            start = end
        end = axis.at(total) if total > 0 else left
        parts.append(_text(end + 8, top + 12, bar.said))
    return _svg(title, width, above + TOP + len(bars) * (BAR + GAP), parts)


def _legend(names: Sequence[str], left: float) -> list[str]:
    parts = []
    for ink, name in enumerate(names, 1):
        parts.append(
            f'<rect class="ink{ink} bar" x="{left:.1f}" y="{TOP}" width="12" height="12"/>'
        )
        parts.append(_text(left + 18, TOP + 11, name))
        left += 40 + CHARACTER * len(name)
    return parts


def wave_chart(title: str, waves: Mapping[str, Sequence[int]], *, clock: int = 9) -> str:
    """Single bits clock by clock, each ``clock`` pixels wide, under a ruler of tens."""
    left = 14 + CHARACTER * max(map(len, waves))
    count = max(map(len, waves.values()))
    height = TOP * 2 + 20 + 30 * len(waves)
    parts = []
    for tick in range(0, count + 1, 10):
        at = left + tick * clock
        parts.append(f'<line class="grid" x1="{at}" x2="{at}" y1="26" y2="{height - TOP}"/>')
        parts.append(_text(at, 18, str(tick), "middle"))
    for number, (name, bits) in enumerate(waves.items()):
        base = 58 + 30 * number
        parts.append(_text(left - 8, base - 3, name, "end"))
        path = [f"M{left},{base - 16 * bits[0]}"]
        for place, bit in enumerate(bits):
            path.append(f"V{base - 16 * bit}H{left + (place + 1) * clock}")
        ink = 1 + ("ready" in name) + 2 * ("last" in name)
        parts.append(f'<path class="ink{ink} line" d="{"".join(path)}"/>')
    return _svg(title, int(left + count * clock + RIGHT), height, parts)


def si(value: float) -> str:
    """A number in few letters: 1.5k, 20M, 0.25."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}" if value == 0 or abs(value) >= 1e-3 else f"{value:.0e}"


def _round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is no less."""
    if least <= 0:
        return 1.0
    power = 10.0 ** floor(log10(least))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= least * (1 - 1e-9))


def _text(x: float, y: float, said: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'


def standalone(svg: str) -> str:
    """A chart as a file of its own."""
    return svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).replace(
        ">\n", f">\n<style>{STYLE}</style>\n", 1
    )


def _svg(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    inner = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title, quote=True)}">'
        f"\n{inner}\n</svg>\n"
    )
