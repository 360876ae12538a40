# SPDX-License-Identifier: Apache-2.0
"""Golden's bias against exact mathematics, to distances of 16 million."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from ropeway.golden.additive import alibi_slopes
from ropeway.golden.alibi import Form, alibi, alibi_exact, masked, scale_code
from ropeway.golden.alibi_parameters import SLOPE_BITS, AlibiParameters
from ropeway.golden.errors import InputError
from ropeway.golden.schedules import at_full_precision

WIDE = AlibiParameters(data_bits=32, fraction_bits=6)
FAR = (1 << 24) - 1


def fractions(slopes) -> list[int]:
    return [round(slope * (1 << SLOPE_BITS)) for slope in slopes]


@at_full_precision
def exact_bias(slope: Decimal, offset: int, fraction_bits: int) -> Decimal:
    return slope * offset * (1 << fraction_bits)


@pytest.mark.parametrize("bias_max", [8, 16])
@pytest.mark.parametrize("heads", [8, 12, 32, 40, 71, 112])
def test_an_unsaturated_bias_is_within_half_an_lsb_at_16_million(heads, bias_max):
    """½ LSB of rounding, and the slope's own: 2^-49 · distance, in LSB."""
    slopes = alibi_slopes(heads, Decimal(bias_max))
    keys = np.array([0, 1, FAR // 3, FAR - 1, FAR])
    out, saturated = alibi(
        WIDE, fractions(slopes), np.zeros((1, heads, 5), np.int64), np.array([FAR]), keys
    )
    bound = Decimal("0.5") + Decimal(FAR << WIDE.fraction_bits) / (2 << SLOPE_BITS)
    assert bound < Decimal("0.500002")
    assert saturated == 0
    for head, slope in enumerate(slopes):
        for number, key in enumerate(keys.tolist()):
            error = int(out[0, head, number]) - exact_bias(slope, key - FAR, WIDE.fraction_bits)
            assert abs(error) <= bound
    assert int(out.min()) < -(1 << 25)  # the steepest head's bias needs the wide word


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize(
    "parameters",
    [
        AlibiParameters(),
        AlibiParameters(data_bits=32),
        AlibiParameters(data_bits=8, fraction_bits=32),
        AlibiParameters(scaled=True),
        AlibiParameters(data_bits=18, fraction_bits=18, scaled=True),
    ],
    ids=lambda p: f"{p.data_bits}.{p.fraction_bits}" + " scaled" * p.scaled,
)
def test_every_sum_is_rounded_once_a_half_upwards(parameters, form):
    random = np.random.default_rng(int(parameters.fraction_bits))
    low, high = -(1 << parameters.data_bits - 1), (1 << parameters.data_bits - 1) - 1
    slopes = [1, (1 << 48) - 1, *fractions(alibi_slopes(4)), 1 << 47]
    scores = random.integers(low, high + 1, (3, len(slopes), 9))
    queries = np.array([0, 5, (1 << 25) - 1])
    keys = np.array([*range(6), -(1 << 25), (1 << 25) - 1, 1 << 24])
    code = scale_code(0.125) + 3 if parameters.scaled else 1 << 17
    out, count = alibi(
        parameters, slopes, scores, queries, keys, form=form, causal=False, scale=code
    )
    saturated = 0
    for (q, h, k), score in np.ndenumerate(scores):
        query, key = int(queries[q]), int(keys[k])
        offset = {"distance": key - query, "symmetric": -abs(key - query), "key": key}[form]
        bias = Fraction(slopes[h] * offset, 1 << SLOPE_BITS) * (1 << parameters.fraction_bits)
        total = int(score) * Fraction(code, 1 << 17) + bias
        rounded = (total + Fraction(1, 2)).__floor__()
        saturated += not low <= rounded <= high
        assert out[q, h, k] == min(max(rounded, low), high)
    assert count == saturated


def test_masks_hide_later_keys_and_those_behind_the_window():
    queries, keys = np.array([3, 4]), np.arange(6)
    assert np.array_equal(masked(queries, keys, window=2), [[1, 1, 0, 0, 1, 1], [1, 1, 1, 0, 0, 1]])
    assert not masked(queries, keys, causal=False).any()
    p = AlibiParameters(data_bits=8)
    out, saturated = alibi(p, [1 << 46], np.zeros((2, 1, 6), int), queries, keys)
    assert np.array_equal(out[:, 0] == -128, masked(queries, keys))
    assert saturated == 0


def test_float_mathematics_agrees():
    slopes, random = alibi_slopes(12), np.random.default_rng(0)
    p = AlibiParameters(data_bits=24, fraction_bits=10)
    scores = random.integers(-1000, 1000, (4, 12, 50))
    queries, keys = np.arange(46, 50), np.arange(50)
    for form in Form:
        out, _ = alibi(p, fractions(slopes), scores, queries, keys, form=form, causal=False)
        ideal = alibi_exact(np.array(slopes, float), scores / 1024, queries, keys, form=form)
        assert np.abs(out / 1024 - ideal).max() <= 0.5001 / 1024


def test_a_scale_out_of_range_is_refused():
    for scale in (0.0, -1.0, 2.0, 2**-19):
        with pytest.raises(InputError, match="score_scale"):
            scale_code(scale)


@pytest.mark.parametrize(
    ("field", "value"),
    [("lanes", 3), ("data_bits", 33), ("max_heads", 0), ("position_bits", 27)],
)
def test_parameters_out_of_range_are_refused_by_name(field, value):
    with pytest.raises(InputError):
        AlibiParameters(**{field: value})
    with pytest.raises(InputError, match="bits"):
        AlibiParameters(data_bits=19, scaled=True)
