# SPDX-License-Identifier: Apache-2.0
"""Rows come from an AXI4 memory as they are asked for, in bursts that the protocol allows."""

from dataclasses import dataclass

import numpy as np
import pytest
from amaranth.hdl import Value

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.errors import InputError
from ropeway.hdl.adder_layouts import request_layout
from ropeway.hdl.learned_memory import LearnedMemory
from ropeway.sim.axi_memory import AxiMemory
from tests.hdl.benches import StreamResult, simulate, stream_through

P = AdderParameters(lanes=1, data_bits=8, max_width=64)


@dataclass(frozen=True)
class Table:
    """Rows of ``beats``, ``gap`` words apart, from ``base``."""

    p: AdderParameters
    bus_bits: int
    rows: int
    beats: int
    base: int = 0x1000
    gap: int = 0

    @property
    def words(self) -> int:
        """Of the bus, in a row."""
        beat = self.p.data_bits * self.p.beat_elements
        return -(-self.beats * beat // self.bus_bits)

    @property
    def stride(self) -> int:
        return self.words + self.gap

    def address(self, row: int, word: int = 0) -> int:
        return self.base + (row * self.stride + word) * self.bus_bits // 8

    def content(self) -> bytes:
        size = self.rows * self.stride * self.bus_bits // 8
        return np.random.default_rng(self.rows).bytes(size)

    def row(self, number: int) -> list[int]:
        """A row's beats as the stream gives them."""
        size = self.p.data_bits * self.p.beat_elements // 8
        start = self.address(number) - self.base
        raw = self.content()[start : start + size * self.beats]
        beats = [int.from_bytes(raw[at : at + size], "little") for at in range(0, len(raw), size)]
        return [*beats[:-1], beats[-1] | 1 << 8 * size]


def read(
    table: Table,
    requests: list[tuple[int, int]],
    *,
    broken=lambda _address: False,
    idle: float = 0.0,
    stall: float = 0.0,
    **memory,
) -> tuple[StreamResult, AxiMemory, LearnedMemory, list[int]]:
    """Ask for rows (number, whether there is one); also the positions whose rows failed."""
    p = table.p
    unit = LearnedMemory(p, table.bus_bits)
    axi = AxiMemory(unit.m_axi, table.bus_bits, **memory)
    axi.content, axi.base, axi.broken = table.content(), table.base, broken
    failed: list[int] = []

    async def settle(ctx):
        for signal, value in (
            (unit.base, table.base),
            (unit.stride, table.stride),
            (unit.final, table.beats - 1),
        ):
            ctx.set(signal, value)
        await ctx.tick().repeat(3)

    async def watch(ctx):
        async for _, _, error, position in ctx.tick().sample(unit.bus_error, unit.position):
            if error:
                failed.append(position)

    words = [
        request_layout(p).const({"row": row, "good": good, "position": -number}).as_value().value
        for number, (row, good) in enumerate(requests)
    ]
    found = stream_through(
        unit,
        words,
        count=len(requests) * table.beats,
        idle=idle,
        stall=stall,
        timeout=4000,
        before=settle,
        background=[axi.answer, watch],
    )
    return found, axi, unit, failed


def expected(table: Table, requests: list[tuple[int, int]], bad: set[int] = frozenset()):
    """The beats of every request, None where only their marks are told."""
    out: list[int | None] = []
    for row, good in requests:
        out += table.row(row) if good and row not in bad else [None] * table.beats
    return out


def check(table: Table, items: list[int], wanted: list[int | None]):
    width = table.p.data_bits * table.p.beat_elements
    for number, (item, word) in enumerate(zip(items, wanted, strict=True)):
        last = number % table.beats == table.beats - 1
        assert (item >> width == 2 | last) if word is None else (item == word), number


def bursts_of(table: Table, row: int) -> list[tuple[int, int]]:
    """A row in the longest bursts that end at a multiple of the longest one."""
    size = table.bus_bits // 8
    longest = min(256, 4096 // size) * size
    start, end, out = table.address(row), table.address(row, table.words), []
    while start < end:
        stop = min(end, (start // longest + 1) * longest)
        out.append((start, (stop - start) // size))
        start = stop
    return out


@pytest.mark.parametrize("stall", [0.0, 0.4], ids=["no stall", "stall"])
@pytest.mark.parametrize("idle", [0.0, 0.4], ids=["no idle", "idle"])
@pytest.mark.parametrize(
    "table",
    [
        Table(P, 16, 30, 9),
        Table(P, 32, 30, 7, base=0x2FF4, gap=3),
        Table(P, 128, 30, 32, base=0xFFFF_0000),
        Table(P, 1024, 12, 32, base=0x1F80),
        Table(AdderParameters(lanes=4, max_width=64), 128, 30, 1),
        Table(AdderParameters(lanes=16, max_width=64), 1024, 30, 2, gap=5),
    ],
    ids=lambda table: f"{table.bus_bits} bits, {table.beats} beats",
)
def test_rows_come_as_they_are_asked_for_and_nothing_else_is_read(table, idle, stall):
    random = np.random.default_rng(table.beats)
    rows = [0, table.rows - 1, table.rows - 1, 0, *random.integers(0, table.rows, 14).tolist()]
    requests = [(int(row), 1) for row in rows]
    for at, row in ((2, table.rows), (5, (1 << 18) - 1), (6, 0)):
        requests.insert(at, (row, 0))
    found, axi, _, failed = read(
        table, requests, idle=idle, stall=stall, latency=12, pause=stall, seed=1
    )
    check(table, found.items, expected(table, requests))
    assert axi.bursts == [
        burst for row, good in requests if good for burst in bursts_of(table, row)
    ]
    assert failed == []


def test_long_rows_go_in_bursts_of_256_words_and_stay_within_4_kilobytes():
    p = AdderParameters(lanes=1, max_width=2048)
    table = Table(p, 32, 3, 1024, base=0x1000 - 4 * 37)
    requests = [(0, 1), (2, 1), (1, 1)]
    found, axi, _, _ = read(table, requests, latency=5, stall=0.2)
    check(table, found.items, expected(table, requests))
    assert max(beats for _, beats in axi.bursts) == 256
    assert axi.bursts == [burst for row, _ in requests for burst in bursts_of(table, row)]


@pytest.mark.parametrize("word", [0, 3, 6, 7], ids=lambda word: f"word {word}")
def test_an_error_anywhere_marks_its_row_alone(word):
    table = Table(P, 64, 12, 32)
    requests = [(row, 1) for row in (0, 3, 4, 3, 3, 5, 6, 7, 3, 8, 9, 10)]
    found, _, _, failed = read(
        table,
        requests,
        broken=lambda address: address == table.address(3, word),
        latency=9,
        pause=0.3,
    )
    check(table, found.items, expected(table, requests, {3}))
    assert failed == [-number for number, (row, _) in enumerate(requests) if row == 3]


@pytest.mark.parametrize(
    "table",
    [Table(P, 16, 8, 16), Table(P, 32, 8, 16), Table(P, 64, 8, 32), Table(P, 16, 8, 8)],
    ids=lambda table: f"{table.bus_bits} bits, {table.beats} beats",
)
def test_a_latency_that_is_hidden_costs_no_beat_and_one_a_little_longer_does(table):
    requests = [(row % table.rows, 1) for row in range(24)]
    found, axi, unit, _ = read(table, requests, latency=1)
    assert found.clocks_out[0] - found.clocks_in[0] == unit.overhead + table.words
    bound = unit.hidden_latency(table.beats * table.p.beat_elements)
    assert bound > 0
    for latency, smooth in ((bound, True), (bound + 5, False)):
        found, axi, _, _ = read(table, requests, latency=latency)
        assert bool(np.all(np.diff(found.clocks_out) == 1)) == smooth
        assert axi.most_outstanding <= 4


def test_no_more_rows_are_asked_for_than_there_are_places():
    table = Table(P, 32, 8, 16)
    unit = LearnedMemory(P, 32)
    asked = []

    async def testbench(ctx):
        for signal, value in ((unit.final, 15), (unit.stride, 8), (unit.m_axi.arready, 1)):
            ctx.set(signal, value)
        ctx.set(unit.i.valid, 1)
        ctx.set(Value.cast(unit.i.payload), request_layout(P).const({"good": 1}).as_value().value)
        for _ in range(200):
            _, _, valid = await ctx.tick().sample(unit.m_axi.arvalid)
            asked.append(valid)

    simulate(unit, testbench)
    assert sum(asked) == 4 * len(bursts_of(table, 0))


@pytest.mark.parametrize(
    ("bits", "address_bits", "key"),
    [(24, 32, "bus_bits"), (8, 32, "bus_bits"), (2048, 32, "bus_bits"), (32, 11, "address_bits")],
)
def test_a_bus_that_cannot_serve_is_refused(bits, address_bits, key):
    with pytest.raises(InputError, match=key):
        P.check_bus(bits, address_bits)
