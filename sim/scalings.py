# SPDX-License-Identifier: Apache-2.0
"""``python -m ropeway.sim.scalings``: draw what each scaling does to pairs and to scores."""

import argparse
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ropeway.golden import RopeGeometry, geometry_of
from ropeway.golden.batch import rope_geometry
from ropeway.golden.needle import planted_needle

from .figure import INK, STYLE, save

__all__ = ["draw", "main"]

TRAINED, FACTOR = 8192, 32.0
STRETCHED = int(TRAINED * FACTOR)
CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": TRAINED,
    "rope_theta": 500000.0,
}
STATED = {"factor": FACTOR, "original_max_position_embeddings": TRAINED}
SCALINGS: dict[str, dict[str, Any]] = {
    "unscaled": {},
    "linear": {"rope_type": "linear", "factor": FACTOR},
    "NTK, raised base": {"rope_type": "ntk_theta", "factor": FACTOR},
    f"dynamic NTK ×2 at {STRETCHED:,}": {"rope_type": "dynamic", "factor": 2.0},
    "llama3": {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0, **STATED},
    "YaRN": {"rope_type": "yarn", **STATED},
    "proportional, p = ¼": {"rope_type": "proportional", "partial_rotary_factor": 0.25},
}
# A searched list belongs to its own model, which was stretched as far.
SEARCHED, SEARCHED_TRAINED = "phi-3.5-mini-instruct", 4096
LONGROPE = "longrope (Phi-3.5's list)"
# Okabe and Ito's colours, which stay apart for colour-blind readers; dashes serve in grey.
LINES: dict[str, dict[str, Any]] = {
    "unscaled": {"color": INK, "linestyle": ":"},
    "linear": {"color": "#0072b2", "linestyle": "--"},
    "NTK, raised base": {"color": "#009e73", "linestyle": "-."},
    f"dynamic NTK ×2 at {STRETCHED:,}": {"color": "#56b4e9", "linestyle": "-."},
    "llama3": {"color": "#cc79a7", "linestyle": (0, (5, 1))},
    "YaRN": {"color": "#d55e00", "linewidth": 2.5},
    "proportional, p = ¼": {"color": "#999999", "linestyle": (0, (1, 1)), "linewidth": 2.5},
    LONGROPE: {"color": "#e69f00", "marker": ".", "markersize": 4, "linewidth": 1},
}
COMPARED = ("unscaled", "linear", "YaRN")
SAMPLES = 24  # offsets of a half octave that are scored
NOISE = 1.645  # of ten random keys nine score within so many standard deviations


def draw(path: str | Path):
    """Write the figure of the pairs' frequencies and the needle's scores."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12, 5), layout="constrained")
        pairs, scores = figure.subplots(1, 2)
        _draw_pairs(pairs)
        _draw_needle(scores)
        title = f"A Llama-3 head stretched {FACTOR:.0f}×, from {TRAINED:,} to {STRETCHED:,} tokens"
        save(figure, title, path)


def _geometry(scaling: dict[str, Any]) -> RopeGeometry:
    return rope_geometry(geometry_of(CONFIG, scaling=scaling, context=STRETCHED))


def _ratios(scaled: RopeGeometry, unscaled: RopeGeometry) -> np.ndarray:
    """Each pair's frequency, after over before."""
    pairs = zip(scaled.inv_freq, unscaled.inv_freq, strict=True)
    return np.array([float(after / before) for after, before in pairs])


def _turns(unscaled: RopeGeometry, trained: int) -> np.ndarray:
    """How often each pair turns within the trained context."""
    return np.array([float(w) for w in unscaled.inv_freq]) * trained / (2 * np.pi)


def _draw_pairs(axes: Axes):
    """How far each scaling slows each pair, against how often the pair turned in training."""
    unscaled, lowest = _geometry({}), 1 / 128
    turns = _turns(unscaled, TRAINED)
    for name, scaling in SCALINGS.items():
        ratios = _ratios(_geometry(scaling), unscaled)
        # A pair that stands still has no place on this scale: its line leaves the panel.
        axes.plot(turns, np.maximum(ratios, lowest / 2), label=name, **LINES[name])
    plain = rope_geometry(geometry_of(SEARCHED, scaling={}))
    context = int(SEARCHED_TRAINED * FACTOR)
    searched = rope_geometry(geometry_of(SEARCHED, context=context))
    axes.plot(
        _turns(plain, SEARCHED_TRAINED),
        _ratios(searched, plain),
        label=LONGROPE,
        **LINES[LONGROPE],
    )
    for edge, said, side in (
        (32, "YaRN leaves these alone  ", "right"),
        (1, f"  YaRN divides these by {FACTOR:.0f}", "left"),
    ):
        axes.axvline(edge, color=INK, linewidth=0.6, alpha=0.5)
        axes.annotate(said, (edge, 1.2), ha=side, fontsize=8)
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.set_yscale("log", base=2)
    axes.set_ylim(lowest, 1.5)
    halvings = range(8)
    axes.set_yticks([2.0**-n for n in halvings], [f"1/{2**n}" if n else "1" for n in halvings])
    axes.set_xlabel("turns of a pair within the trained context, unscaled")
    axes.set_ylabel("frequency, scaled over unscaled")
    axes.set_title("How far each pair slows down")
    axes.legend(loc="upper right", bbox_to_anchor=(1, 0.92), fontsize=8)


def _draw_needle(axes: Axes):
    """The needle's score by offset: trials averaged over each half octave, their middle half."""
    edges = 2 ** np.arange(0, np.log2(STRETCHED) + 0.25, 0.5)
    octaves = [
        np.unique(np.linspace(low, high, SAMPLES).round().astype(int))
        for low, high in pairwise(edges)
    ]
    centres, ends = [part.mean() for part in octaves], np.cumsum([len(part) for part in octaves])
    axes.axhspan(-NOISE, NOISE, color=INK, alpha=0.08, linewidth=0)
    axes.text(1.2, 0, "nine of ten random keys", va="center", fontsize=8)
    axes.text(1.2, 12.5, f"linear: {FACTOR:.0f} neighbours score alike", fontsize=8)
    axes.text(1.2, 6.5, "YaRN: neighbours\nas far apart as unscaled", va="top", fontsize=8)
    for name in COMPARED:
        geometry = _geometry(SCALINGS[name])
        contrast = planted_needle(geometry, np.concatenate(octaves)).contrast
        of_octave = [part.mean(axis=0) for part in np.split(contrast, ends[:-1])]
        low, median, high = np.quantile(of_octave, (0.25, 0.5, 0.75), axis=1)
        axes.fill_between(centres, low, high, color=LINES[name]["color"], alpha=0.15, linewidth=0)
        axes.plot(centres, median, label=name, **LINES[name])
    for length, said in ((TRAINED, "trained"), (STRETCHED, "stretched")):
        axes.axvline(length, color=INK, linewidth=0.6, alpha=0.5)
        axes.annotate(f"{said}\n{length:,}", (length, 13.2), ha="right", va="top", fontsize=8)
    axes.set_xscale("log", base=2)
    axes.set_ylim(-2, 13.2)
    axes.set_xlabel("tokens from the needle to the query")
    axes.set_ylabel("needle's score, in standard deviations of a random key's")
    axes.set_title("How a planted needle stands out: a key that equals the query")
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 0.24),
        fontsize=8,
        title="1,000 random queries: median, middle half",
        title_fontsize=8,
        alignment="left",
    )


def main(argv: list[str] | None = None) -> int:
    """Draw the figure where the arguments say."""
    parser = argparse.ArgumentParser(prog="ropeway.sim.scalings", description=__doc__)
    parser.add_argument("-o", "--output", metavar="FILE", default="build/scalings.png", type=Path)
    path = parser.parse_args(argv).output
    path.parent.mkdir(parents=True, exist_ok=True)
    draw(path)
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
