# SPDX-License-Identifier: Apache-2.0
"""The bit-true rotation: small vectors by hand, its algebra, and its speed."""

import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import pair_slices, rope, rotate
from ropeway.golden.sincos import phase, row
from ropeway.golden.table import HeadPattern, Pairing, PhaseTable
from tests.geometries import POSITIONS, SHAPES, elements, geometry

P = RopeParameters()
QUARTER, EIGHTH, TURN = 1 << 46, 1 << 45, 1 << 48
ONE = 1 << 14


def turned(pairing: Pairing, increments, vector, position=1, **options) -> list[int]:
    table = PhaseTable(
        tuple(increments), len(vector), HeadPattern(1, 0), pairing=pairing, **options
    )
    return rope(P, table, np.array([[vector]]), np.array([position]))[0][0, 0].tolist()


def test_a_quarter_turn_moves_the_first_element_to_its_partner():
    vector = [ONE, 0, 0, 0]
    assert turned(Pairing.ADJACENT, (QUARTER, 0), vector) == [0, ONE, 0, 0]
    assert turned(Pairing.HALF_SPLIT, (QUARTER, 0), vector) == [0, 0, ONE, 0]


@pytest.mark.parametrize(
    ("position", "expected"),
    [(0, [3, 5]), (1, [-5, 3]), (2, [-3, -5]), (3, [5, -3]), (4, [3, 5]), (-1, [5, -3])],
)
def test_quarter_turns_are_exact(position, expected):
    assert turned(Pairing.ADJACENT, (QUARTER,), [3, 5], position) == expected


def test_an_eighth_of_a_turn_by_hand():
    half = round(ONE / 2**0.5)
    assert turned(Pairing.ADJACENT, (EIGHTH,), [ONE, 0]) == [half, half]
    assert turned(Pairing.ADJACENT, (EIGHTH,), [ONE, 0], -1) == [half, -half]


def test_an_element_that_grows_out_of_its_word_saturates_and_is_counted():
    table = PhaseTable((EIGHTH,), 2, HeadPattern(1, 0))
    heads = np.array([[[32767, 32767]], [[-32768, -32768]], [[100, 0]]])
    out, saturated = rope(P, table, heads, np.array([1, 1, 1]))
    assert out[:, 0].tolist() == [[0, 32767], [0, -32768], [71, 71]]
    assert saturated == 2


@pytest.mark.parametrize(
    ("pairing", "offset", "first", "second"),
    [
        (Pairing.ADJACENT, 0, [0, 2], [1, 3]),
        (Pairing.HALF_SPLIT, 0, [0, 1], [2, 3]),
        (Pairing.ADJACENT, 4, [4, 6], [5, 7]),
        (Pairing.HALF_SPLIT, 4, [4, 5], [6, 7]),
    ],
)
def test_pairs_stand_where_their_pairing_says(pairing, offset, first, second):
    table = PhaseTable((0, 0), 8, HeadPattern(1, 0), pairing=pairing, rotary_offset=offset)
    where = np.arange(8)
    assert [where[part].tolist() for part in pair_slices(table)] == [first, second]


def test_elements_beyond_the_rotary_part_and_heads_that_do_not_rotate_pass_bit_for_bit():
    random = np.random.default_rng(0)
    for table in SHAPES.values():
        heads = elements(random, (5, table.pattern.heads, table.head_dim), 16)
        out, _ = rope(P, table, heads, np.array(POSITIONS[:5]))
        still = ~table.pattern.rotates
        assert np.array_equal(out[:, still], heads[:, still])
        end = table.rotary_offset + table.rotary_dim
        assert np.array_equal(out[..., : table.rotary_offset], heads[..., : table.rotary_offset])
        assert np.array_equal(out[..., end:], heads[..., end:])
        assert table.bypass == np.array_equal(out, heads)


def test_two_shifts_equal_their_sum_within_two_lsb():
    # Each of three rotations is within 0.79 LSB; the first one's error is turned, by √2 at most.
    random = np.random.default_rng(0)
    table = geometry(128, HeadPattern(4, 0))
    heads = random.integers(-16384, 16384, (500, 4, 128))
    first, second = random.integers(-1_000_000, 1_000_000, (2, 500))
    in_two = rope(P, table, rope(P, table, heads, first)[0], second)[0]
    at_once = rope(P, table, heads, first + second)[0]
    assert 0 < np.abs(in_two - at_once).max() <= 2


def test_the_conjugate_is_the_negated_position_and_undoes_the_rotation_within_two_lsb():
    random = np.random.default_rng(0)
    table = geometry(128, HeadPattern(4, 0))
    heads = random.integers(-16384, 16384, (500, 4, 128))
    positions = random.integers(-1_000_000, 1_000_000, 500)
    there = rope(P, table, heads, positions)[0]
    back = rope(P, table, there, positions, conjugate=True)[0]
    assert np.array_equal(back, rope(P, table, there, -positions)[0])
    assert np.abs(back - heads).max() <= 2


def test_a_position_beyond_a_whole_turn_is_its_remainder():
    assert turned(Pairing.ADJACENT, (TURN // 3,), [ONE, 5], 4) == turned(
        Pairing.ADJACENT, (TURN // 3,), [ONE, 5], 1
    )


@pytest.mark.parametrize("pairing", Pairing)
def test_in_place_and_out_of_place_agree(pairing):
    random = np.random.default_rng(0)
    table = replace(SHAPES["phi-2"], pairing=pairing)
    heads = elements(random, (300, 4, 80), 16).astype(np.int16)
    coefficients = row(P, table, phase(table, np.arange(300)))
    fresh, count = rotate(P, table, coefficients, heads)
    given = np.empty_like(heads)
    assert rotate(P, table, coefficients, heads, given)[0] is given
    assert np.array_equal(given, fresh)
    assert rotate(P, table, coefficients, heads, heads)[1] == count
    assert np.array_equal(heads, fresh)


@pytest.mark.parametrize(("data_bits", "output_bits"), [(16, 8), (18, 12), (12, 11), (16, 16)])
def test_a_narrower_result_is_the_exact_one_rounded_once(data_bits, output_bits):
    p = RopeParameters(data_bits=data_bits, output_bits=output_bits)
    random = np.random.default_rng(output_bits)
    table = geometry(80, HeadPattern(2, 1, 1), rotary_dim=32, offset=16, attention_factor=1.5)
    heads = elements(random, (40, 4, 80), data_bits).astype(np.int32)
    positions = random.integers(-1_000_000, 1_000_000, 40)
    given = heads.copy()
    out, saturated = rope(p, table, given, positions)
    assert np.array_equal(given, heads)

    coefficients = row(p, table, phase(table, positions))
    whole = heads.astype(object) << coefficients.fraction_bits
    x, y = (heads[:, :3, part].astype(object) for part in pair_slices(table))
    cos, sin = (part[:, None].astype(object) for part in (coefficients.cos, coefficients.sin))
    first, second = pair_slices(table)
    whole[:, :3, first], whole[:, :3, second] = x * cos - y * sin, x * sin + y * cos
    dropped = coefficients.fraction_bits + data_bits - output_bits
    rounded = (2 * whole + (1 << dropped)) // (2 << dropped)
    held = np.clip(rounded, -(1 << output_bits - 1), (1 << output_bits - 1) - 1)
    assert np.array_equal(out, held.astype(int))
    assert saturated == np.count_nonzero(held != rounded) > 0


@pytest.mark.parametrize("tempered", [False, True])
def test_a_narrower_result_of_heads_that_only_pass_is_rounded_and_saturated(tempered):
    p = RopeParameters(output_bits=8, temperature=True)
    heads = np.array([[[127, 128, -128, -129], [32767, -32768, 384, 383]]] * 2)
    table = PhaseTable((), 4, HeadPattern(1, 1))
    words = np.array([0, 1 << 18 if tempered else 0])  # twice
    out, saturated = rope(p, table, heads, np.arange(2), temperature=words)
    assert out[0].tolist() == [[0, 1, 0, -1], [127, -128, 2, 1]]
    doubled = [[1, 1, -1, -1], [127, -128, 2, 1]]
    assert out[1].tolist() == (doubled if tempered else out[0].tolist())
    assert saturated == 2


def rotation_of(tokens: int):
    table = geometry(128, HeadPattern(40, 0))
    heads = np.random.default_rng(0).integers(-32768, 32768, (tokens, 40, 128), dtype=np.int16)
    coefficients = row(P, table, phase(table, np.arange(tokens)))
    return table, coefficients, heads, np.empty_like(heads)


def test_ten_million_pairs_turn_in_a_second_on_one_core():
    table, coefficients, heads, out = rotation_of(400)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        rotate(P, table, coefficients, heads, out)
        seconds.append(time.process_time() - start)
    assert heads.size / 2 / min(seconds) >= 10e6


def test_with_out_given_the_memory_taken_does_not_grow_with_the_tokens():
    def peak(tokens: int) -> int:
        table, coefficients, heads, out = rotation_of(tokens)
        tracemalloc.start()
        rotate(P, table, coefficients, heads, out)
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return taken

    assert peak(800) <= 1.01 * peak(100)
