# SPDX-License-Identifier: Apache-2.0
"""The figure of learned positions, drawn from what came out of the hardware."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

from .demo_learned import LearnedDemonstration
from .figure import INK, MAIN, MARK, PALE, STYLE, panels, save
from .prompt import PROMPT, QUERY, QUESTION

__all__ = ["draw"]

SHOWN_ELEMENTS = 128


def draw(shown: LearnedDemonstration, path: str | Path):
    """Write the figure of a demonstration whose claims have all been made."""
    with mpl.rc_context(STYLE):
        figure, (rows, apart, edges, stream) = panels()
        _draw_gained(rows, shown.prefill - shown.words, PROMPT)
        rows.set_title("What each token gained: its row of the table")
        _draw_apart(apart, shown)
        ticks = [f"position {token}" for token in shown.edges]
        _draw_gained(edges, np.stack(list(shown.edges.values())), ticks)
        edges.set_title("A position without a row gains nothing, and is marked")
        _draw_stream(stream, shown)
        title = f"“{QUESTION}” through GPT-2's embeddings, as simulated hardware added rows"
        save(figure, title, path)


def _draw_gained(axes: Axes, gained: np.ndarray, names):
    """Words added to tokens, element by element."""
    most = float(np.abs(gained[:, :SHOWN_ELEMENTS]).max())
    image = axes.imshow(
        gained[:, :SHOWN_ELEMENTS], aspect="auto", cmap="RdBu", vmin=-most, vmax=most
    )
    axes.set_yticks(np.arange(len(gained)), names)
    axes.set_xlabel(f"element, the first {SHOWN_ELEMENTS} of {gained.shape[1]}")
    axes.figure.colorbar(image, ax=axes, shrink=0.8, label="LSB")


def _draw_apart(axes: Axes, shown: LearnedDemonstration):
    """How far each gained row is from the last token's."""
    gained = (shown.prefill - shown.words).astype(float)
    keys = np.arange(len(PROMPT))
    axes.plot(keys, np.linalg.norm(gained - gained[QUERY], axis=1), "o-", color=MAIN)
    axes.set_xticks(keys, PROMPT)
    axes.set_ylabel("distance from the row of “?”, LSB")
    axes.set_title("Neighbouring rows are alike")


def _draw_stream(axes: Axes, shown: LearnedDemonstration):
    """Beats out against clocks, at once and in chunks."""
    for name, colour in zip(shown.clocks, (MAIN, INK, MARK, PALE), strict=False):
        clocks = shown.clocks[name]
        beats = np.arange(1, len(clocks) + 1)
        axes.plot(clocks - clocks[0], beats, ".", color=colour, markersize=2, label=name)
    axes.set_xlabel("clock, from the first beat")
    axes.set_ylabel("beats out")
    axes.set_title("Rows are read ahead of their data")
    axes.legend(loc="lower right", markerscale=4)
