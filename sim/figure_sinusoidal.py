# SPDX-License-Identifier: Apache-2.0
"""The figure of sinusoidal positions, drawn from what came out of the hardware."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from .demo_sinusoidal import SinusoidalDemonstration
from .figure import INK, MAIN, MARK, PALE, STYLE, draw_error, panels, save
from .prompt import FAR, PROMPT, QUERY, QUESTION

__all__ = ["draw"]

COLOURS = (MARK, MAIN, INK, PALE)
SHOWN_ELEMENTS = 256


def draw(shown: SinusoidalDemonstration, path: str | Path):
    """Write the figure of a demonstration whose claims have all been made."""
    with mpl.rc_context(STYLE):
        figure, (rows, clocks, relative, error) = panels()
        _draw_rows(rows, shown)
        _draw_pairs(clocks, shown)
        _draw_relative(relative, shown)
        draw_error(error, shown.errors, 1, "elements of the prompt")
        title = f"“{QUESTION}” through Transformer-base's embeddings, as simulated hardware sums"
        save(figure, title, path)


def _draw_rows(axes: Axes, shown: SinusoidalDemonstration):
    """What each token gained, element by element."""
    image = axes.imshow(shown.rows[:, :SHOWN_ELEMENTS], aspect="auto", cmap="RdBu", vmin=-1, vmax=1)
    axes.set_yticks(np.arange(len(PROMPT)), PROMPT)
    axes.set_xlabel(f"element, the first {SHOWN_ELEMENTS} of {shown.geometry.width}")
    axes.figure.colorbar(image, ax=axes, shrink=0.8)
    axes.set_title("Rows of sines and cosines, none of them stored")


def _draw_pairs(axes: Axes, shown: SinusoidalDemonstration):
    """Sine and cosine of some pairs as hands of clocks, position by position."""
    axes.add_artist(Circle((0, 0), 1, fill=False, color=PALE))
    slow = shown.geometry.width // 8  # the quarter of the pairs that a prompt sees turn
    for pair, colour in zip((0, slow // 8, slow // 3, slow), COLOURS, strict=True):
        sine, cosine = shown.rows[:, 2 * pair], shown.rows[:, 2 * pair + 1]
        axes.plot(cosine, sine, "o-", color=colour, label=f"pair {pair}", linewidth=0.8)
    axes.set_aspect("equal")
    axes.set_xlim(-1.3, 2.6)
    axes.set_xlabel("cosine")
    axes.set_ylabel("sine")
    axes.set_title("Each pair is a clock of its own speed")
    axes.legend(loc="right")


def _draw_relative(axes: Axes, shown: SinusoidalDemonstration):
    """The last row's product with every row, at two places, and what mathematics says."""
    keys = np.arange(len(PROMPT))
    offsets = np.arange(0, QUERY, 0.05)
    expected = np.cos(np.outer(QUERY - offsets, shown.frequencies)).sum(axis=1)
    axes.plot(offsets, expected, color=PALE, label="Σ cos(ω · offset)")
    near, far = (rows @ rows[QUERY] for rows in (shown.rows, shown.far_rows))
    axes.plot(keys, near, "o", color=MAIN, label="positions 0 … 6")
    axes.plot(
        keys,
        far,
        "o",
        color=INK,
        markersize=11,
        fillstyle="none",
        label=f"positions {FAR:,} … {FAR + QUERY:,}",
    )
    axes.set_xticks(keys, PROMPT)
    axes.set_ylabel("product with the row of “?”")
    axes.set_title("Rows know their distance, wherever they are")
    axes.legend(loc="upper left")
