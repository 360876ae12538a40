# SPDX-License-Identifier: Apache-2.0
"""What an engine may be built with, and which geometries it serves."""

import pytest

from ropeway.golden.errors import InputError
from ropeway.golden.parameters import LANES, RopeParameters, serving_lanes
from ropeway.golden.table import HeadPattern, PhaseTable
from tests.geometries import SHAPES, geometry

REFUSED = [
    *({"lanes": value} for value in (0, 3, 5, 128)),
    {"generator": "compact"},
    *({"data_bits": value} for value in (7, 19)),
    *({"coefficient_bits": value} for value in (15, 17, 20)),
    *({"multipliers": value} for value in (1, 2, 5)),
    {"multipliers": 3, "data_bits": 17},
    {"multipliers": 3, "coefficient_bits": 16},
    *({"slots": value} for value in (0, 3, 32)),
    *({"position_bits": value} for value in (7, 33)),
    *({"axes": value} for value in (0, 5)),
    *({"rows": value} for value in (1, 3, 16)),
    *({"tokens": value} for value in (4, 12, 24)),
    *({"max_head_dim": value} for value in (0, 4, 100, 8192)),
]


@pytest.mark.parametrize("given", REFUSED, ids=str)
def test_a_value_out_of_range_is_refused_by_name(given):
    with pytest.raises(InputError) as caught:
        RopeParameters(**given)
    name = next(iter(given))
    assert caught.value.key == {"data_bits": "bits"}.get(name, name)


@pytest.mark.parametrize(
    "given", [{"lanes": 4.0}, {"temperature": 1}, {"axes": True}, {"rows": "4"}]
)
def test_a_wrong_type_is_refused(given):
    with pytest.raises(TypeError):
        RopeParameters(**given)


def test_three_multipliers_are_taken_where_the_data_fit():
    assert RopeParameters(data_bits=16).multipliers == 3
    assert RopeParameters(data_bits=17).multipliers == 4
    assert RopeParameters(coefficient_bits=16).multipliers == 4
    assert RopeParameters(multipliers=4).multipliers == 4


def test_a_geometry_is_served_if_and_only_if_beats_and_pairs_divide():
    for lanes in LANES[:4]:
        p = RopeParameters(lanes=lanes)
        for head_dim in range(8, 257, 8):
            for rotary_dim in range(0, head_dim + 1, 4):
                for offset in {0, head_dim - rotary_dim}:
                    table = geometry(
                        head_dim, HeadPattern(1, 1), rotary_dim=rotary_dim, offset=offset
                    )
                    serves = (
                        head_dim % (2 * lanes) == 0
                        and rotary_dim // 2 % lanes == 0
                        and offset % (2 * lanes) == 0
                    )
                    assert (lanes in serving_lanes(table)) == serves
                    assert refusal(p, table) == (None if serves else "lanes")


def refusal(p: RopeParameters, table: PhaseTable) -> str | None:
    try:
        p.check_serves(table)
    except InputError as error:
        return error.key
    return None


def test_four_lanes_serve_every_shape_and_eight_all_but_12_pairs():
    for name, table in SHAPES.items():
        lanes = serving_lanes(table)
        assert {1, 2, 4} <= set(lanes)
        assert (8 in lanes) == (not name.startswith("gpt-neox"))


def test_a_refusal_names_the_lane_counts_that_serve():
    table = SHAPES["gpt-neox-20b, per head"]
    with pytest.raises(InputError, match=r"lanes = 8: .* served by 1, 2, 4$"):
        RopeParameters(lanes=8).check_serves(table)
    with pytest.raises(InputError, match=r"served by none$"):
        RopeParameters().check_serves(geometry(7, HeadPattern(1, 0), rotary_dim=2))


def test_what_is_larger_than_the_engine_was_built_for_is_refused():
    p = RopeParameters(max_head_dim=64, axes=2)
    assert refusal(p, geometry(128, HeadPattern(1, 0))) == "head_dim"
    assert refusal(p, geometry(64, HeadPattern(1, 0), axes=(0, 1, 2, 0) * 8)) == "axes"
    assert refusal(p, geometry(64, HeadPattern(1, 0), axes=(0, 1) * 16)) is None


@pytest.mark.parametrize(
    ("options", "heads", "rotary_dim", "clocks"),
    [
        ({}, (32, 8, 8), 128, 768),
        ({}, (1, 0, 0), 128, 64),
        ({}, (4, 0, 0), 128, 64),
        ({}, (5, 0, 0), 128, 80),
        ({"generator": "shared"}, (1, 0, 0), 128, 192),
        ({"generator": "shared"}, (13, 0, 0), 128, 208),
        ({"generator": "serial"}, (59, 0, 0), 128, 960),
        ({"generator": "serial"}, (61, 0, 0), 128, 976),
        ({"generator": "serial", "position_bits": 32}, (1, 0, 0), 128, 1152),
        ({}, (1, 0, 0), 0, 16),
        ({"lanes": 8}, (1, 0, 0), 16, 8),
    ],
)
def test_the_slower_of_beats_and_row_decides_the_clocks_of_a_token(
    options, heads, rotary_dim, clocks
):
    table = geometry(128, HeadPattern(*heads), rotary_dim=rotary_dim)
    assert RopeParameters(**options).clocks_per_token(table) == clocks
