# SPDX-License-Identifier: Apache-2.0
"""The demonstration's figure, drawn from what came out of the hardware; needs matplotlib."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .demo import FAR, Demonstration
from .prompt import PROMPT, QUERY, Heads, scores

__all__ = ["draw", "save"]

INK, ROPE, YARN, PALE = "#1b2a38", "#1f6f8b", "#d1603d", "#c9d6df"
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}


def draw(shown: Demonstration, path: str | Path):
    """Write the figure of a demonstration whose claims have all been made."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 8), layout="constrained")
        (relative, order), (stream, error) = figure.subplots(2, 2)
        _draw_relative(relative, shown)
        _draw_order(order, shown)
        _draw_stream(stream, shown)
        _draw_error(error, shown)
        question = " ".join(PROMPT[:-1]) + PROMPT[-1]
        title = f"“{question}” through a Llama-3.1-8B layer, as simulated hardware rotated it"
        save(figure, title, path)


def save(figure: Figure, title: str, path: Path | str):
    """Write a figure as a PNG under its title."""
    figure.suptitle(title, fontsize=13, x=0.01, ha="left")
    figure.savefig(path, dpi=160)


def _draw_relative(axes: Axes, shown: Demonstration):
    """A query's scores at two places of the context, and under another table."""

    def of(heads: Heads) -> np.ndarray:
        size = shown.scale["q"] * shown.scale["k"] / np.sqrt(shown.geometry.head_dim)
        return scores(heads["q"], heads["k"])[:, QUERY].mean(axis=0) * size

    keys = np.arange(len(PROMPT))
    axes.plot(keys, of(shown.prefill), "o-", color=ROPE, label="llama3, positions 0 … 6")
    axes.plot(
        keys,
        of(shown.far),
        "o",
        color=INK,
        markersize=11,
        fillstyle="none",
        label=f"llama3, positions {FAR:,} … {FAR + QUERY:,}",
    )
    axes.plot(keys, of(shown.yarn), "s--", color=YARN, label="YaRN ×4, the other slot")
    axes.set_xticks(keys, PROMPT)
    axes.set_ylabel("q·k / √d, mean of 32 heads")
    axes.set_title("Scores of “?” depend on distance alone")
    axes.legend(loc="upper left")


def _draw_order(axes: Axes, shown: Demonstration):
    """Every query with every key before it."""
    held = scores(shown.prefill["q"], shown.prefill["k"]).mean(axis=0)
    held = held * shown.scale["q"] * shown.scale["k"] / np.sqrt(shown.geometry.head_dim)
    future = np.triu(np.ones_like(held, dtype=bool), 1)
    image = axes.imshow(np.ma.masked_array(held, future), cmap="YlGnBu")
    for query, key in zip(*np.nonzero(~future), strict=True):
        dark = held[query, key] > np.mean(held[~future])
        axes.text(
            key,
            query,
            f"{held[query, key]:.1f}",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if dark else INK,
        )
    ticks = np.arange(len(PROMPT))
    axes.set_xticks(ticks, PROMPT)
    axes.set_yticks(ticks, PROMPT)
    axes.set_xlabel("key")
    axes.set_ylabel("query")
    axes.figure.colorbar(image, ax=axes, shrink=0.8, label="q·k / √d")
    axes.set_title("Causal scores from the hardware's words")


def _draw_stream(axes: Axes, shown: Demonstration):
    """Beats out against clocks, while a table is loaded."""
    result = shown.stream
    clocks, beats = result.result_clocks, np.arange(1, len(result.result_clocks) + 1)
    each = len(clocks) // len(result.packets)
    start, colours = 0, (ROPE, INK, "#7f9aa8", YARN)
    for (name, tokens), colour in zip(shown.stream_segments.items(), colours, strict=True):
        part = slice(start, start + tokens * each)
        axes.plot(clocks[part], beats[part], color=colour, linewidth=3, label=name)
        start += tokens * each
    load = result.load_clocks[len(result.load_clocks) // 2 :]
    axes.axvspan(load[0], load[-1], color=YARN, alpha=0.35, linewidth=0)
    axes.annotate(
        f"YaRN table loads:\n{len(load)} words, no idle beat",
        (load[-1], np.interp(load[-1], clocks, beats)),
        xytext=(0.2, 0.75),
        textcoords="axes fraction",
        arrowprops={"arrowstyle": "->", "color": INK},
    )
    axes.set_xlabel("clock")
    axes.set_ylabel("beats out")
    axes.set_title("One beat a clock, through every change of geometry")
    axes.legend(loc="lower right")


def _draw_error(axes: Axes, shown: Demonstration):
    """How far the hardware's words are from float64 mathematics; position 0 turns nothing."""
    axes.hist(shown.errors[1:].ravel(), bins=121, range=(-0.75, 0.75), color=ROPE)
    for bound in (-1, 1):
        axes.axvline(bound, color=YARN, linestyle="--")
    most, rms = np.abs(shown.errors).max(), np.sqrt(np.mean(shown.errors**2))
    axes.set_xlim(-1.15, 1.15)
    axes.set_xlabel("error in LSB of 16-bit data (dashed: the bound)")
    axes.set_ylabel("elements of Q and K past position 0")
    axes.set_title(f"Error: at most {most:.2f} LSB, {rms:.2f} r.m.s.")
