# SPDX-License-Identifier: Apache-2.0
"""The figure of ALiBi, drawn from what came out of the hardware."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

from .demo_alibi import AlibiDemonstration
from .figure import INK, MAIN, MARK, PALE, STYLE, draw_causal, draw_error, panels, save
from .prompt import CAPITAL, PROMPT, QUERY, QUESTION

__all__ = ["draw"]

COLOURS = (MARK, MAIN, INK, PALE)


def draw(shown: AlibiDemonstration, path: str | Path):
    """Write the figure of a demonstration whose claims have all been made."""
    with mpl.rc_context(STYLE):
        figure, (bias, ladder, order, error) = panels()
        _draw_bias(bias, shown)
        _draw_ladder(ladder, shown)
        draw_causal(order, shown.prefill[:, shown.slopes.argmax()] * shown.lsb, "score and bias")
        order.set_title("Causal scores of the steepest head")
        draw_error(error, shown.errors, 0.5, "scores that are not masked")
        title = f"“{QUESTION}” through BLOOM's scores, as simulated hardware biased them"
        save(figure, title, path)


def _draw_bias(axes: Axes, shown: AlibiDemonstration):
    """What the last query's scores gained, key by key."""
    gained = (shown.prefill[QUERY] - shown.words[QUERY]) * shown.lsb
    keys = np.arange(len(PROMPT))
    steepest_first = np.argsort(-shown.slopes)
    shares = np.linspace(0, len(gained) - 1, len(COLOURS)).astype(int)
    for head, colour in zip(steepest_first[shares], COLOURS, strict=True):
        axes.plot(keys, gained[head], "o-", color=colour, label=f"head {head}")
    axes.set_xticks(keys, PROMPT)
    axes.set_ylabel("bias on the score of “?”")
    axes.set_title("The bias falls by one slope a token")
    axes.legend(loc="lower right")


def _draw_ladder(axes: Axes, shown: AlibiDemonstration):
    """Every head's slope, as the bias at a known distance shows it."""
    distance = QUERY - CAPITAL
    gained = shown.words[QUERY, :, CAPITAL] - shown.prefill[QUERY, :, CAPITAL]
    heads = np.arange(len(gained))
    axes.semilogy(heads, shown.slopes * shown.lsb, color=PALE, linewidth=4, label="the model's")
    axes.semilogy(heads, gained * shown.lsb / distance, ".", color=MAIN, label="the hardware's")
    axes.set_xlabel("head")
    axes.set_ylabel("slope a token")
    axes.set_title(f"A slope a head, {len(heads)} of them")
    axes.legend()
