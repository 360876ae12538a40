# SPDX-License-Identifier: Apache-2.0
"""Registers do in hardware what their table says of them."""

from collections import deque

import numpy as np
import pytest
from amaranth.hdl import Value

from ropeway.hdl.register_bus import Answer, request_layout
from ropeway.hdl.register_file import LOOKUP, RegisterFile
from ropeway.hdl.registers import Access, Register, RegisterMap
from tests.hdl.benches import simulate
from tests.hdl.register_model import (
    SAMPLE,
    looked_up,
    one,
    random_access,
    sample_model,
)

EFFECT = 4  # clocks from a request until a write takes effect
FLAGS, ORDER, CLOCKS = (SAMPLE[name].offset for name in ("FLAGS", "ORDER", "CLOCKS"))


async def access(ctx, file, address: int, write=0, word=0, strobe=0xF, *, during=None):
    """One access, answered after exactly ``latency`` clocks; its code and word.

    ``during`` are inputs to set in a clock after the request's, by its number.
    """
    fields = {"address": address, "write": write, "word": word, "strobe": strobe}
    layout = request_layout(file.registers.address_bits)
    ctx.set(Value.cast(file.request.payload), layout.const(fields).as_value().value)
    for clock in range(file.latency):
        ctx.set(file.request.valid, clock == 0)
        for name, value in (during or {}).get(clock, {}).items():
            ctx.set(getattr(file, name), value)
        _, _, early = await ctx.tick().sample(file.answer.valid)
        assert not early or clock == 0  # the answer before this request's
    valid, answer = ctx.get(file.answer.valid), ctx.get(file.answer.payload)
    assert valid
    return Answer(answer.code), answer.word


def run(testbench, registers: RegisterMap = SAMPLE, background=(), *, small: bool = False):
    file = RegisterFile(registers, small=small)

    def bound(function):
        async def with_file(ctx):
            await function(ctx, file)

        return with_file

    simulate(file, bound(testbench), background=[bound(each) for each in background])


async def look_up(ctx, file):
    """Arrays' values, no sooner and no longer than they must be there."""
    names = ("looked_up", "digest")
    numbers = [getattr(file, f"{name}_number") for name in names]
    asked = deque([(0, 0)] * (LOOKUP - 1), LOOKUP - 1)
    async for _, _, *number in ctx.tick().sample(*numbers):
        asked.append(tuple(number))
        for name, at in zip(names, asked[0], strict=True):
            ctx.set(getattr(file, name), looked_up(name.upper(), at))


def orders_seen(orders: list):
    """A monitor of what reaches the hardware."""

    async def watch(ctx, file):
        ports = (
            file.order_written,
            file.order_a,
            file.order_b,
            file.window_written,
            file.window_number,
            file.window,
        )
        async for _, _, order, a, b, window, number, word in ctx.tick().sample(*ports):
            if order:
                orders.append(("ORDER", 0, a | b << 20))
            if window:
                orders.append(("WINDOW", number, word))

    return watch


def fields_of(orders):
    """Orders without the bits that are of no field."""
    masks = {"ORDER": 0xFFF0_00FF, "WINDOW": 0xFFFF_FFFF}
    return [(name, number, word & masks[name]) for name, number, word in orders]


SIZES = pytest.mark.parametrize("small", [False, True], ids=["staged", "small"])


@SIZES
@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_of_accesses_comes_to_what_the_table_says(seed, small):
    random, model, orders = np.random.default_rng(seed), sample_model(), []

    async def testbench(ctx, file):
        ctx.set(file.shown, -5)
        for _ in range(400):
            refused = {name for name in ("ORDER", "WINDOW") if random.random() < 0.3}
            model.refused = refused
            ctx.set(file.order_refused, "ORDER" in refused)
            ctx.set(file.window_refused, "WINDOW" in refused)
            what = random_access(random, SAMPLE)
            assert await access(ctx, file, *what) == model.access(*what), what

    run(testbench, background=[look_up, orders_seen(orders)], small=small)
    assert len(orders) > 5
    assert orders == fields_of(model.orders)


@pytest.mark.parametrize("write", [0, 1], ids=["read", "write"])
def test_every_address_is_answered_as_the_table_says(write):
    model = sample_model()

    async def testbench(ctx, file):
        ctx.set(file.shown, -5)
        for address in [*range(0x100), *range(0x3F0, 0x404), *range(0x7F8, 0x810), 0xFFC]:
            found = await access(ctx, file, address, write, 0)
            assert found == model.access(address, write, 0), hex(address)

    run(testbench, background=[look_up])


@pytest.mark.parametrize("clock", range(EFFECT - 2, EFFECT + 3))
def test_an_event_in_the_clock_of_its_flag_s_clearing_wins(clock):
    async def testbench(ctx, file):
        during = {clock: {"flags_one_event": 1}, clock + 1: {"flags_one_event": 0}}
        assert (await access(ctx, file, FLAGS, 1, 1, during=during))[0] == Answer.OKAY
        _, flags = await access(ctx, file, FLAGS)
        assert flags & 1 == (clock >= EFFECT)

    run(testbench)


def test_a_flag_stays_until_1_is_written_to_it_and_to_no_other():
    async def testbench(ctx, file):
        ctx.set(file.flags_one_event, 1)
        ctx.set(file.flags_two_event, 1)
        await ctx.tick()
        ctx.set(file.flags_one_event, 0)
        ctx.set(file.flags_two_event, 0)
        assert (await access(ctx, file, FLAGS))[1] == 1 | 1 << 9 | 5 << 16
        for strobe, answer in ((0x1, Answer.SLVERR), (0xE, Answer.SLVERR), (0xF, Answer.OKAY)):
            assert (await access(ctx, file, FLAGS, 1, 3 << 16, strobe))[0] == answer
        assert (await access(ctx, file, FLAGS))[1] == 1 | 1 << 9 | 3 << 16
        await access(ctx, file, FLAGS, 1, 1 << 9)
        assert (ctx.get(file.flags_one), ctx.get(file.flags_two)) == (1, 0)

    run(testbench)


def test_counters_count_wrap_stop_and_are_cleared():
    async def testbench(ctx, file):
        ctx.set(file.clocks_event, 1)
        await ctx.tick().repeat(20)
        assert (await access(ctx, file, CLOCKS))[1] == 0  # not counting
        ctx.set(file.counting, 1)
        await ctx.tick().repeat(130)
        ctx.set(file.clocks_event, 0)
        assert (await access(ctx, file, CLOCKS))[1] == 130 - 128
        ctx.set(file.clocks_event, 1)
        ctx.set(file.clear_counters, 1)
        await ctx.tick()
        ctx.set(file.clear_counters, 0)
        await ctx.tick().repeat(3)
        ctx.set(file.counting, 0)
        assert (await access(ctx, file, CLOCKS))[1] == 3

    run(testbench)


@SIZES
def test_the_high_half_is_that_of_when_the_low_half_was_read(small):
    async def testbench(ctx, file):
        low, high = SAMPLE["DIGEST"].address(3), SAMPLE["DIGEST"].address(3) + 4
        ctx.set(file.digest, 0x1111_2222_3333_4444)
        assert await access(ctx, file, low) == (Answer.OKAY, 0x3333_4444)
        ctx.set(file.digest, 0x5555_6666_7777_8888)
        await access(ctx, file, SAMPLE["IDENT"].offset)
        assert await access(ctx, file, high) == (Answer.OKAY, 0x1111_2222)
        assert await access(ctx, file, high) == (Answer.OKAY, 0x1111_2222)
        await access(ctx, file, low)
        assert await access(ctx, file, high) == (Answer.OKAY, 0x5555_6666)

    run(testbench, small=small)


@pytest.mark.parametrize("clock", range(6))
def test_a_write_is_refused_as_it_was_two_clocks_before_its_effect(clock):
    orders = []

    async def testbench(ctx, file):
        during = {clock: {"order_refused": 1}, clock + 1: {"order_refused": 0}}
        code, _ = await access(ctx, file, ORDER, 1, 0x1230_0045, during=during)
        refused = clock == EFFECT - 2
        assert code == (Answer.SLVERR if refused else Answer.OKAY)
        assert orders == ([] if refused else [("ORDER", 0, 0x1230_0045)])

    run(testbench, background=[orders_seen(orders)])


@SIZES
@pytest.mark.parametrize("others", [0, 3, 20])
def test_what_is_read_of_a_pop_is_what_it_shows_as_it_is_popped_once_a_read(others, small):
    more = (Register(f"R{n}", 4 * n, one(Access.RW), "Another.") for n in range(others))
    taken = Register("TAKEN", 0x100, one(Access.POP, 24), "A queue.")
    registers = RegisterMap("QUEUE", "A queue.", (*more, taken), 12)
    popped = []

    async def count(ctx, file):
        number = 0
        async for _, _, pops in ctx.tick().sample(file.taken_popped):
            if pops:
                popped.append(number)
            number += 1
            ctx.set(file.taken, number)  # another one in every clock

    async def testbench(ctx, file):
        for clocks in range(5):
            code, word = await access(ctx, file, 0x100)
            await ctx.tick().repeat(clocks + 1)
            assert (code, [word]) == (Answer.OKAY, popped[clocks:])
            assert (await access(ctx, file, 0x100, 1, 5))[0] == Answer.SLVERR
            assert (await access(ctx, file, 0x200))[0] == Answer.DECERR
        assert len(popped) == 5

    run(testbench, registers, background=[count], small=small)


def test_a_map_of_one_register_works_too():
    registers = RegisterMap("ONE", "One.", (Register("IT", 8, one(Access.RW, 3, reset=2), "It."),))

    async def testbench(ctx, file):
        assert await access(ctx, file, 8) == (Answer.OKAY, 2)
        assert await access(ctx, file, 8, 1, 0xFFFF_FFFF) == (Answer.OKAY, 0)
        assert await access(ctx, file, 8) == (Answer.OKAY, 7)
        assert await access(ctx, file, 4) == (Answer.DECERR, 0)

    run(testbench, registers)
