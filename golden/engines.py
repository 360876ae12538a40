# SPDX-License-Identifier: Apache-2.0
"""A batch through the two software engines, and the distance between them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import sqrt

import numpy as np

from .batch import RopeBatch, Selection
from .exact import cos_sin, rotate_exact
from .floats import FloatFormat
from .parameters import RopeParameters
from .rotation import pair_slices, passed, rope, rotate
from .sincos import phase, row
from .table import HeadPattern, PhaseTable
from .ulp import ulp_errors

__all__ = ["Progress", "exact", "golden", "lsb_error", "silent", "ulp_error"]

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
        hot = bool(batch.temperature_words[at].any())
        turned = () if table.bypass else batch.rotated
        coefficients = row(parameters, table, phase(table, batch.positions[at], batch.conjugate))
        for kind, whole in out.items():
            heads = whole[at]  # a view where the block is a slice: turned in place
            if hot and kind == "q":
                heads, count = _queries(parameters, batch, table, at)
            elif kind in turned:
                _, count = rotate(parameters, table, coefficients, heads, out=heads)
            else:
                heads, count = passed(parameters, heads)
            whole[at] = heads
            saturated += count
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
    batch: RopeBatch,
    words: dict[str, np.ndarray],
    narrowed: int = 0,
    progress: Progress = silent,
) -> tuple[float, float]:
    """How far result ``words`` are from exact mathematics: the most, and the r.m.s., in LSB.

    ``batch`` has the words that went in; results, and their LSB, are ``narrowed`` bits shorter.
    Over every element that turns, saturated ones too, and all of queries that have a temperature.
    """

    def errors() -> Iterator[np.ndarray]:
        for slot, at in _watched_blocks(batch, progress):
            for kind, turned in _exact_block(batch, slot, at).items():
                part = _concerned(batch, slot, at, kind)
                yield words[kind][at][..., part] - turned[..., part] / 2**narrowed

    return _most_and_rms(errors())


def ulp_error(
    floats: FloatFormat,
    batch: RopeBatch,
    values: dict[str, np.ndarray],
    progress: Progress = silent,
) -> tuple[float, float]:
    """The same of floating-point results, in ulp of the larger of a pair's two exact results.

    ``batch`` has the values that went in, ``values`` those that came out; finite results count.
    """

    def errors() -> Iterator[np.ndarray]:
        for slot, at in _watched_blocks(batch, progress):
            for kind, turned in _exact_block(batch, slot, at).items():
                part = _concerned(batch, slot, at, kind)
                size = _pair_size(batch.tables[slot], turned)[..., part]
                yield ulp_errors(floats, values[kind][at][..., part], turned[..., part], size)

    return _most_and_rms(errors())


def _watched_blocks(batch: RopeBatch, progress: Progress) -> Iterator[tuple[int, Selection]]:
    done = 0
    for slot, at in batch.blocks():
        yield slot, at
        done += _size(at)
        progress("error against exact mathematics", done, batch.tokens)


def _concerned(batch: RopeBatch, slot: int, at: Selection, kind: str) -> slice:
    """The part of a kind's heads that is multiplied."""
    if kind == "q" and batch.temperature_words[at].any():
        return slice(None)
    geometry = batch.geometries[slot]
    return slice(geometry.rotary_offset, geometry.rotary_offset + geometry.rotary_dim)


def _pair_size(table: PhaseTable, turned: np.ndarray) -> np.ndarray:
    """The magnitude of each element, or of the larger one of its pair."""
    size = np.abs(turned)
    first, second = pair_slices(table)
    size[..., first] = size[..., second] = np.maximum(size[..., first], size[..., second])
    return size


def _most_and_rms(errors: Iterable[np.ndarray]) -> tuple[float, float]:
    most, squares, count = 0.0, 0.0, 0
    for error in errors:
        most = max(most, float(np.max(np.abs(error), initial=0)))
        squares += float(np.vdot(error, error))
        count += error.size
    return most, sqrt(squares / max(count, 1))


def _exact_block(batch: RopeBatch, slot: int, at: Selection) -> dict[str, np.ndarray]:
    geometry = batch.geometries[slot]
    cos, sin = cos_sin(
        np.array(geometry.inv_freq, dtype=np.float64),
        batch.positions[at],
        1.0 if batch.pure else geometry.attention_factor,
        np.array(geometry.axes, dtype=np.intp),
    )
    with np.errstate(invalid="ignore"):  # infinity times 0, of floating-point data
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
