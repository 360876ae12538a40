# SPDX-License-Identifier: Apache-2.0
"""What an encoding costs, against sums by hand."""

import pytest

from ropeway.golden import model_of
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.cost import (
    Work,
    adder_clocks,
    adder_work,
    cos_sin_table_bits,
    phase_table_bits,
    rope_bound,
    rope_shares,
    rope_utilisation,
    rope_work,
    score_clocks,
    score_work,
)
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern
from tests.geometries import geometry

LLAMA = model_of("llama-3.1-8b").geometry()


def test_llama_s_token_is_what_its_shape_says():
    p, table = RopeParameters(), LLAMA.table()
    work = rope_work(p, table)
    assert work.operations == (32 + 8) * 64
    assert (work.bytes_in, work.bytes_out) == (48 * 128 * 2 + 8, 48 * 128 * 2)
    assert work.operations_per_byte == pytest.approx(0.104, abs=1e-3)
    assert phase_table_bits(table) == 32 * (8 + 2 * 64)
    assert cos_sin_table_bits(64, 131_072) == 2 * 16 * 64 * 131_072
    assert cos_sin_table_bits(64, 131_072) / phase_table_bits(table) > 60_000


def test_few_heads_starve_the_lanes_and_that_is_told():
    shares = rope_shares(RopeParameters(), LLAMA)
    assert list(shares) == ["tp 1", "tp 2", "tp 4", "tp 8", "mqa", "k only"]
    assert [shares[name] for name in ("tp 1", "tp 2", "tp 4", "tp 8")] == [1, 1, 1, 1]
    assert (shares["mqa"], shares["k only"]) == (1, 1)
    lanes = rope_shares(RopeParameters(lanes=16), LLAMA)
    # 12 heads of 4 beats wait for a row of 64 clocks at TP 4, and 6 at TP 8.
    assert (lanes["tp 4"], lanes["tp 8"], lanes["k only"]) == (48 / 64, 24 / 64, 32 / 64)
    assert rope_shares(RopeParameters(lanes=16, generator="shared"), LLAMA)["tp 4"] == 48 / 192


def test_workers_that_cannot_be_are_left_out():
    qwen = model_of("qwen2.5-7b").geometry()  # 28 heads
    assert [name for name in rope_shares(RopeParameters(), qwen) if name.startswith("tp")] == [
        "tp 1",
        "tp 2",
        "tp 4",
    ]


@pytest.mark.parametrize(
    ("options", "heads", "bound"),
    [({}, 4, "lanes"), ({}, 3, "generator"), ({"generator": "shared"}, 11, "generator")],
)
def test_what_bounds_a_token_is_named(options, heads, bound):
    p = RopeParameters(max_head_dim=64, **options)
    table = geometry(64, HeadPattern(heads, 0))
    assert rope_bound(p, table) == bound
    assert (rope_utilisation(p, table) == 1) == (bound == "lanes")


def test_a_token_of_little_is_bound_by_the_naming_of_its_heads():
    p = RopeParameters(lanes=4, max_head_dim=8)
    table = geometry(8, HeadPattern(4, 4), rotary_dim=0)
    assert rope_bound(p, table) == "heads"


def test_additions_and_scores_are_counted():
    adder, scores = AdderParameters(), AlibiParameters()
    assert adder_work(adder, 768) == Work(768, 1536 + 8, 1536)
    assert adder_clocks(adder, 768, 3, 20) == 20 + 3 * 96 - 1
    assert adder_clocks(adder, 64, 3, 20, interval=5) == 20 + 7 * 5 + 7 + 2 * 40
    assert score_work(scores, 2, 100) == Work(200, 400 + 40, 400)
    assert score_clocks(scores, 101, 2, 9) == 9 + 2 * 26 - 1


def test_a_link_binds_where_its_bytes_take_longer():
    work = Work(2560, 12_000, 12_000)
    assert work.link_bound(200e6, 768, 1e9)  # 768 clocks are 3.84 µs, and 12 µs of link
    assert not work.link_bound(200e6, 768, 4e9)
