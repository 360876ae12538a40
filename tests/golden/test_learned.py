# SPDX-License-Identifier: Apache-2.0
"""A learned row is added exactly, saturated, and left out where the table has none."""

import numpy as np
import pytest

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import LearnedGeometry
from ropeway.golden.learned import add_learned, out_of_table
from tests.geometries import elements


@pytest.mark.parametrize("bits", [8, 12, 16, 18])
@pytest.mark.parametrize("offset", [0, 2])
def test_a_sum_is_the_exact_one_held_within_a_word(bits, offset):
    p, table = AdderParameters(data_bits=bits), LearnedGeometry(rows=30, width=64, offset=offset)
    random = np.random.default_rng(bits)
    rows = elements(random, (30, 64), bits)
    positions = np.arange(-offset, 30 - offset)
    data = elements(random, (30, 64), bits)
    sums, saturated = add_learned(p, table, rows, data, positions)
    exact = data.astype(np.float64) + rows
    held = np.clip(exact, -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1)
    assert np.array_equal(sums, held)
    assert saturated == np.count_nonzero(exact != held) > 0


def test_only_positions_within_the_table_have_a_row():
    table = LearnedGeometry(rows=1024, width=8, offset=2)
    wide = 1 << 25
    positions = np.array([-3, -2, -1, 0, 1021, 1022, 1023, 2045, wide - 1, -wide])
    found = out_of_table(table, positions)
    assert found.tolist() == [True, False, False, False, False, True, True, True, True, True]


def test_a_token_without_a_row_or_with_a_broken_one_is_unchanged_and_does_not_saturate():
    p, table = AdderParameters(), LearnedGeometry(rows=4, width=8)
    rows = np.full((4, 8), 32767)
    data = np.full((4, 8), 32767)
    broken = np.array([False, False, True, False])
    sums, saturated = add_learned(p, table, rows, data, np.array([-1, 4, 0, 1]), broken=broken)
    assert np.array_equal(sums, data)
    assert saturated == 8  # the last token's alone
