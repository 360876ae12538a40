# SPDX-License-Identifier: Apache-2.0
"""Bit-true rotation: what the hardware's lanes make of every head of a token."""

import numpy as np

from .fixed import limits, round_half_up, saturate
from .float_rotation import rotate_floats
from .parameters import RopeParameters
from .sincos import Row, phase, row
from .table import Pairing, PhaseTable
from .temperature import pass_through_row, pass_through_tables, tempered

__all__ = ["pair_slices", "passed", "rope", "rotate", "temper"]

BLOCK_PAIRS = 1 << 14  # scratch of one block stays in a core's cache


def pair_slices(table: PhaseTable) -> tuple[slice, slice]:
    """Where the first and the second elements of a head's pairs stand."""
    start, stop = table.rotary_offset, table.rotary_offset + table.rotary_dim
    if table.pairing is Pairing.ADJACENT:
        return slice(start, stop, 2), slice(start + 1, stop, 2)
    return slice(start, start + table.pairs), slice(start + table.pairs, stop)


def rotate(
    parameters: RopeParameters,
    table: PhaseTable,
    coefficients: Row,
    heads: np.ndarray,
    out: np.ndarray | None = None,
) -> tuple[np.ndarray, int]:
    """Turn every head by its token's row; returns the result and how many elements saturated.

    ``heads`` are integers [tokens, heads, head_dim] of at most ``data_bits``, words where the
    format is floating-point; ``out``, of the same shape, may be ``heads`` itself. Exact products
    and sums, divided by 2^fraction_bits and what the output is narrower, rounded to nearest with a
    half upwards, saturated to ``output_bits``; words as golden/float_rotation.py has it. Elements
    outside the rotary part pass.
    """
    if out is None:
        out = np.empty_like(heads)
    saturated, end = 0, table.rotary_offset + table.rotary_dim
    for part in (slice(table.rotary_offset), slice(end, None)):
        if out is not heads or parameters.narrowed_bits:
            out[..., part], count = passed(parameters, heads[..., part])
            saturated += count
    return out, saturated + _turn(parameters, table, coefficients, heads, out)


def passed(parameters: RopeParameters, elements: np.ndarray) -> tuple[np.ndarray, int]:
    """Elements that do not turn, as wide as the output, and how many saturated."""
    if not parameters.narrowed_bits:
        return elements, 0
    rounded = round_half_up(elements.astype(np.int64), parameters.narrowed_bits)
    out = saturate(rounded, parameters.output_bits)
    return out, int(np.count_nonzero(out != rounded))


def _turn(
    parameters: RopeParameters,
    table: PhaseTable,
    coefficients: Row,
    heads: np.ndarray,
    out: np.ndarray,
    *,
    apart: bool = False,
) -> int:
    """Turn the pairs of ``heads`` into ``out``; returns how many elements saturated.

    ``apart`` says that sines are zero, and no element concerns its partner. float64 holds every
    sum here exactly (data 18 bits + coefficient 18 bits + 1), and runs faster than 64-bit integers.
    """
    first, second = pair_slices(table)
    if parameters.floating:
        pairs = heads[..., first], heads[..., second]
        words, saturated = rotate_floats(parameters.floating, coefficients, *pairs, apart=apart)
        out[..., first], out[..., second] = (part.astype(out.dtype) for part in words)
        return saturated

    low, high = limits(parameters.output_bits)
    unit = 2.0 ** -(coefficients.fraction_bits + parameters.narrowed_bits)
    tokens, count, _ = heads.shape
    step = max(1, BLOCK_PAIRS // max(1, count * table.pairs))
    scratch = np.empty((6, min(step, tokens), count, table.pairs))
    saturated = 0
    for start in range(0, tokens, step):
        block = slice(start, start + step)
        cos = coefficients.cos[block, None, :] * unit
        sin = coefficients.sin[block, None, :] * unit
        x, y, xc, ys, xs, yc = scratch[:, : cos.shape[0]]
        np.copyto(x, heads[block, :, first])
        np.copyto(y, heads[block, :, second])
        np.multiply(x, cos, out=xc)
        np.multiply(y, sin, out=ys)
        np.multiply(x, sin, out=xs)
        np.multiply(y, cos, out=yc)
        for turned, where in (
            (np.subtract(xc, ys, out=xc), first),
            (np.add(xs, yc, out=xs), second),
        ):
            np.floor(np.add(turned, 0.5, out=turned), out=turned)
            np.clip(turned, low, high, out=x)
            saturated += int(np.count_nonzero(x != turned))
            np.copyto(out[block, :, where], x, casting="unsafe")
    return saturated


def rope(
    parameters: RopeParameters,
    table: PhaseTable,
    tokens: np.ndarray,
    positions: np.ndarray,
    *,
    conjugate: bool = False,
    temperature: np.ndarray | None = None,
) -> tuple[np.ndarray, int]:
    """Whole tokens through the engine: [tokens, heads, head_dim] in the table's head pattern.

    Heads of a kind that the pattern does not rotate, and all heads of a bypassing table, pass bit
    for bit, or rounded where the output is narrower. ``temperature`` [tokens] are words of
    golden/temperature.py, which scale query heads. Returns the result and how many elements
    saturated.
    """
    out, positions = tokens.copy(), np.asarray(positions)
    saturated = 0
    words = np.zeros(len(tokens), int) if temperature is None else np.asarray(temperature)
    for word in np.unique(words).tolist():
        at = np.flatnonzero(words == word)
        scaled = (table.pattern.kinds == 0) & (word != 0)
        turned = table.pattern.rotates & ~scaled & (table.pairs > 0)
        if parameters.narrowed_bits:
            still = np.ix_(at, ~(turned | scaled))
            out[still], count = passed(parameters, tokens[still])
            saturated += count
        if turned.any():
            coefficients = row(parameters, table, phase(table, positions[at], conjugate))
            heads, count = rotate(parameters, table, coefficients, tokens[at][:, turned])
            out[np.ix_(at, turned)] = heads
            saturated += count
        if scaled.any():
            queries = tokens[at][:, scaled]
            heads, count = temper(
                parameters, table, queries, positions[at], word, conjugate=conjugate
            )
            out[np.ix_(at, scaled)] = heads
            saturated += count
    return out, saturated


def temper(
    parameters: RopeParameters,
    table: PhaseTable,
    queries: np.ndarray,
    positions: np.ndarray,
    word: int,
    *,
    conjugate: bool = False,
) -> tuple[np.ndarray, int]:
    """Queries [tokens, heads, head_dim] turned, and all of them multiplied by a temperature.

    Returns the result and how many elements saturated; an amplitude out of range counts as one.
    """
    out, saturated = queries.copy(), 0
    turns = table.pairs > 0 and table.pattern.rotated[0]
    if turns:
        hotter, clamped = tempered(table, word)
        coefficients = row(parameters, hotter, phase(table, positions, conjugate))
        saturated += _turn(parameters, hotter, coefficients, queries, out) + clamped
    for span, part in pass_through_tables(table, turns=turns):
        coefficients = pass_through_row(parameters, word, (len(queries), part.pairs))
        part_out = out[..., span]
        saturated += _turn(parameters, part, coefficients, queries[..., span], part_out, apart=True)
    return out, saturated
