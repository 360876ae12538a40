# SPDX-License-Identifier: Apache-2.0
"""Flags stick until they are cleared; the first bad token is named by its number from reset."""

import numpy as np
from amaranth.sim import Simulator

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern
from ropeway.hdl.engine import RopeEngine
from tests.geometries import geometry

P = RopeParameters(lanes=1, data_bits=8, max_head_dim=8, slots=2)
TABLE = geometry(8, HeadPattern(1, 0), theta=3.0)
BEATS = 4
FLAGS = ("saturated", "refused", "malformed", "misframed", "first_bad", "beyond", "first_beyond")


async def transfer(ctx, port, **fields):
    """One item into a stream of the engine."""
    for name, value in fields.items():
        ctx.set(getattr(port.payload, name), value)
    ctx.set(port.valid, 1)
    await ctx.tick().until(port.ready)
    ctx.set(port.valid, 0)


async def load(ctx, engine, words, slot):
    for number, word in enumerate(words):
        last = number == len(words) - 1
        await transfer(ctx, engine.i_load, word=int(word), slot=slot, last=last)
    await ctx.tick().repeat(30)


async def token(ctx, engine, beats: int, value: int):
    """A token at position 0 of ``beats`` beats, and time for it to come out."""
    await transfer(ctx, engine.i_position, position=[7], slot=0)
    for beat in range(beats):
        await transfer(ctx, engine.i, data=[value, value], last=beat == beats - 1)
    await ctx.tick().repeat(100)


def status(ctx, engine) -> dict[str, int]:
    return {name: ctx.get(getattr(engine.status, name)) for name in FLAGS}


async def clear(ctx, engine):
    ctx.set(engine.clear, 1)
    await ctx.tick()
    ctx.set(engine.clear, 0)
    await ctx.tick()
    assert status(ctx, engine) == dict.fromkeys(FLAGS, 0)


def test_each_flag_is_set_by_its_cause_alone_sticks_and_is_cleared():
    engine = RopeEngine(P)
    clean = dict.fromkeys(FLAGS, 0)

    async def testbench(ctx):
        ctx.set(engine.o.ready, 1)
        await load(ctx, engine, TABLE.image(), 0)
        assert ctx.get(engine.loaded) == 0b01
        await token(ctx, engine, BEATS, 1)  # number 0
        assert status(ctx, engine) == clean

        await token(ctx, engine, BEATS, 127)  # number 1
        await token(ctx, engine, BEATS, 1)  # number 2
        assert status(ctx, engine) == clean | {"saturated": 1}
        await clear(ctx, engine)

        await load(ctx, engine, np.zeros(9), 1)
        assert status(ctx, engine) == clean | {"malformed": 1}
        await clear(ctx, engine)

        await token(ctx, engine, BEATS - 1, 1)  # number 3
        await token(ctx, engine, BEATS + 1, 1)  # number 4
        await token(ctx, engine, BEATS, 1)  # number 5
        assert status(ctx, engine) == clean | {"misframed": 1, "first_bad": 3}
        await clear(ctx, engine)
        await token(ctx, engine, BEATS + 1, 1)  # number 6
        assert status(ctx, engine) == clean | {"misframed": 1, "first_bad": 6}
        await clear(ctx, engine)

        await transfer(ctx, engine.i_position, position=[7], slot=0)
        await load(ctx, engine, TABLE.image(), 0)
        assert ctx.get(engine.busy) == 0b01
        assert status(ctx, engine) == clean | {"refused": 1}

    simulator = Simulator(engine)
    simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    simulator.run()
