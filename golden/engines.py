# SPDX-License-Identifier: Apache-2.0
"""A batch through the two software engines, and the distance between them."""

from collections.abc import Callable
from dataclasses import replace
from math import sqrt

import numpy as np

from .batch import RopeBatch, Selection
from .exact import cos_sin, rotate_exact
from .parameters import RopeParameters
from .rotation import rope, rotate
from .sincos import phase, row
from .table import HeadPattern, PhaseTable

__all__ = ["Progress", "exact", "golden", "lsb_error", "silent"]

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


def silent(_what: str, _done: int, _total: int):
    """No progress to show."""


def exact(batch: RopeBatch, progress: Progress = silent) -> dict[str, np.ndarray]:
    """The batch rotated by float64 mathematics, in its own units; unrotated kinds as they are."""
    out = {kind: np.array(array, dtype=np.float64) for kind, array in batch.heads.items()}
    done = 0
    for slot, at in batch.blocks():
        for kind, turned in _exact_block(batch, slot, at).items():
            out[kind][at] = turned
        done += _size(at)
        progress("exact mathematics", done, batch.tokens)
    return out


def golden(
    parameters: RopeParameters, batch: RopeBatch, progress: Progress = silent
) -> tuple[dict[str, np.ndarray], int]:
    """The words of a batch rotated bit for bit as the hardware does, and how many saturated."""
    out = {kind: words.copy() for kind, words in batch.heads.items()}
    saturated, done = 0, 0
    for slot, at in batch.blocks():
        table = batch.tables[slot]
        if batch.pure:
            table = replace(table, amplitude=0, scale=0)
        hot = "q" in out and batch.temperature_words[at].any()
        if hot:
            out["q"][at], count = _queries(parameters, batch, table, at)
            saturated += count
        if not table.bypass:
            phases = phase(table, batch.positions[at], batch.conjugate)
            coefficients = row(parameters, table, phases)
            for kind in batch.rotated:
                if hot and kind == "q":
                    continue
                heads = out[kind][at]  # a view where the block is a slice: turned in place
                _, count = rotate(parameters, table, coefficients, heads, out=heads)
                saturated += count
                if not isinstance(at, slice):
                    out[kind][at] = heads
        done += _size(at)
        progress("golden model", done, batch.tokens)
    return out, saturated


def _queries(
    parameters: RopeParameters, batch: RopeBatch, table: PhaseTable, at: Selection
) -> tuple[np.ndarray, int]:
    """A block's queries with their temperatures, whole, and how many elements saturated."""
    queries = batch.heads["q"][at]
    pattern = HeadPattern(queries.shape[1], 0, rotated=table.pattern.rotated)
    return rope(
        parameters,
        replace(table, pattern=pattern),
        queries,
        batch.positions[at],
        conjugate=batch.conjugate,
        temperature=batch.temperature_words[at],
    )


def lsb_error(
    batch: RopeBatch, words: dict[str, np.ndarray], progress: Progress = silent
) -> tuple[float, float]:
    """How far result ``words`` are from exact mathematics: the most, and the r.m.s., in LSB.

    ``batch`` has the words that went in. Over every element that turns, saturated ones too, and all
    of queries that have a temperature.
    """
    most, squares, count, done = 0.0, 0.0, 0, 0
    for slot, at in batch.blocks():
        geometry = batch.geometries[slot]
        rotary = slice(geometry.rotary_offset, geometry.rotary_offset + geometry.rotary_dim)
        hot = batch.temperature_words[at].any()
        for kind, turned in _exact_block(batch, slot, at).items():
            part = slice(None) if hot and kind == "q" else rotary
            error = words[kind][at][..., part] - turned[..., part]
            most = max(most, float(np.max(np.abs(error), initial=0)))
            squares += float(np.vdot(error, error))
            count += error.size
        done += _size(at)
        progress("error against exact mathematics", done, batch.tokens)
    return most, sqrt(squares / max(count, 1))


def _exact_block(batch: RopeBatch, slot: int, at: Selection) -> dict[str, np.ndarray]:
    geometry = batch.geometries[slot]
    cos, sin = cos_sin(
        np.array(geometry.inv_freq, dtype=np.float64),
        batch.positions[at],
        1.0 if batch.pure else geometry.attention_factor,
        np.array(geometry.axes, dtype=np.intp),
    )
    turned = {
        kind: rotate_exact(
            batch.heads[kind][at],
            cos,
            sin,
            geometry.pairing,
            geometry.rotary_offset,
            conjugate=batch.conjugate,
        )
        for kind in batch.rotated
    }
    if "q" in turned:
        turned["q"] *= batch.temperatures[at][:, None, None]
    return turned


def _size(at: Selection) -> int:
    return at.stop - at.start if isinstance(at, slice) else len(at)
