# SPDX-License-Identifier: Apache-2.0
"""What the figures share: their style, two kinds of panel, and the file; needs matplotlib."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .prompt import PROMPT

__all__ = ["INK", "MAIN", "MARK", "PALE", "STYLE", "draw_causal", "draw_error", "panels", "save"]

INK, MAIN, MARK, PALE = "#1b2a38", "#1f6f8b", "#d1603d", "#7f9aa8"
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


def panels() -> tuple[Figure, list[Axes]]:
    """A figure of four panels, row by row; to be made and filled under ``STYLE``."""
    figure = Figure(figsize=(11, 8), layout="constrained")
    return figure, figure.subplots(2, 2).ravel().tolist()


def save(figure: Figure, title: str, path: Path | str):
    """Write a figure as a PNG under its title."""
    figure.suptitle(title, fontsize=13, x=0.01, ha="left")
    figure.savefig(path, dpi=160)


def draw_causal(axes: Axes, held: np.ndarray, label: str):
    """Scores [queries, keys] of the prompt, each query with every key before it."""
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
    axes.figure.colorbar(image, ax=axes, shrink=0.8, label=label)


def draw_error(axes: Axes, errors: np.ndarray, bound: float, what: str):
    """How far the hardware's words are from float64 mathematics, in LSB, and what bounds that."""
    axes.hist(errors.ravel(), bins=121, range=(-0.75, 0.75), color=MAIN)
    for side in (-bound, bound):
        axes.axvline(side, color=MARK, linestyle="--")
    most, rms = np.abs(errors).max(), np.sqrt(np.mean(errors**2))
    axes.set_xlim(-1.15, 1.15)
    axes.set_xlabel("error in LSB of 16-bit data (dashed: the bound)")
    axes.set_ylabel(what)
    axes.set_title(f"Error: at most {most:.2f} LSB, {rms:.2f} r.m.s.")
