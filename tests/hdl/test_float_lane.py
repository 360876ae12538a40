# SPDX-License-Identifier: Apache-2.0
"""A floating-point lane turns a pair as golden does, whatever its words are."""

import numpy as np
import pytest

from ropeway.golden.float_rotation import rotate_floats
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.sincos import Row, turned
from ropeway.hdl.float_lane import FloatLane
from tests.geometries import float_words
from tests.hdl.benches import clock_through
from tests.hdl.coefficients import Angles

COUNT = 3000
LANES = {
    "bf16": RopeParameters(format="bf16"),
    "fp16": RopeParameters(format="fp16"),
    "bf16, 16-bit coefficients": RopeParameters(format="bf16", coefficient_bits=16),
    "fp16, 16-bit coefficients": RopeParameters(format="fp16", coefficient_bits=16),
}
each_lane = pytest.mark.parametrize("p", LANES.values(), ids=LANES)


def run_lane(p, words: dict, pairs: np.ndarray, exchanged: np.ndarray, passes, apart):
    """A lane's words [count, 2], and whether it flagged them."""
    lane = FloatLane(p)
    found = clock_through(
        lane,
        {
            "first": np.where(exchanged, pairs[:, 1], pairs[:, 0]),
            "second": np.where(exchanged, pairs[:, 0], pairs[:, 1]),
            "exchanged": exchanged,
            "passes": passes,
            "apart": apart,
        }
        | {f"coefficients.{name}": column for name, column in words.items()},
        ["x", "y", "saturated"],
        extra=lane.latency,
    )
    found = {name: values[lane.latency :] for name, values in found.items()}
    return np.stack([found["x"], found["y"]], axis=1), found["saturated"]


def expected(p: RopeParameters, words: dict, pairs: np.ndarray, *, apart: bool):
    """What golden makes of pairs [count, 2], and whether either element overflowed."""
    cos, sin = turned(words["quadrant"], words["cos"], words["sin"])
    out, overflows = np.empty_like(pairs), np.zeros(len(pairs), dtype=int)
    for number, (x, y) in enumerate(pairs):
        bits = p.fraction_bits - int(words["scale"][number])
        row = Row(cos[number, None, None], sin[number, None, None], bits)
        one = np.array([[[x]]]), np.array([[[y]]])
        turned_pair, count = rotate_floats(p.floating, row, *one, apart=apart)
        out[number], overflows[number] = [part.item() for part in turned_pair], count > 0
    return out, overflows


def pairs_of(p: RopeParameters, seed: int) -> np.ndarray:
    """Pairs whose elements cancel or lie close in every second, or are anything."""
    random = np.random.default_rng(seed)
    pairs = float_words(random, (COUNT, 2), p.floating)
    near = pairs[::2, 0] + random.integers(-1024, 1025, COUNT // 2)
    pairs[::2, 1] = np.clip(near, -0x8000, 0x7FFF)
    return pairs


@each_lane
def test_a_lane_turns_a_pair_every_clock_as_golden_does(p):
    random = np.random.default_rng(1)
    words, pairs = Angles.random(p, COUNT, seed=1).words, pairs_of(p, seed=1)
    exchanged, none = random.integers(0, 2, COUNT), np.zeros(COUNT)
    found, flagged = run_lane(p, words, pairs, exchanged, none, none)
    out, overflows = expected(p, words, pairs, apart=False)
    assert np.array_equal(found, out)
    assert np.array_equal(flagged, overflows)
    assert 0 < overflows.sum() < COUNT
    assert (out == p.floating.nan).any()
    assert (np.abs(out) < 1 << p.floating.fraction_bits).any()


@each_lane
def test_a_pair_passes_bit_for_bit_between_pairs_that_turn(p):
    random = np.random.default_rng(2)
    angles, pairs = Angles.random(p, COUNT, seed=2), pairs_of(p, seed=2)
    passes = random.integers(0, 2, COUNT)
    still = passes == 1
    words = {name: column.copy() for name, column in angles.words.items()}
    for name, value in {"quadrant": 0, "scale": 0, "cos": 1 << p.fraction_bits, "sin": 0}.items():
        words[name][still] = value
    none = np.zeros(COUNT)
    found, flagged = run_lane(p, words, pairs, random.integers(0, 2, COUNT), passes, none)
    assert np.array_equal(found[still], pairs[still])
    assert not flagged[still].any()
    out, overflows = expected(p, words, pairs, apart=False)
    assert np.array_equal(found[~still], out[~still])
    assert np.array_equal(flagged[~still], overflows[~still])


@each_lane
def test_elements_that_are_only_multiplied_do_not_see_each_other(p):
    random = np.random.default_rng(3)
    words, pairs = Angles.random(p, COUNT, seed=3).words, pairs_of(p, seed=3)
    zero = np.zeros(COUNT, dtype=np.int64)
    words |= {"quadrant": zero, "sin": zero, "cos": words["cos"] | 1 << p.fraction_bits - 1}
    exchanged = random.integers(0, 2, COUNT)
    found, flagged = run_lane(p, words, pairs, exchanged, zero, zero + 1)
    out, overflows = expected(p, words, pairs, apart=True)
    assert np.array_equal(found, out)
    assert np.array_equal(flagged, overflows)
