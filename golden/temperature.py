# SPDX-License-Identifier: Apache-2.0
"""The query temperature of a token, bit for bit: a factor on its queries beside the rotation.

A temperature t stands in the position word as the amplitude does in a table's image: 18 bits of
signed code and a scale bit, t = 2^scale · (1 + code · 2^-18). The word 0 is t = 1; no known rule
goes below.

A query's row is made with the amplitude times t, and the elements of a query that do not turn are
multiplied by t itself, so that every element is rounded once. Llama 4 and Ministral 3 scale queries
so, by steps of the logarithm of the position.
"""

from dataclasses import replace

import numpy as np

from .errors import InputError
from .parameters import RopeParameters
from .sincos import Row
from .table import AMPLITUDE_BITS, LARGEST_UNSCALED_CODE, Pairing, PhaseTable, amplitude_code

__all__ = ["pass_through_row", "pass_through_tables", "temperature_word", "tempered"]

ONE = 1 << AMPLITUDE_BITS
LARGEST = ONE + LARGEST_UNSCALED_CODE
SMALLEST = ONE >> 1


def temperature_word(temperature: float) -> int:
    """A temperature from 1 up to 2√2 as the position word has it; InputError outside."""
    if not 1 <= temperature < 2 * 2**0.5:
        rule = "must be at least 1 and less than 2.828"
        raise InputError("query_temperature", temperature, rule)
    code, scale = amplitude_code(temperature)
    return code & ONE - 1 | scale << AMPLITUDE_BITS


def decoded(word: int) -> tuple[int, int]:
    """The code and the scale of a temperature's word."""
    code = word & ONE - 1
    return code - (code >> AMPLITUDE_BITS - 1 << AMPLITUDE_BITS), word >> AMPLITUDE_BITS & 1


def tempered(table: PhaseTable, word: int) -> tuple[PhaseTable, bool]:
    """A table with the amplitude of tempered queries, and whether that had to be clamped.

    The product is rounded once to 2^-18, and halved with one more rounding where it needs the
    scale bit. Up to the largest amplitude, 2√2; beyond, that is taken.
    """
    if word == 0:
        return table, False
    code, scale = decoded(word)
    product = ((ONE + table.amplitude) * (ONE + code) + (ONE >> 1)) >> AMPLITUDE_BITS
    product <<= table.scale + scale
    halves = product > LARGEST
    if halves:
        product = product + 1 >> 1
    clamped = min(max(product, SMALLEST), LARGEST)
    return replace(table, amplitude=clamped - ONE, scale=int(halves)), clamped != product


def pass_through_row(parameters: RopeParameters, word: int, shape: tuple[int, int]) -> Row:
    """Rows [tokens, pairs] that multiply by a temperature and turn nothing."""
    code, scale = decoded(word)
    dropped = AMPLITUDE_BITS - parameters.fraction_bits
    cosine = ONE + code + (1 << dropped - 1) >> dropped
    cos = np.full(shape, cosine, dtype=np.int32)
    return Row(cos, np.zeros_like(cos), parameters.fraction_bits - scale)


def pass_through_tables(table: PhaseTable, *, turns: bool) -> list[tuple[slice, PhaseTable]]:
    """The parts of a head outside its rotary part, each with a table that pairs its neighbours.

    All of the head where it does not turn.
    """
    start, end = table.rotary_offset, table.rotary_offset + table.rotary_dim
    spans = [(0, start), (end, table.head_dim)] if turns else [(0, table.head_dim)]
    return [
        (
            slice(low, high),
            replace(
                table,
                increments=(0,) * ((high - low) // 2),
                head_dim=high - low,
                pairing=Pairing.ADJACENT,
                rotary_offset=0,
                axes=(),
            ),
        )
        for low, high in spans
        if high > low
    ]
