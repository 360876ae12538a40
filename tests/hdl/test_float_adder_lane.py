# SPDX-License-Identifier: Apache-2.0
"""A floating-point lane adds a row's word to an element as golden does, whatever they are."""

import numpy as np
import pytest

from ropeway.golden.adder import SCALE_ONE, add_rows, scale_word
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.floats import FORMATS
from ropeway.golden.sinusoidal import ROW_BITS, ROW_FRACTION_BITS
from ropeway.hdl.float_adder_lane import FloatAdderLane
from tests.golden.float_sum_accuracy import corners, pairs, waves
from tests.hdl.benches import clock_through

each_format = pytest.mark.parametrize("name", FORMATS)


def run_lane(lane, x: np.ndarray, rows: np.ndarray, passes: np.ndarray, scale: int):
    """Sums and flags of elements, one a clock; scale is a word of scale_word."""
    inputs = {"element": x, "word": rows, "passes": passes}
    if hasattr(lane, "scale"):
        inputs["scale"] = np.full(len(x), scale)
    found = clock_through(lane, inputs, ["o", "saturated"], extra=lane.latency)
    return found["o"][lane.latency :], found["saturated"][lane.latency :]


def check(p: AdderParameters, lane, some, *, passes: bool = False) -> int:
    """Every sum must be golden's; how many saturated."""
    x, rows = (np.concatenate(part) for part in zip(*((s[0], s[1]) for s in some), strict=True))
    fixed, scale = some[0].row_fraction_bits, some[0].scale or SCALE_ONE
    still = np.random.default_rng(9).integers(0, 2 if passes else 1, len(x))
    found, flags = run_lane(lane, x, rows, still, scale)
    # A column of golden's is a token, so that each may pass.
    wanted, saturated = add_rows(
        p, x[:, None], rows[:, None], fixed, scale=scale, passes=still == 1
    )
    wrong = np.flatnonzero(found != wanted[:, 0])
    assert not wrong.size, [int(part[wrong[0]]) for part in (x, rows, found, wanted[:, 0])]
    assert flags.sum() == saturated
    return saturated


def waves_of(name: str, scale: int | None) -> list:
    """Terms of words and sines with a scale, or without; corners first."""
    floats, random = FORMATS[name], np.random.default_rng(2)
    some = [*corners(floats), *waves(floats, random, 600)]
    return [sums for _, sums in some if sums.row_fraction_bits and sums.scale == scale]


@each_format
def test_two_words_are_added_every_clock_as_golden_does(name):
    p = AdderParameters(format=name)
    some = [sums for _, sums in pairs(FORMATS[name], np.random.default_rng(1), 2000)]
    some += [sums for _, sums in corners(FORMATS[name]) if sums.row_fraction_bits is None]
    assert check(p, FloatAdderLane(p, 16, None), some) > 0
    check(p, FloatAdderLane(p, 16, None), some[-1:], passes=True)


@each_format
@pytest.mark.parametrize("factor", [None, 1.5, 384**0.5, 1 + 2**-17, 32767.5])
def test_a_scaled_element_and_a_sine_are_added_every_clock_as_golden_does(name, factor):
    scale = None if factor is None else scale_word(factor)
    p = AdderParameters(format=name, scaled=scale is not None)
    some = waves_of(name, scale)
    assert len(some) > 5
    check(p, FloatAdderLane(p, ROW_BITS, ROW_FRACTION_BITS), some)
    check(p, FloatAdderLane(p, ROW_BITS, ROW_FRACTION_BITS), some[:1], passes=True)
