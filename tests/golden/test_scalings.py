# SPDX-License-Identifier: Apache-2.0
"""What each scaling promises: pairs it leaves alone, pairs it stretches, and a needle's scores."""

from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ropeway.golden import RopeGeometry
from ropeway.golden.needle import NeedleScores, planted_needle
from ropeway.golden.rope_types import ROPE_TYPES
from ropeway.golden.schedules import TURN, TWO_PI

from .configs import LLAMA, rope

TRAINED, FACTOR, PAIRS = 8192, 32, 64
STRETCHED = TRAINED * FACTOR
CONFIG = LLAMA | {"max_position_embeddings": TRAINED}
BY_FACTOR = {"factor": float(FACTOR)}
STATED = {**BY_FACTOR, "original_max_position_embeddings": TRAINED}
SEARCHED = [1.0] * 16 + [1.5 + i for i in range(28)] + [32.0] * 20


@dataclass(frozen=True)
class Case:
    """A scaling whose first ``untouched`` pairs stay and whose pairs from ``stretched`` on slow.

    Those slow down by exactly ``by``. With theta 500,000 and 64 pairs, pair c(r) = 64·ln(8192/2πr)
    / ln 500,000 turns r times in the trained context: c(32) = 18.1, c(16) = 21.5, c(4) = 28.2,
    c(2) = 31.6, c(1.25) = 33.9, c(1) = 34.98, c(0.75) = 36.4.
    """

    untouched: int
    stretched: int
    by: int
    keys: dict[str, Any]


CASES = {
    "default": Case(PAIRS, PAIRS, 1, {}),
    "mrope": Case(PAIRS, PAIRS, 1, {"mrope_section": [16, 24, 24]}),
    "xdrope": Case(PAIRS, PAIRS, 1, {"xdrope_section": [16, 16, 16, 16]}),
    "linear": Case(0, 0, FACTOR, BY_FACTOR),
    "dynamic": Case(1, 63, 2 * FACTOR - 1, {"factor": 2.0}),
    "alpha": Case(1, 63, 1000, {"alpha": 1000.0}),
    "qwen_dynamic": Case(1, 63, 2 * FACTOR - 1, {}),
    "ntk": Case(0, 63, FACTOR, BY_FACTOR),
    "ntk_theta": Case(1, 63, FACTOR, BY_FACTOR),
    "ntk_by_parts": Case(22, 37, FACTOR, STATED),
    "yarn": Case(19, 35, FACTOR, STATED),
    "deepseek_yarn": Case(19, 35, FACTOR, STATED),
    "telechat3-yarn": Case(19, 35, FACTOR, STATED),
    "dynamic_yarn": Case(19, 35, FACTOR, {"original_max_position_embeddings": TRAINED}),
    "yarn_log": Case(19, 35, FACTOR, STATED),
    "theta_scale": Case(1, PAIRS, FACTOR, STATED),
    "longrope": Case(
        16, 44, FACTOR, {**STATED, "short_factor": [1.0] * PAIRS, "long_factor": SEARCHED}
    ),
    "llama3": Case(29, 35, FACTOR, {**STATED, "low_freq_factor": 1.0, "high_freq_factor": 4.0}),
    "proportional": Case(16, PAIRS, 1, {"partial_rotary_factor": 0.25}),
}
BLENDS = [
    name
    for name, case in CASES.items()
    if case.untouched < case.stretched and name not in ("theta_scale", "proportional")
]
UNSCALED = rope(CONFIG, scaling={})


def scaled(name: str, context: int = STRETCHED, **keys: Any) -> RopeGeometry:
    return rope(CONFIG, scaling={"rope_type": name, **CASES[name].keys, **keys}, context=context)


def ratios(geometry: RopeGeometry, unscaled: RopeGeometry = UNSCALED) -> list[Decimal]:
    """Each pair's frequency over the unscaled one."""
    return [w / v for w, v in zip(geometry.inv_freq, unscaled.inv_freq, strict=True)]


def turns(geometry: RopeGeometry, length: int) -> list[Decimal]:
    """How often each pair turns in ``length`` positions."""
    return [w * length / TWO_PI for w in geometry.inv_freq]


def reaches(geometry: RopeGeometry, pair: int, by: float) -> bool:
    """Whether a pair turns in ``by`` trained contexts as far as unscaled in one.

    Each increment is off by half a unit at most, and so many positions add up.
    """
    length = round(by * TRAINED)
    before = UNSCALED.increments[pair] * TRAINED
    after = geometry.increments[pair] * length
    apart = (after - before + TURN // 2) % TURN - TURN // 2
    return 2 * abs(apart) <= TRAINED + length


def test_every_rope_type_has_its_case():
    assert list(CASES) == list(ROPE_TYPES)


@pytest.mark.parametrize("name", CASES)
def test_pairs_left_alone_have_identical_increments_and_no_others_do(name):
    same = [a == b for a, b in zip(scaled(name).increments, UNSCALED.increments, strict=True)]
    assert same == [pair < CASES[name].untouched for pair in range(PAIRS)]


@pytest.mark.parametrize("name", CASES)
def test_fully_interpolated_pairs_reach_at_the_stretched_length_what_they_did_at_the_trained(name):
    case, geometry = CASES[name], scaled(name)
    touched = range(case.untouched, PAIRS)
    found = [pair for pair in touched if reaches(geometry, pair, case.by)]
    assert found == [pair for pair in touched if pair >= case.stretched]


@pytest.mark.parametrize("name", BLENDS)
def test_pairs_between_slow_down_step_by_step(name):
    case = CASES[name]
    between = ratios(scaled(name))[case.untouched : case.stretched]
    assert all(1 / Decimal(case.by) < ratio < 1 for ratio in between)
    assert all(after < before for before, after in pairwise(between))


@pytest.mark.parametrize("name", CASES)
def test_no_pair_overtakes_a_faster_one(name):
    increments = scaled(name).increments
    moving = [turn for turn in increments if turn]
    assert moving == sorted(set(moving), reverse=True)
    assert increments[len(moving) :] == (0,) * (PAIRS - len(moving))


@pytest.mark.parametrize(
    ("config", "scaling", "factor", "length", "edges"),
    [
        ("gpt-oss-20b", None, 32.0, 4096, (32, 1)),
        ("deepseek-v3", None, 40.0, 4096, (32, 1)),
        ("qwen3-8b", {"type": "yarn"}, 4.0, 32768, (32, 1)),
        ("qwen3-8b", {"type": "yarn", "beta_fast": 8, "beta_slow": 2}, 4.0, 32768, (8, 2)),
        ("qwen3-8b", {"type": "yarn_log"}, 4.0, 32768, (32, 1)),
        ("llama-3.1-8b", None, 8.0, 8192, (4, 1)),
        ("llama-3.2-1b", None, 32.0, 8192, (4, 1)),
    ],
)
def test_yarn_and_llama3_choose_pairs_by_their_turns_in_the_trained_context(
    config, scaling, factor, length, edges
):
    if scaling is not None:
        scaling = {**scaling, "factor": factor, "original_max_position_embeddings": length}
    geometry, plain = rope(config, scaling=scaling), rope(config, scaling={})
    linear = rope(config, scaling={"type": "linear", "factor": factor})
    fast, slow = edges
    kinds = set()
    for pair, count in enumerate(turns(plain, length)):
        kept = geometry.increments[pair] == plain.increments[pair]
        divided = geometry.increments[pair] == linear.increments[pair]
        assert (kept, divided) == (count >= fast, count <= slow)
        kinds.add((kept, divided))
    assert len(kinds) == 3


@pytest.mark.parametrize("name", ["dynamic", "qwen_dynamic", "dynamic_yarn", "longrope"])
def test_what_follows_the_declared_length_touches_nothing_up_to_the_trained_one(name):
    assert scaled(name, context=TRAINED).increments == UNSCALED.increments
    assert scaled(name, context=TRAINED + 1).increments != UNSCALED.increments


@pytest.mark.parametrize("context", [16384, 65536, 262144])
def test_dynamic_of_factor_one_is_the_raised_base_that_the_declared_length_needs(context):
    geometry = scaled("dynamic", context=context, factor=1.0)
    assert reaches(geometry, PAIRS - 1, context / TRAINED)
    raised = scaled("ntk_theta", factor=context / TRAINED)
    assert geometry.increments == raised.increments


def test_mixed_ntk_still_ends_at_the_whole_factor():
    plain, mixed = ratios(scaled("ntk")), ratios(scaled("ntk", mixed_b=0.625))
    assert reaches(scaled("ntk", mixed_b=0.625), PAIRS - 1, FACTOR)
    assert all(m < p for m, p in zip(mixed[:-1], plain[:-1], strict=True))


def test_every_yarn_turns_alike_and_scales_by_its_own_amplitude():
    names = ("yarn", "deepseek_yarn", "telechat3-yarn", "dynamic_yarn")
    geometries = [scaled(name, mscale=0.5) for name in names[:3]] + [scaled(names[3])]
    assert len({geometry.increments for geometry in geometries}) == 1
    gains = [0.1, 0.05, 0.07, 0.1]  # the lone mscale counts for DeepSeek alone
    assert [geometry.attention_factor for geometry in geometries] == pytest.approx(
        [1 + gain * np.log(FACTOR) for gain in gains]
    )


def test_blending_logarithms_slows_every_pair_between_further_than_yarn():
    straight, logarithmic = ratios(scaled("yarn")), ratios(scaled("yarn_log"))
    assert all(g < a for g, a in zip(logarithmic[19:35], straight[19:35], strict=True))


def test_theta_scale_slows_by_the_factor_where_a_pair_turns_once():
    once = [count >= 1 for count in turns(UNSCALED, TRAINED)]
    assert [ratio >= 1 / Decimal(FACTOR) for ratio in ratios(scaled("theta_scale"))] == once


def test_each_longrope_pair_reaches_by_its_own_factor():
    geometry = scaled("longrope")
    assert all(reaches(geometry, pair, factor) for pair, factor in enumerate(SEARCHED))


def test_proportional_pairs_beyond_the_fraction_stand_still():
    assert scaled("proportional").increments[16:] == (0,) * 48
    stretched = scaled("proportional", **BY_FACTOR).increments
    assert stretched == scaled("linear").increments[:16] + (0,) * 48


def test_a_partial_rotation_is_scaled_over_what_turns():
    half = CONFIG | {"partial_rotary_factor": 0.5}
    plain = rope(half, scaling={})
    geometry = rope(half, scaling={"type": "yarn", **STATED})
    counts = turns(plain, TRAINED)
    same = [a == b for a, b in zip(geometry.increments, plain.increments, strict=True)]
    assert len(same) == PAIRS // 2
    assert same == [count >= 32 for count in counts]


TRIALS = 1000
OCTAVE = np.linspace(0.5, 1, 129)
NEEDLES = {name: scaled(name) for name in ("default", "linear", "yarn")}


def planted(name: str, offsets: np.ndarray) -> NeedleScores:
    return planted_needle(NEEDLES[name], np.asarray(offsets), trials=TRIALS, seed=3)


def test_a_needle_scores_the_sum_of_its_pairs_cosines():
    offsets = np.array([0, 1, 5, 100, 8191, -100, 200_000])
    scores = planted("default", offsets)
    assert scores.needle.shape == scores.haystack.shape == (len(offsets), TRIALS)
    cosines = np.cos(offsets[:, None] * np.array([float(w) for w in UNSCALED.inv_freq]))
    expected = 2 * cosines.sum(axis=1) / np.sqrt(2 * PAIRS)
    error = scores.needle.std(axis=1) / np.sqrt(TRIALS)
    assert (np.abs(scores.needle.mean(axis=1) - expected) < 4 * error).all()
    assert scores.haystack.std() == pytest.approx(1, abs=0.03)


def test_the_amplitude_raises_needle_and_haystack_alike():
    offsets = np.array([0, 3, 1000])
    gain = NEEDLES["yarn"].attention_factor ** 2
    yarn, unscaled = planted("yarn", offsets), planted("default", offsets)
    assert gain == pytest.approx((1 + 0.1 * np.log(FACTOR)) ** 2)
    np.testing.assert_allclose(yarn.needle[0], gain * unscaled.needle[0])
    np.testing.assert_allclose(yarn.haystack[0], gain * unscaled.haystack[0])
    level = planted_needle(scaled("yarn", attention_factor=1.0), offsets, trials=TRIALS, seed=3)
    np.testing.assert_allclose(yarn.contrast, level.contrast, atol=1e-12)


def test_linear_scores_at_the_stretched_offset_what_unscaled_scores_at_the_offset():
    offsets = np.unique(np.geomspace(1, TRAINED, 60).round().astype(int))
    stretched, plain = planted("linear", FACTOR * offsets), planted("default", offsets)
    np.testing.assert_allclose(stretched.needle, plain.needle, atol=1e-9)
    np.testing.assert_allclose(stretched.haystack, plain.haystack, atol=1e-9)


def test_yarn_tells_neighbours_apart_as_unscaled_does_and_linear_does_not():
    first = {name: -np.diff(planted(name, [0, 1]).needle, axis=0) for name in NEEDLES}
    gain = NEEDLES["yarn"].attention_factor ** 2
    assert (first["linear"] < 0.01 * first["default"]).all()
    np.testing.assert_allclose(first["yarn"], gain * first["default"], rtol=0.01)
    near = np.arange(1, FACTOR)
    profile = {name: planted(name, near).contrast.mean(axis=1) for name in NEEDLES}
    off = {name: np.abs(profile[name] - profile["default"]).mean() for name in NEEDLES}
    assert off["yarn"] < 0.1 < 1 < off["linear"]


def test_a_needle_at_the_stretched_length_stands_out_as_it_did_at_the_trained_one():
    ends = (OCTAVE * STRETCHED).round().astype(int)
    before = planted("default", ends // FACTOR).contrast.mean()
    after = {name: planted(name, ends).contrast.mean() for name in NEEDLES}
    assert before > 3
    assert after["default"] < 1
    assert after["linear"] == pytest.approx(before, rel=0.02)
    assert after["yarn"] == pytest.approx(before, rel=0.1)
