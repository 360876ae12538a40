# SPDX-License-Identifier: Apache-2.0
"""Scripts for a whole core say what golden says, in the words that its ports carry."""

import numpy as np
import pytest

from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope
from ropeway.golden.table import HeadPattern
from ropeway.sim.core_script import CoreLoad, CoreToken, written
from ropeway.sim.core_words import element_words, place_words, words_of_elements
from tests.geometries import data_words, geometry

ROPE = RopeParameters(lanes=2, max_head_dim=64)
P = CoreParameters(rope=ROPE)
TABLE = geometry(32, HeadPattern(1, 1, 1))
BYPASS = len(P.slots) - 1


@pytest.mark.parametrize(("size", "count"), [(1, 2), (1, 3), (2, 8), (4, 5)])
def test_elements_come_back_from_their_words(size, count):
    limit = 1 << 8 * size - 1
    elements = np.random.default_rng(size).integers(-limit, limit, (7, count))
    words = element_words(elements, size)
    assert words.shape == (7, -(-count * size // 4))
    assert np.array_equal(words_of_elements(words, size, count), elements)


def test_element_0_stands_lowest_and_is_sign_extended():
    (word,) = element_words(np.array([[-2, 3]]), 2)
    assert word.tolist() == [0x0003FFFE]


def test_a_position_s_word_has_positions_slot_and_flags():
    words = place_words(P, np.array([[-1]]), 3, flags=1 << 9)
    assert words.tolist() == [[0xFFFFFFFF, 0x203]]


def token(slot: int, **fields) -> CoreToken:
    return CoreToken(data_words(np.random.default_rng(1), (96,), ROPE), slot, **fields)


def test_a_script_s_results_are_golden_s_with_slot_and_epoch():
    other = geometry(32, HeadPattern(1, 1, 1), theta=500.0)
    steps = [CoreLoad(1, TABLE), token(1, position=(5,)), CoreLoad(1, other)]
    steps += [token(1, position=(7,)), token(BYPASS)]
    script = written(P, steps)
    beats = 96 // P.beat_elements
    data = words_of_elements(script.results, 2, P.beat_elements).reshape(3, 96)
    for row, table, at in ((0, TABLE, 5), (1, other, 7)):
        out, _ = rope(ROPE, table, token(1).elements.reshape(1, 3, 32), np.array([at]))
        assert np.array_equal(data[row], out.reshape(-1))
    assert np.array_equal(data[2], token(BYPASS).elements)
    assert script.results[::beats, -1].tolist() == [0x101, 0x201, BYPASS]
    assert script.needs.tolist() == [1, 2, 2]
    assert script.waits.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("fields", "marked"),
    [
        ({}, False),
        ({"last_at": 23}, False),
        ({"last_at": 3}, True),
        ({"last_at": 30}, True),
        ({"partial_at": 0}, True),
    ],
)
def test_a_malformed_packet_s_result_is_marked_on_its_last_beat(fields, marked):
    script = written(P, [CoreLoad(0, TABLE), token(0, **fields)])
    assert (script.results[:, -1] >> 16).tolist() == [0] * 23 + [marked]
    assert len(script.beats) == fields.get("last_at", 23) + 1


def test_a_slot_that_does_not_exist_passes_its_token_marked():
    script = written(P, [token(200)])
    assert script.results[-1, -1] == len(P.slots) | 1 << 16


def test_a_token_of_an_empty_slot_is_refused():
    with pytest.raises(ValueError, match="slot 2 holds nothing"):
        written(P, [token(2)])
