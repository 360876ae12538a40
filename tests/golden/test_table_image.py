# SPDX-License-Identifier: Apache-2.0
"""The image that loads a slot: word by word, there and back, and what is no image."""

from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden.errors import InputError
from ropeway.golden.table import HeadPattern, Pairing, PhaseTable
from tests.geometries import SHAPES

TABLE = PhaseTable(
    increments=(0x1234_5678_9ABC, (1 << 48) - 1),
    head_dim=16,
    pattern=HeadPattern(5, 6, 7, repeat=3, rotated=(True, False, True)),
    rotary_offset=8,
    amplitude=-2,
    scale=1,
    axes=(2, 3),
    context=131_072,
)
WORDS = [
    0x5257_0001,
    2 | 8 << 16,
    0b1011,
    (1 << 18) - 2 | 1 << 18,
    16,
    131_072,
    5 | 6 << 10 | 7 << 20,
    3 | 0x1874 << 16,  # 0x0002 ^ 0x0000 ^ 0x0070 ^ 0x1805 ^ 0x0003
    0x5678_9ABC,
    0x1234 | 2 << 16,
    0xFFFF_FFFF,
    0xFFFF | 3 << 16,
]


def test_every_field_stands_where_the_format_says():
    assert TABLE.image().tolist() == WORDS


@pytest.mark.parametrize("table", [TABLE, *SHAPES.values()], ids=["all fields", *SHAPES])
def test_an_image_loads_the_table_it_came_from(table):
    assert PhaseTable.from_image(table.image()) == table
    assert len(table.image()) == 8 + 2 * table.pairs


def broken(at: int, value: int) -> np.ndarray:
    words = np.array(WORDS, dtype=np.uint32)
    words[at] = value
    return words


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (np.array([], dtype=np.uint32), "image[0]"),
        (np.array(WORDS[:7], dtype=np.uint32), "image[0]"),
        (broken(0, 0x5257_0002), "image[0]"),
        (broken(0, 0x5257_0101), "image[0]"),
        (broken(0, 0x5258_0001), "image[0]"),
        (np.array(WORDS[:-1], dtype=np.uint32), "image"),
        (np.array([*WORDS, 0], dtype=np.uint32), "image"),
        (broken(1, 3), "image"),
        (broken(1, 2 | 14 << 16), "rotary_dim"),
        (broken(2, 0b11011), "image[2]"),
        (broken(3, 1 << 19), "image[3]"),
        (broken(4, 0), "head_dim"),
        (broken(4, 1 << 16), "head_dim"),
        (broken(6, 0), "pattern"),
        (broken(6, 512), "pattern.q"),
        (broken(7, 0), "pattern.repeat"),
        (broken(7, 256), "pattern.repeat"),
        (broken(9, 1 << 18), "image[9]"),
    ],
)
def test_what_is_no_image_is_refused_by_word_or_field(words, key):
    with pytest.raises(InputError) as caught:
        PhaseTable.from_image(words)
    assert caught.value.key == key


@pytest.mark.parametrize(
    "fields",
    [
        {"increments": (1 << 48, 0)},
        {"increments": (-1, 0)},
        {"axes": (0,)},
        {"head_dim": 0},
        {"head_dim": 11},
        {"head_dim": 1 << 16},
        {"rotary_offset": 13},
    ],
    ids=str,
)
def test_a_field_out_of_range_is_refused(fields):
    with pytest.raises(InputError):
        replace(TABLE, **fields)


def test_the_fingerprint_follows_what_is_computed_and_nothing_else():
    others = {
        "increments": (1, 2),
        "head_dim": 32,
        "pairing": Pairing.ADJACENT,
        "rotary_offset": 0,
        "amplitude": 7,
        "scale": 0,
        "axes": (0, 0),
        "pattern": replace(TABLE.pattern, rotated=(True, True, True)),
    }
    prints = {replace(TABLE, **{name: value}).fingerprint for name, value in others.items()}
    assert len(prints | {TABLE.fingerprint}) == len(others) + 1
    for same in ({"context": 0}, {"pattern": HeadPattern(1, 1, 1, 1, (True, False, True))}):
        assert replace(TABLE, **same).fingerprint == TABLE.fingerprint


def test_a_pattern_names_the_heads_of_a_token_in_their_order():
    pattern = HeadPattern(2, 1, 1, repeat=2)
    assert pattern.heads == 8
    assert pattern.kinds.tolist() == [0, 0, 1, 2, 0, 0, 1, 2]
    assert pattern.rotates.tolist() == [True, True, True, False] * 2


@pytest.mark.parametrize(
    "counts", [(0, 0, 0), (512, 0, 0), (-1, 1, 0), (300, 300, 0), (1, 1, 1, 0), (1, 1, 1, 256)]
)
def test_a_pattern_out_of_range_is_refused(counts):
    with pytest.raises(InputError, match="pattern"):
        HeadPattern(*counts)
