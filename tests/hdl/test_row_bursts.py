# SPDX-License-Identifier: Apache-2.0
"""A row's bursts cover it once, in order, within pages and in at most 256 beats."""

import pytest
from amaranth.hdl import Value

from ropeway.hdl.row_bursts import RowBursts
from tests.hdl.benches import stream_through

ROWS = [0, 1, 7, 3, (1 << 18) - 1, 0, 255]


def words_of(item: int, address_bits: int, size: int) -> list[int]:
    address, beats = item & (1 << address_bits) - 1, (item >> address_bits) + 1
    assert beats * size <= 4096
    assert address // 4096 == (address + beats * size - 1) // 4096
    return [address + size * beat for beat in range(beats)]


def bursts_of(first: int, words: int, size: int) -> int:
    """How many bursts a row takes that end at multiples of the longest one."""
    longest = min(256, 4096 // size) * size
    return (first + words * size - 1) // longest - first // longest + 1


@pytest.mark.parametrize("stall", [0.0, 0.5], ids=["no stall", "stall"])
@pytest.mark.parametrize("idle", [0.0, 0.5], ids=["no idle", "idle"])
@pytest.mark.parametrize(
    ("address_bits", "data_bits", "base", "stride", "words"),
    [
        (32, 8, 0x3, 1, 1),
        (32, 32, 0x1000 - 12, 300, 300),
        (64, 128, 0xFFFF_FFFF_0000_0FF0, 97, 96),
        (40, 1024, 0x80, (1 << 18) - 1, 33),
    ],
    ids=["a byte", "long rows", "64 address bits", "a wide bus"],
)
def test_every_row_is_read_once_and_in_order(
    address_bits, data_bits, base, stride, words, idle, stall
):
    size = data_bits // 8
    unit = RowBursts(address_bits, data_bits, words)
    firsts = [(base + row * stride * size) % (1 << address_bits) for row in ROWS]

    async def settle(ctx):
        ctx.set(unit.base, base)
        ctx.set(unit.stride, stride)
        ctx.set(unit.words, words)
        ctx.set(unit.free, 1)
        await ctx.tick()

    found = stream_through(
        unit,
        ROWS,
        count=sum(bursts_of(first, words, size) for first in firsts),
        idle=idle,
        stall=stall,
        seed=words,
        before=settle,
    )
    read = [word for item in found.items for word in words_of(item, address_bits, size)]
    assert read == [first + size * word for first in firsts for word in range(words)]
    if not idle and not stall:
        assert found.clocks_out[0] - found.clocks_in[0] == unit.latency
        assert Value.cast(unit.o.payload).shape().width == address_bits + 8


def test_no_burst_comes_before_there_is_a_place():
    unit, clock = RowBursts(32, 64, 4), [0]

    async def settle(ctx):
        ctx.set(unit.words, 4)
        ctx.set(unit.stride, 4)
        await ctx.tick()

    def free_later(ctx, _random):
        ctx.set(unit.free, clock[0] >= 40)
        clock[0] += 1

    found = stream_through(unit, [1, 2], before=settle, each_clock=free_later)
    assert found.clocks_out[0] == 40 + 2
    assert [item & 0xFFFF_FFFF for item in found.items] == [32, 64]
