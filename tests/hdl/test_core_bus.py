# SPDX-License-Identifier: Apache-2.0
"""A core's registers are the same behind every bus."""

from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden.core_parameters import BUSES, CoreParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope
from ropeway.golden.table import HeadPattern
from ropeway.hdl.core import RopewayCore
from ropeway.hdl.core_control import CoreControl
from ropeway.hdl.core_top import CoreTop
from ropeway.hdl.register_bus import Answer
from ropeway.hdl.registers import Access, RegisterMap
from tests.geometries import data_words, geometry
from tests.hdl.benches import simulate
from tests.hdl.bus_managers import access, port_of
from tests.hdl.host import Host
from tests.hdl.register_model import RegisterModel, random_access

SMALL = CoreParameters(rope=RopeParameters(lanes=1, max_head_dim=16, slots=2))
TABLE = geometry(16, HeadPattern(1, 1))
PATIENCE = 300  # clocks


def quiet(registers: RegisterMap) -> RegisterMap:
    """The registers whose values are what was built or written, whatever streams do."""
    plain = ({Access.CONST}, {Access.RW})
    kept = tuple(r for r in registers if {f.access for f in r.fields} in plain)
    return replace(registers, registers=kept)


@pytest.mark.parametrize(("bus", "small"), [*((bus, False) for bus in BUSES), ("registers", True)])
def test_accesses_come_to_what_the_table_says(bus, small):
    control = CoreControl(replace(SMALL, bus=bus, small=small))
    model = RegisterModel(control.map, refused={"LOAD_WINDOW"})
    random, found, answers = np.random.default_rng(3), port_of(control, bus), set()

    async def testbench(ctx):
        for _ in range(300):
            address, *rest = random_access(random, quiet(control.map))
            code, word = model.access(address, *rest)
            told = Answer.SLVERR if bus == "wishbone" and code != Answer.OKAY else code
            assert await access(ctx, bus, found, address, *rest) == (told, word), hex(address)
            answers.add(code)

    simulate(control, testbench)
    assert answers == set(Answer)


@pytest.mark.parametrize("bus", BUSES)
def test_an_access_takes_as_long_as_its_bus_says(bus):
    control = CoreControl(replace(SMALL, bus=bus))

    async def testbench(ctx):
        port = port_of(control, bus)
        if bus == "axi4-lite":
            ctx.set(port.arvalid, 1)
            answered = port.rvalid
        elif bus == "wishbone":
            ctx.set(port.cyc, 1)
            ctx.set(port.stb, 1)
            answered = port.ack
        else:
            ctx.set(port.request.valid, 1)
            answered = port.answer.valid
        for clocks in range(control.latency):
            assert not ctx.get(answered), clocks
            await ctx.tick()
        assert ctx.get(answered)

    simulate(control, testbench)


async def token_through(ctx, core, elements: np.ndarray, place: int) -> list[int]:
    """One token's elements [heads, head_dim] through the core; the results' elements."""
    p, beats, found = core.parameters, elements.reshape(-1, core.parameters.beat_elements), []
    ctx.set(core.s_axis_position.tdata, place)
    ctx.set(core.s_axis_position.tvalid, 1)
    ctx.set(core.m_axis.tready, 1)
    ctx.set(core.s_axis.tkeep, (1 << 2 * p.beat_elements) - 1)
    sent = 0
    for _ in range(PATIENCE):
        ctx.set(core.s_axis.tvalid, sent < len(beats))
        if sent < len(beats):
            words = (int(each) & 0xFFFF for each in beats[sent])
            ctx.set(core.s_axis.tdata, sum(word << 16 * n for n, word in enumerate(words)))
            ctx.set(core.s_axis.tlast, sent == len(beats) - 1)
        _, _, placed, taken, valid, beat = await ctx.tick().sample(
            core.s_axis_position.tready, core.s_axis.tready, core.m_axis.tvalid, core.m_axis.tdata
        )
        if placed:
            ctx.set(core.s_axis_position.tvalid, 0)
        sent += bool(taken and sent < len(beats))
        if valid:
            raw = [beat >> 16 * n & 0xFFFF for n in range(p.beat_elements)]
            found += [(word ^ 0x8000) - 0x8000 for word in raw]
        if len(found) == elements.size:
            return found
    raise TimeoutError(f"{len(found)} elements came")


@pytest.mark.parametrize("bus", BUSES)
def test_an_image_is_loaded_over_any_bus_and_a_token_turned_by_it(bus):
    p = replace(SMALL, bus=bus)
    core = RopewayCore(p)
    elements = data_words(np.random.default_rng(1), (2, 16), p.rope)

    async def testbench(ctx):
        host = Host(ctx, port_of(core, bus), core.control.map, bus)
        await host.load(1, TABLE.image())
        await host.until("TARGET_STATUS", 1, loaded=1)
        await ctx.tick().repeat(300)
        assert f"{await host.get('FINGERPRINT', 1):016x}" == TABLE.fingerprint
        found = await token_through(ctx, core, elements, 77 | 1 << 32)
        wanted, _ = rope(p.rope, TABLE, elements[None], np.array([[77]]))
        assert found == wanted[0].reshape(-1).tolist()

    simulate(core, testbench)


def test_flat_ports_are_named_for_what_they_carry():
    tops = {bus: CoreTop(replace(SMALL, bus=bus)) for bus in BUSES}
    names = {bus: set(top.signature.members) for bus, top in tops.items()}
    own = {bus: these - set.intersection(*names.values()) for bus, these in names.items()}
    assert {"s_axi_awaddr", "s_axi_rdata"} < own["axi4-lite"]
    ends = ("cyc", "stb", "we", "adr", "sel", "dat_w", "dat_r", "ack", "err")
    assert own["wishbone"] == {f"s_wb_{end}" for end in ends}
    ends = ("valid", "address", "write", "word", "strobe")
    assert own["registers"] == {f"request_{end}" for end in ends} | {
        f"answer_{end}" for end in ("valid", "word", "code")
    }
