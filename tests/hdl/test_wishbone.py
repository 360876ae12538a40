# SPDX-License-Identifier: Apache-2.0
"""Every Wishbone cycle is an access, ended as its registers answer."""

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from ropeway.hdl.register_bus import Answer
from ropeway.hdl.register_file import RegisterFile
from ropeway.hdl.streams import connect
from ropeway.hdl.wishbone import Wishbone, wishbone_signature
from tests.hdl.benches import simulate
from tests.hdl.register_model import SAMPLE, random_access, sample_model

TIMEOUT = 40


class Subordinate(wiring.Component):
    """The sample's registers behind Wishbone."""

    def __init__(self):
        self.front, self.file = Wishbone(SAMPLE.address_bits), RegisterFile(SAMPLE)
        super().__init__({"bus": wiring.In(wishbone_signature(SAMPLE.address_bits))})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.front, m.submodules.file = self.front, self.file
        wiring.connect(m, wiring.flipped(self.bus), self.front.bus)
        connect(m, self.front.request, self.file.request)
        connect(m, self.file.answer, self.front.answer)
        return m


def begin(ctx, bus, address: int, write: int, word: int, strobe: int):
    values = {"adr": address >> 2, "we": write, "dat_w": word, "sel": strobe, "cyc": 1, "stb": 1}
    for name, value in values.items():
        ctx.set(getattr(bus, name), value)


async def cycle(ctx, bus, *access) -> tuple[bool, int, int]:
    """A cycle: whether it ended well, the word, and the clocks it took."""
    begin(ctx, bus, *access)
    for clocks in range(1, TIMEOUT):
        _, _, ack, err, word = await ctx.tick().sample(bus.ack, bus.err, bus.dat_r)
        if ack or err:
            assert not (ack and err)
            return bool(ack), word, clocks
    raise TimeoutError("the cycle does not end")


@pytest.mark.parametrize("idle", [0.0, 0.5], ids=["back to back", "idle"])
def test_cycles_are_accesses_in_their_order(idle):
    random, model, unit = np.random.default_rng(1), sample_model(), Subordinate()
    model.shown.clear()
    ends = set()

    async def testbench(ctx):
        for _ in range(400):
            address, *rest = random_access(random, SAMPLE)
            code, word = model.access(address, *rest)
            good, found, clocks = await cycle(ctx, unit.bus, address, *rest)
            assert (good, found) == (code == Answer.OKAY, word)
            assert clocks == unit.file.latency + 2
            ends.add(good)
            while random.random() < idle:
                ctx.set(unit.bus.stb, 0)
                ctx.set(unit.bus.cyc, int(random.integers(2)))
                await ctx.tick()
            ctx.set(unit.bus.stb, 0)
            await ctx.tick()

    simulate(unit, testbench)
    assert ends == {True, False}


@pytest.mark.parametrize("held", range(1, 12))
@pytest.mark.parametrize("gap", range(1, 4))
def test_a_cycle_given_up_ends_no_other_one(held, gap):
    unit = Subordinate()
    bus, modes = unit.bus, SAMPLE["MODES"].offset

    async def testbench(ctx):
        begin(ctx, bus, modes, 1, 0, 0xF)
        _, _, *ended = await ctx.tick().sample(bus.ack, bus.err).repeat(held)
        if any(ended):
            return
        ctx.set(bus.stb, 0)
        for _ in range(gap):
            _, _, ack, err = await ctx.tick().sample(bus.ack, bus.err)
            assert not err
            if ack:  # too late to be given up
                return
        ident = SAMPLE["IDENT"].offset
        assert (await cycle(ctx, bus, ident, 0, 0, 0xF))[:2] == (True, 0xDEAD_BEEF)
        ctx.set(bus.stb, 0)
        await ctx.tick()
        assert (await cycle(ctx, bus, modes, 0, 0, 0xF))[:2] == (True, 0)

    simulate(unit, testbench)
