# SPDX-License-Identifier: Apache-2.0
"""Positions wait for their slot and for room; equal ones share a row; slots in use are busy."""

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.intake import Intake
from ropeway.hdl.layouts import position_layout
from tests.hdl.benches import simulate

P = RopeParameters(slots=4, axes=2)
LAYOUT = position_layout(P)


def word(position, slot, **flags) -> int:
    fields = {"position": list(position), "slot": slot, "conjugate": 0, "pure": 0, "bypass": 0}
    return LAYOUT.const(fields | flags).as_value().value


def accept(words, *, seed: int = 0, room: float = 1.0, bypass: int = 0, claims=()):
    """Offer positions; returns the tokens and jobs that come out, and the clock of each acceptance.

    ``claims`` are (positions accepted, slot): a load claims the slot then, and no position
    comes for some clocks, as while it is loaded.
    """
    intake, random = Intake(P), np.random.default_rng(seed)
    tokens: list[tuple[int, ...]] = []
    jobs: list[int] = []
    clocks: list[int] = []
    claims = list(claims)

    async def testbench(ctx):
        ctx.set(intake.loaded, 0b1111)
        ctx.set(intake.bypass, bypass)
        clock = pause = 0
        while len(tokens) < len(words):
            sent = len(clocks)
            claim = claims.pop(0) if claims and claims[0][0] == sent else None
            pause = 10 if claim else max(0, pause - 1)
            ctx.set(intake.claimed, claim is not None)
            ctx.set(intake.claimed_slot, claim[1] if claim else 0)
            offered = sent < len(words) and not pause
            ctx.set(intake.i.valid, offered)
            ctx.set(intake.i.payload, LAYOUT.from_bits(words[min(sent, len(words) - 1)]))
            ctx.set(intake.room, bool(random.random() < room))
            token, job = intake.o_token, intake.o_position
            _, _, ready, given, slot, rotates, new_row, made, position = await ctx.tick().sample(
                intake.i.ready,
                token.valid,
                token.payload.slot,
                token.payload.rotates,
                token.payload.new_row,
                job.valid,
                job.payload.as_value(),
            )
            if offered and ready:
                clocks.append(clock)
            if given:
                tokens.append((slot, rotates, new_row))
            if made:
                jobs.append(position)
            clock += 1
            assert clock < 50 * len(words) + 100

    simulate(intake, testbench)
    return tokens, jobs, clocks


@pytest.mark.parametrize("room", [1.0, 0.4])
def test_every_position_gives_a_token_and_every_new_row_a_job(room):
    random = np.random.default_rng(1)
    words = [
        word(random.integers(-2, 2, 2).tolist(), int(random.integers(2)), conjugate=n % 7 == 0)
        for n in range(200)
    ]
    tokens, jobs, clocks = accept(words, seed=2, room=room)
    new = [n == 0 or words[n] != words[n - 1] for n in range(len(words))]
    slots = [LAYOUT.from_bits(given).slot for given in words]
    assert tokens == [(slot, 1, int(fresh)) for slot, fresh in zip(slots, new, strict=True)]
    assert jobs == [given for given, fresh in zip(words, new, strict=True) if fresh]
    assert 0 < sum(new) < len(words)
    if room == 1.0:
        assert np.all(np.diff(clocks) == 1)


@pytest.mark.parametrize(
    "change",
    [{"position": (3, 5)}, {"slot": 1}, {"conjugate": 1}, {"pure": 1}],
    ids=lambda change: next(iter(change)),
)
def test_a_row_is_shared_only_where_all_is_equal(change):
    first = word((3, 4), 0)
    other = word(**({"position": (3, 4), "slot": 0} | change))
    _, jobs, _ = accept([first, first, other, other, first])
    assert jobs == [first, other, first]


def test_nothing_is_made_for_a_token_that_bypasses_or_whose_slot_does():
    words = [word((1, 1), 0, bypass=1), word((1, 1), 1), word((1, 1), 0), word((1, 1), 0)]
    tokens, jobs, _ = accept(words, bypass=0b0010)
    assert tokens[0][1] == tokens[1][1] == 0
    assert tokens[2:] == [(0, 1, 1), (0, 1, 0)]
    assert jobs == [words[2]]


@pytest.mark.parametrize(("slot", "shared"), [(0, False), (1, True)])
def test_a_load_of_the_slot_and_of_no_other_ends_the_sharing(slot, shared):
    words = [word((1, 1), 0)] * 6
    _, jobs, _ = accept(words, claims=[(2, slot)])
    assert len(jobs) == (1 if shared else 2)


def test_a_position_for_a_slot_that_is_not_loaded_waits():
    intake = Intake(P)

    async def testbench(ctx):
        ctx.set(intake.room, 1)
        ctx.set(intake.i.valid, 1)
        ctx.set(intake.i.payload.slot, 2)
        for loaded in (0b0000, 0b1011):
            ctx.set(intake.loaded, loaded)
            await ctx.tick().repeat(3)
            assert not ctx.get(intake.i.ready)
        ctx.set(intake.loaded, 0b0100)
        await ctx.delay(1e-7)
        assert ctx.get(intake.i.ready)

    simulate(intake, testbench)


def test_a_slot_is_busy_from_acceptance_until_as_many_have_finished():
    intake = Intake(P)

    async def testbench(ctx):
        ctx.set(intake.room, 1)
        ctx.set(intake.loaded, 0b1111)
        ctx.set(intake.i.valid, 1)
        for slot in (1, 1, 3):
            ctx.set(intake.i.payload.slot, slot)
            await ctx.tick()
        ctx.set(intake.i.valid, 0)
        await ctx.tick().repeat(4)
        assert ctx.get(intake.busy) == 0b1010
        for slot, busy in ((1, 0b1010), (3, 0b0010), (1, 0)):
            ctx.set(intake.finished, 1)
            ctx.set(intake.finished_slot, slot)
            await ctx.tick()
            ctx.set(intake.finished, 0)
            await ctx.tick().repeat(4)
            assert ctx.get(intake.busy) == busy

    simulate(intake, testbench)
