# SPDX-License-Identifier: Apache-2.0
"""The figure of rotary positions, drawn from what came out of the hardware."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

from .demo_rope import RopeDemonstration
from .figure import INK, MAIN, MARK, PALE, STYLE, draw_causal, draw_error, panels, save
from .prompt import FAR, PROMPT, QUERY, QUESTION, Heads, scores

__all__ = ["draw"]


def draw(shown: RopeDemonstration, path: str | Path):
    """Write the figure of a demonstration whose claims have all been made."""
    with mpl.rc_context(STYLE):
        figure, (relative, order, stream, error) = panels()
        _draw_relative(relative, shown)
        held = scores(shown.prefill["q"], shown.prefill["k"]).mean(axis=0)
        held = held * shown.scale["q"] * shown.scale["k"] / np.sqrt(shown.geometry.head_dim)
        draw_causal(order, held, "q·k / √d")
        order.set_title("Causal scores from the hardware's words")
        _draw_stream(stream, shown)
        moved = shown.errors[1:]  # position 0 turns nothing
        draw_error(error, moved, 1, "elements of Q and K past position 0")
        title = f"“{QUESTION}” through a Llama-3.1-8B layer, as simulated hardware rotated it"
        save(figure, title, path)


def _draw_relative(axes: Axes, shown: RopeDemonstration):
    """A query's scores at two places of the context, and under another table."""

    def of(heads: Heads) -> np.ndarray:
        size = shown.scale["q"] * shown.scale["k"] / np.sqrt(shown.geometry.head_dim)
        return scores(heads["q"], heads["k"])[:, QUERY].mean(axis=0) * size

    keys = np.arange(len(PROMPT))
    axes.plot(keys, of(shown.prefill), "o-", color=MAIN, label="llama3, positions 0 … 6")
    axes.plot(
        keys,
        of(shown.far),
        "o",
        color=INK,
        markersize=11,
        fillstyle="none",
        label=f"llama3, positions {FAR:,} … {FAR + QUERY:,}",
    )
    axes.plot(keys, of(shown.yarn), "s--", color=MARK, label="YaRN ×4, the other slot")
    axes.set_xticks(keys, PROMPT)
    axes.set_ylabel("q·k / √d, mean of 32 heads")
    axes.set_title("Scores of “?” depend on distance alone")
    axes.legend(loc="upper left")


def _draw_stream(axes: Axes, shown: RopeDemonstration):
    """Beats out against clocks, while a table is loaded."""
    result = shown.stream
    clocks, beats = result.result_clocks, np.arange(1, len(result.result_clocks) + 1)
    each = len(clocks) // len(result.packets)
    start, colours = 0, (MAIN, INK, PALE, MARK)
    for (name, tokens), colour in zip(shown.stream_segments.items(), colours, strict=True):
        part = slice(start, start + tokens * each)
        axes.plot(clocks[part], beats[part], color=colour, linewidth=3, label=name)
        start += tokens * each
    load = result.load_clocks[len(result.load_clocks) // 2 :]
    axes.axvspan(load[0], load[-1], color=MARK, alpha=0.35, linewidth=0)
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
