# SPDX-License-Identifier: Apache-2.0
"""A table in block RAM gives every row that is asked for, and takes what fits."""

import numpy as np
import pytest
from amaranth.hdl import Value

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.errors import InputError
from ropeway.hdl.adder_layouts import embedding_layout, request_layout, row_layout
from ropeway.hdl.learned_ram import LearnedRam
from tests.hdl.benches import simulate, stream_through

P = AdderParameters(lanes=1, data_bits=8, max_width=32)


def words_of(beats: int, seed: int = 0) -> list[int]:
    return np.random.default_rng(seed).integers(0, 1 << 16, beats).tolist()


def request(row: int, good: int = 1) -> int:
    return request_layout(P).const({"row": row, "good": good}).as_value().value


async def write(ctx, unit: LearnedRam, words: list[int], beats: int):
    """A table of rows of ``beats``, a beat a clock."""
    ctx.set(unit.final, beats - 1)
    ctx.set(unit.i_table.valid, 1)
    shape = embedding_layout(P)
    for number, word in enumerate(words):
        ctx.set(Value.cast(unit.i_table.payload), word | (number == len(words) - 1) << 16)
        await ctx.tick()
    ctx.set(unit.i_table.valid, 0)
    assert Value.cast(unit.i_table.payload).shape().width == shape.size
    await ctx.tick().repeat(4)


def beats_of(words: list[int], beats: int, requests: list[tuple[int, int]]) -> list[int | None]:
    """What comes: the words of rows that are good, and of others only that they are none."""
    out = []
    for row, good in requests:
        for beat in range(beats):
            last = (beat == beats - 1) << 16
            out.append(words[row * beats + beat] | last if good else None)
    return out


def check(items: list[int], expected: list[int | None], beats: int):
    for number, (item, wanted) in enumerate(zip(items, expected, strict=True)):
        if wanted is None:
            assert item >> 16 == 2 | (number % beats == beats - 1)
        else:
            assert item == wanted, number


@pytest.mark.parametrize("stall", [0.0, 0.4], ids=["no stall", "stall"])
@pytest.mark.parametrize("idle", [0.0, 0.4], ids=["no idle", "idle"])
@pytest.mark.parametrize(("rows", "beats"), [(1, 16), (40, 3), (33, 1), (150, 16)])
def test_rows_come_as_they_are_asked_for(rows, beats, idle, stall):
    random = np.random.default_rng(rows)
    words = words_of(rows * beats)
    unit = LearnedRam(P, rows * beats)
    requests = [(0, 1), (rows - 1, 1), (rows, 0), (rows - 1, 1), ((1 << 18) - 1, 0)]
    requests += [(int(row), 1) for row in random.integers(0, rows, 20)]
    found = stream_through(
        unit,
        [request(*asked) for asked in requests],
        count=len(requests) * beats,
        idle=idle,
        stall=stall,
        seed=beats,
        before=lambda ctx: write(ctx, unit, words, beats),
    )
    check(found.items, beats_of(words, beats, requests), beats)
    assert Value.cast(unit.o.payload).shape().width == row_layout(P, 8).size == 18


@pytest.mark.parametrize("depth", [256, 1024, 1040], ids=["one bank", "a full bank", "two banks"])
def test_latency_is_that_stated_and_rows_follow_without_a_bubble(depth):
    unit = LearnedRam(P, depth)
    rows = depth // 16
    found = stream_through(
        unit,
        [request(row % rows) for row in range(12)],
        count=12 * 16,
        before=lambda ctx: write(ctx, unit, words_of(depth), 16),
    )
    assert found.clocks_out[0] - found.clocks_in[0] == unit.latency
    assert np.all(np.diff(found.clocks_out) == 1)
    assert unit.latency == (9 if depth <= 1024 else 10)


@pytest.mark.parametrize("extra", [1, 2, 64, 100])
def test_beats_that_do_not_fit_are_dropped_and_the_next_table_begins_anew(extra):
    unit, first, second = LearnedRam(P, 60), words_of(60 + extra, 1), words_of(60, 2)
    dropped, read = [], []

    async def testbench(ctx):
        for words in (first, second):
            await write(ctx, unit, words, 4)
            for number in range(15):
                ctx.set(Value.cast(unit.i.payload), request(number))
                ctx.set(unit.i.valid, 1)
                await ctx.tick().until(unit.i.ready)
                ctx.set(unit.i.valid, 0)
                for _ in range(4):
                    *_, word = await ctx.tick().sample(unit.o.payload.data).until(unit.o.valid)
                    read.append(
                        Value.cast(word) if not hasattr(word, "as_bits") else word.as_bits()
                    )

    async def watch(ctx):
        ctx.set(unit.o.ready, 1)
        async for _, _, drops in ctx.tick().sample(unit.dropped):
            dropped.append(drops)

    simulate(unit, testbench, background=[watch])
    assert read == first[:60] + second
    assert sum(dropped) == extra


@pytest.mark.parametrize(("rows", "beats"), [(10, 6), (10, 5), (11, 6), (12, 5), (13, 5), (61, 1)])
def test_a_table_fits_if_and_only_if_its_last_beat_does(rows, beats):
    unit, found = LearnedRam(P, 60), []

    async def testbench(ctx):
        ctx.set(unit.final, beats - 1)
        ctx.set(unit.last_row, rows - 1)
        await ctx.tick().repeat(5)
        found.append(ctx.get(unit.fits))

    simulate(unit, testbench)
    assert found == [rows * beats <= 60]


@pytest.mark.parametrize("depth", [0, -1, 65537])
def test_a_depth_that_no_device_has_is_refused(depth):
    with pytest.raises(InputError, match="depth"):
        P.check_depth(depth)
