# SPDX-License-Identifier: Apache-2.0
"""The self-test's sequence is what its polynomial says, and blocks change nothing."""

from decimal import Decimal

import numpy as np
import pytest

from ropeway.golden import InputError, geometry_of, self_test
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import SinusoidalGeometry
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope
from ropeway.golden.self_test import (
    LEAP,
    POLYNOMIAL,
    advanced,
    expected_signature,
    lane_seeds,
    lane_words,
    signature,
    step,
    stimulus,
    token_beats,
)
from ropeway.golden.sinusoidal import add_sinusoidal
from ropeway.golden.table import HeadPattern
from tests.geometries import geometry

FACTORS = (3, 5, 17, 257, 65537)  # of 2^32 - 1
CORE = CoreParameters(
    rope=RopeParameters(lanes=2, max_head_dim=32), sinusoidal=AdderParameters(lanes=2)
)
TABLE = geometry(16, HeadPattern(2, 1))


def sequence(word: int, bits: int) -> list[int]:
    """The sequence from a window on, bit by bit."""
    found = [word >> n & 1 for n in range(32)]
    while len(found) < bits + 32:
        found.append(found[-32] ^ found[-30] ^ found[-26] ^ found[-25])
    return found


def window(bits: list[int], start: int) -> int:
    return sum(bit << n for n, bit in enumerate(bits[start : start + 32]))


@pytest.mark.parametrize("bits", [1, 2, 16, 25])
def test_a_step_is_that_of_the_sequence(bits):
    word = 0xDEAD_BEEF
    assert step(word, bits) == window(sequence(word, bits), bits)


def test_words_are_moved_on_by_any_number_of_bits():
    words = np.array([1, 0x8000_0000, 0x1234_5678], np.uint32)
    for bits in (0, 1, 31, 32, 33, 1000):
        wanted = [window(sequence(word, bits), bits) for word in words.tolist()]
        assert advanced(words, bits).tolist() == wanted


def test_the_sequence_repeats_after_every_word_but_zero():
    one = np.array([1], np.uint32)
    assert advanced(one, 2**32 - 1) == 1
    assert all(advanced(one, (2**32 - 1) // factor) != 1 for factor in FACTORS)
    assert np.gcd(LEAP, 2**32 - 1) == 1
    assert sum(1 << n for n in (32, 7, 6, 2, 0)) == POLYNOMIAL


@pytest.mark.parametrize("bits", [8, 16, 18])
def test_elements_are_the_ends_of_a_lane_s_word(bits):
    p = CoreParameters(rope=RopeParameters(lanes=2, data_bits=bits, max_head_dim=32))
    words = lane_seeds(2, 99)
    data = stimulus(p, words, tokens=3, beats=5)
    assert data.shape == (3, 20)
    for beat, elements in enumerate(data.reshape(15, 2, 2).tolist()):
        at = [window(sequence(word, LEAP * beat), LEAP * beat) for word in words.tolist()]
        ends = [(word % (1 << bits), word >> 32 - bits) for word in at]
        assert [[e % (1 << bits) for e in pair] for pair in elements] == [list(e) for e in ends]
    assert data.min() < -(1 << bits - 2)
    assert data.max() > 1 << bits - 2


def naive(words: np.ndarray) -> list[int]:
    found = []
    for lane in words.reshape(-1, words.shape[-1]).T.tolist():
        state = 0
        for word in lane:
            state = step(state, 1) ^ word
        found.append(state)
    return found


@pytest.mark.parametrize("tokens", [1, 2, 3, 5, 8])
def test_a_signature_takes_beat_after_beat_in(tokens):
    words = np.random.default_rng(tokens).integers(0, 2**32, (tokens, 7, 3), dtype=np.uint32)
    assert signature(words).tolist() == naive(words)


def test_any_bit_of_any_result_changes_the_signature():
    random = np.random.default_rng(1)
    results = random.integers(-(1 << 15), 1 << 15, (3, 20))
    right = signature(lane_words(CORE, results)).tolist()
    for _ in range(100):
        wrong = results.copy()
        wrong[random.integers(3), random.integers(20)] ^= 1 << random.integers(16)
        assert signature(lane_words(CORE, wrong)).tolist() != right


@pytest.mark.parametrize("block", [1, 100, 1 << 22])
def test_what_is_expected_is_the_signature_of_rotated_tokens(block, monkeypatch):
    monkeypatch.setattr(self_test, "BLOCK_ELEMENTS", block)
    data = stimulus(CORE, lane_seeds(2, 7), tokens=11, beats=token_beats(CORE, TABLE))
    turned, _ = rope(CORE.rope, TABLE, data.reshape(11, 3, 16), np.arange(-4, 7))
    wanted = tuple(naive(lane_words(CORE, turned.reshape(11, -1))))
    assert expected_signature(CORE, TABLE, 11, seed=7, base=-4) == wanted
    assert expected_signature(CORE, TABLE, 11, seed=8, base=-4) != wanted
    assert expected_signature(CORE, TABLE, 11, seed=7, base=-3) != wanted


def test_what_is_expected_of_sinusoids_is_the_signature_of_sums():
    frequencies = tuple(Decimal(10) ** -n for n in range(12))
    rows = SinusoidalGeometry(width=24, inv_freq=frequencies)
    data = stimulus(CORE, lane_seeds(2, 0), tokens=5, beats=6)
    sums, _ = add_sinusoidal(CORE.sinusoidal, rows, data, np.arange(5))
    assert expected_signature(CORE, rows, 5) == tuple(naive(lane_words(CORE, sums)))


def test_positions_wrap_at_the_core_s_width():
    p = CoreParameters(rope=RopeParameters(lanes=2, max_head_dim=32, position_bits=8))
    data = stimulus(p, lane_seeds(2, 0), tokens=4, beats=token_beats(p, TABLE))
    at = np.array([126, 127, -128, -127])
    turned, _ = rope(p.rope, TABLE, data.reshape(4, 3, 16), at)
    wanted = tuple(naive(lane_words(p, turned.reshape(4, -1))))
    assert expected_signature(p, TABLE, 4, base=126) == wanted


def test_what_is_expected_of_a_llama_has_not_changed():
    p, table = CoreParameters(rope=RopeParameters()), geometry_of("llama-3.1-8b").table()
    words = " ".join(f"{word:08x}" for word in expected_signature(p, table, 50))
    assert words == "cd8bcbef b1f973b9 48c0b0b3 96ef1e59"


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"tokens": 0}, "tokens"),
        ({"tokens": 1 << 24}, "tokens"),
        ({"tokens": 1, "seed": -1}, "seed"),
        ({"tokens": 1, "seed": 1 << 32}, "seed"),
    ],
)
def test_what_a_register_cannot_hold_is_refused(given, key):
    with pytest.raises(InputError) as error:
        expected_signature(CORE, TABLE, **given)
    assert error.value.key == key


def test_a_geometry_that_the_core_cannot_take_is_refused():
    alone = CoreParameters(sinusoidal=AdderParameters(lanes=2))
    with pytest.raises(InputError, match="scheme = rope: must be of rotations"):
        expected_signature(alone, TABLE, 1)
    with pytest.raises(InputError, match="head_dim = 64: must be at most 32"):
        token_beats(CORE, geometry(64, HeadPattern(1, 1)))
