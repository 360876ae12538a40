# SPDX-License-Identifier: Apache-2.0
"""Rotated bf16 and fp16 words: how exact they are, and what infinities, NaNs and zeros become."""

import numpy as np
import pytest

from ropeway.golden.errors import InputError
from ropeway.golden.floats import FORMATS
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope
from ropeway.golden.table import HeadPattern, Pairing, PhaseTable, amplitude_code
from ropeway.golden.temperature import temperature_word
from tests.geometries import POSITIONS, SHAPES, float_words
from tests.golden.float_accuracy import AMPLITUDES, BOUNDS, worst

SAMPLE = 1 << 13
QUARTER, EIGHTH = 1 << 46, 1 << 45
each_format = pytest.mark.parametrize("floats", FORMATS.values(), ids=FORMATS)
INF, NAN = np.inf, np.nan


def turned(floats, values, increment, *, position=1, amplitude=1.0, temperature=0):
    """The words of one pair turned, and how many saturated."""
    code, scale = amplitude_code(amplitude)
    table = PhaseTable(
        (increment,), 2, HeadPattern(1, 0), Pairing.ADJACENT, amplitude=code, scale=scale
    )
    p = RopeParameters(lanes=1, format=floats.name, temperature=True)
    words = floats.from_float64(np.array([[values]], dtype=float)).astype(np.int64)
    at = np.array([position])
    out, saturated = rope(p, table, words, at, temperature=np.array([temperature]))
    return out[0, 0] & 0xFFFF, saturated


@each_format
@pytest.mark.parametrize("amplitude", AMPLITUDES)
def test_the_error_is_within_its_bound(floats, amplitude):
    found = worst(floats, amplitude, SAMPLE, seed=amplitude[0] % 1000)
    assert len(found) == 7
    for kind, (most, mean, eager, eager_mean) in found.items():
        assert 0.45 < most <= BOUNDS[floats.name], kind
        assert eager > 1 > most, kind
        assert mean < eager_mean, kind


@each_format
@pytest.mark.parametrize(
    ("position", "expected"), [(0, [3, 5]), (1, [-5, 3]), (2, [-3, -5]), (3, [5, -3])]
)
def test_quarter_turns_are_exact(floats, position, expected):
    words, _ = turned(floats, [3, 5], QUARTER, position=position)
    assert floats.to_float64(words).tolist() == expected


@each_format
@pytest.mark.parametrize(
    ("pair", "increment", "expected"),
    [
        ([INF, 1], EIGHTH, [INF, INF]),
        ([1, INF], EIGHTH, [-INF, INF]),
        ([INF, INF], EIGHTH, [NAN, INF]),
        ([INF, -INF], EIGHTH, [INF, NAN]),
        ([-INF, -INF], EIGHTH, [NAN, -INF]),
        ([INF, 1], 0, [INF, NAN]),  # sin is 0
        ([1, INF], QUARTER, [-INF, NAN]),  # cos is 0
        ([NAN, 1], EIGHTH, [NAN, NAN]),
        ([1, NAN], 0, [NAN, NAN]),
        ([NAN, INF], EIGHTH, [NAN, NAN]),
    ],
)
def test_infinities_and_nans_propagate_as_ieee_754_has_it(floats, pair, increment, expected):
    words, saturated = turned(floats, pair, increment)
    assert np.array_equal(floats.to_float64(words), expected, equal_nan=True)
    assert all(word == floats.nan for word in words[np.isnan(expected)])
    assert saturated == 0


@each_format
def test_a_result_of_zero_is_positive_and_one_that_rounds_to_zero_keeps_its_sign(floats):
    negative_zero = 1 << 15
    assert turned(floats, [-0.0, -0.0], 0)[0].tolist() == [0, 0]
    assert turned(floats, [1, -0.0], 0)[0][1] == 0
    smallest = floats.to_float64(1)
    out, _ = turned(floats, [-smallest, 0], 1 << 43)  # sin of a thirty-second of a turn: 0.195
    assert out.tolist() == [1 | negative_zero, negative_zero]


@each_format
def test_the_smaller_element_is_rounded_to_a_unit_of_2_to_the_minus_16_of_the_larger(floats):
    unit = 2.0**-16
    for given, kept in (
        (unit / 2, unit),
        (-unit / 2, -unit),
        (unit * 0.4375, 0),
        (1.5 * unit, 2 * unit),
    ):
        assert floats.to_float64(turned(floats, [1, given], 0)[0]).tolist() == [1, kept]


@each_format
def test_what_overflows_becomes_infinite_and_is_counted(floats):
    largest = floats.to_float64(floats.infinity - 1)
    words, saturated = turned(floats, [largest, largest], EIGHTH)
    assert words.tolist() == [0, floats.infinity]
    assert saturated == 1
    words, saturated = turned(floats, [-largest, 1], 0, amplitude=2.0)
    assert words[0] == floats.infinity | 1 << 15
    assert saturated == 1


@each_format
def test_elements_that_do_not_turn_pass_with_their_payloads_and_signs(floats):
    random = np.random.default_rng(0)
    p = RopeParameters(format=floats.name)
    for table in SHAPES.values():
        heads = float_words(random, (5, table.pattern.heads, table.head_dim), floats)
        out, _ = rope(p, table, heads, np.array(POSITIONS[:5]))
        still, end = ~table.pattern.rotates, table.rotary_offset + table.rotary_dim
        assert np.array_equal(out[:, still], heads[:, still])
        assert np.array_equal(out[..., : table.rotary_offset], heads[..., : table.rotary_offset])
        assert np.array_equal(out[..., end:], heads[..., end:])
        assert table.bypass == np.array_equal(out, heads)


@each_format
def test_a_temperature_rounds_an_element_that_does_not_turn_by_itself(floats):
    p = RopeParameters(lanes=1, format=floats.name, temperature=True)
    table = PhaseTable((), 4, HeadPattern(1, 0))
    values = np.array([1e4, 2.0**-14 * 1.5, INF, 2.0])
    words = floats.from_float64(values).astype(np.int64)[None, None]
    heat = np.array([temperature_word(1.5)])
    out, _ = rope(p, table, words, np.array([9]), temperature=heat)
    exact = 1.5 * floats.to_float64(words[0, 0])
    assert np.array_equal(out[0, 0], floats.from_float64(exact))


@each_format
def test_integer_types_of_words_do_not_matter(floats):
    p, table = RopeParameters(format=floats.name), SHAPES["phi-2"]
    heads = float_words(np.random.default_rng(1), (3, 4, 80), floats)
    out, _ = rope(p, table, heads, np.arange(3))
    for kind in (np.int16, np.uint16, np.int32):
        again, _ = rope(p, table, heads.astype(kind), np.arange(3))
        assert again.dtype == kind
        assert np.array_equal(again.astype(np.int16), out)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"format": "fp8"}, "format"),
        ({"format": "bf16", "data_bits": 12}, "bits"),
        ({"format": "bf16", "multipliers": 3}, "multipliers"),
        ({"format": "fp16", "output_bits": 8}, "output_bits"),
        ({"output_bits": 7}, "output_bits"),
        ({"data_bits": 12, "output_bits": 13}, "output_bits"),
    ],
)
def test_formats_and_widths_that_do_not_go_together_are_refused(given, key):
    with pytest.raises(InputError) as caught:
        RopeParameters(**given)
    assert caught.value.key == key
