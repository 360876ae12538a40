# SPDX-License-Identifier: Apache-2.0
"""What registers are set by, and what they set: loads, flags, positions, counters, settings."""

import numpy as np
import pytest
from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring

from ropeway.boards.documents import FULL
from ropeway.golden.additive import AlibiGeometry, alibi_slopes
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern
from ropeway.hdl.alibi import AlibiUnit
from ropeway.hdl.axi_lite import axi_lite_signature
from ropeway.hdl.core_control import CoreControl
from ropeway.hdl.core_status import EVENTS, FIRSTS, FLAGS
from ropeway.hdl.engine import RopeEngine
from ropeway.hdl.register_bus import Answer
from ropeway.hdl.streams import connect
from tests.geometries import geometry
from tests.hdl.benches import simulate
from tests.hdl.host import Host

SMALL = CoreParameters(
    rope=RopeParameters(lanes=1, max_head_dim=16, slots=2),
    alibi=AlibiParameters(lanes=1, max_heads=4),
)
BYPASS, ALIBI = 2, 3  # targets of the small core
TABLES = [geometry(16, HeadPattern(1, 1), theta=theta) for theta in (10_000.0, 500.0)]
SLOPES = AlibiGeometry(model_slopes=alibi_slopes(4), heads=4)


class Small(wiring.Component):
    """Control, and the units of a small core as far as they are loaded."""

    def __init__(self):
        self.control = CoreControl(SMALL)
        self.engine, self.alibi = RopeEngine(SMALL.rope), AlibiUnit(SMALL.alibi)
        super().__init__({"s_axi": wiring.In(axi_lite_signature(16))})

    def elaborate(self, _platform):
        m = Module()
        control, engine, alibi = self.control, self.engine, self.alibi
        m.submodules.control, m.submodules.engine, m.submodules.alibi = control, engine, alibi
        wiring.connect(m, wiring.flipped(self.s_axi), control.s_axi)
        connect(m, control.load_rope, engine.i_load)
        connect(m, control.load_alibi, alibi.i_load)
        loaded, asked = Signal(2), Signal(2)
        m.d.sync += [loaded.eq(engine.loaded), asked.eq(control.fingerprint_slot)]
        for slot in range(2):
            rises = engine.loaded[slot] & ~loaded[slot]
            m.d.sync += control.epochs[slot].eq(control.epochs[slot] + rises)
        m.d.comb += [
            control.loaded.eq(Cat(engine.loaded, 1)),
            control.busy.eq(engine.busy),
            engine.fingerprint_slot.eq(control.fingerprint_slot),
            control.fingerprint.eq(Mux(asked < 2, engine.fingerprint, 0)),
            control.loaded_alibi.eq(alibi.loaded),
            control.fingerprint_alibi.eq(alibi.fingerprint),
        ]
        for unit, made in (("rope", engine), ("alibi", alibi)):
            m.d.comb += [
                getattr(control, f"status_{unit}").eq(made.status),
                made.clear.eq(getattr(control, f"clear_{unit}")),
            ]
        return m


def run_small(script):
    unit = Small()

    async def testbench(ctx):
        await script(Host(ctx, unit.s_axi, unit.control.map), unit)

    simulate(unit, testbench)


def run_bare(script, p: CoreParameters = FULL, background=()):
    """A script with control alone, whose other ports are the bench's."""
    control = CoreControl(p)

    async def testbench(ctx):
        await script(Host(ctx, control.s_axi, control.map), control)

    def bound(function):
        async def watch(ctx):
            await function(ctx, control)

        return watch

    simulate(control, testbench, background=[bound(each) for each in background])


async def fingerprint(host: Host, target: int) -> str:
    return f"{await host.get('FINGERPRINT', target):016x}"


def test_images_come_through_the_window_and_are_digested():
    async def script(host, _unit):
        assert await host.get("IDENT") == int.from_bytes(b"ROPE", "big")
        kinds = [(await host.read("TARGET_STATUS", n))["kind"] for n in range(4)]
        assert kinds == [0, 0, 3, 4]
        for slot, table in enumerate(TABLES):
            await host.load(slot, table.image())
        await host.load(ALIBI, SLOPES.image())
        for target in (0, 1, ALIBI):
            await host.until("TARGET_STATUS", target, loaded=1, epoch=1)
        await host.ctx.tick().repeat(400)
        assert await fingerprint(host, 0) == TABLES[0].fingerprint
        assert await fingerprint(host, 1) == TABLES[1].fingerprint
        assert await fingerprint(host, ALIBI) == SLOPES.fingerprint
        assert await fingerprint(host, BYPASS) == f"{0:016x}"
        assert (await host.read("TARGET_STATUS", BYPASS))["epoch"] == 0
        assert (await host.read("CORE_FLAGS"))["loaded"] == 1
        assert (await host.read("ROPE_FLAGS"))["malformed"] == 0

    run_small(script)


def test_a_host_that_does_not_look_is_told_and_may_go_on_from_where_it_was():
    """The second image's first word waits until the first image is digested."""

    async def script(host, _unit):
        await host.load(0, TABLES[0].image())
        refusals, words = 0, TABLES[1].image()
        await host.put("LOAD", target=1, words=len(words))
        for number, word in enumerate(words):
            while await host.write("LOAD_WINDOW", number, value=int(word)) != Answer.OKAY:
                refusals += 1
                assert (await host.read("LOAD_STATUS"))["next"] == number
        assert refusals > 0
        await host.until("TARGET_STATUS", 1, loaded=1)
        await host.ctx.tick().repeat(300)
        assert await fingerprint(host, 1) == TABLES[1].fingerprint

    run_small(script)


def test_a_wrong_order_is_refused_and_a_wrong_target_and_the_image_is_whole_after_all():
    async def script(host, _unit):
        words = [int(word) for word in TABLES[0].image()]
        for target, count in ((BYPASS, 8), (ALIBI + 1, 8), (0, 0)):
            assert await host.write("LOAD", target=target, words=count) == Answer.SLVERR
        assert await host.write("LOAD_WINDOW", 0, value=1) == Answer.SLVERR
        await host.put("LOAD", target=0, words=len(words))
        assert await host.write("LOAD", target=0, words=len(words)) == Answer.SLVERR
        for number, word in enumerate(words):
            for wrong in (number + 1, number - 1):
                code = await host.write("LOAD_WINDOW", wrong % 1024, value=0xBAD)
                assert code == Answer.SLVERR
            await host.put("LOAD_WINDOW", number, value=word)
        await host.until("TARGET_STATUS", 0, loaded=1)
        await host.ctx.tick().repeat(300)
        assert await fingerprint(host, 0) == TABLES[0].fingerprint

    run_small(script)


@pytest.mark.parametrize("target", [1, ALIBI], ids=["rope", "alibi"])
@pytest.mark.parametrize("left", [1, 2, 5])
def test_a_load_given_up_is_malformed_and_the_next_one_is_not(target, left):
    image = SLOPES.image() if target == ALIBI else TABLES[1].image()
    unit = "ALIBI" if target == ALIBI else "ROPE"

    async def script(host, _unit):
        await host.put("LOAD", target=target, words=len(image))
        for number, word in enumerate(image[:-left]):
            await host.put("LOAD_WINDOW", number, value=int(word))
            await host.until("LOAD_STATUS", pending=0)
        await host.put("LOAD_ABORT", value=1)
        assert (await host.until(f"{unit}_FLAGS", malformed=1))["saturated"] == 0
        assert (await host.read("TARGET_STATUS", target))["loaded"] == 0
        await host.put(f"{unit}_FLAGS", malformed=1)
        await host.load(target, image)
        await host.until("TARGET_STATUS", target, loaded=1, epoch=1)
        assert (await host.read(f"{unit}_FLAGS"))["malformed"] == 0

    run_small(script)


async def pulse(ctx, *signals):
    for signal in signals:
        ctx.set(signal, 1)
    await ctx.tick()
    for signal in signals:
        ctx.set(signal, 0)


def sticky(unit: str):
    """A unit's own status: flags stay, with what was first, until they are cleared."""

    async def keep(ctx, control):
        status, clear = getattr(control, f"status_{unit}"), getattr(control, f"clear_{unit}")
        async for _, _, cleared in ctx.tick().sample(clear):
            if cleared:
                ctx.set(Value.cast(status), 0)

    return keep


def first_of(flag: str) -> int:
    """What is first of a flag's event: a packet's number, or a position."""
    return 40 if flag == "misframed" else -len(flag)


@pytest.mark.parametrize("unit", FULL.units)
def test_each_flag_is_kept_and_cleared_alone_with_what_was_first(unit):
    name, flags = unit.upper(), list(FLAGS[unit])

    async def script(host, control):
        status = getattr(control, f"status_{unit}")
        for number, flag in enumerate(flags):
            if flag in FIRSTS:
                host.ctx.set(getattr(status, FIRSTS[flag][0]), first_of(flag))
            host.ctx.set(getattr(status, flag), 1)
            await host.ctx.tick().repeat(3)
            assert host.ctx.get(Value.cast(status)) == 0, "the unit's own is cleared"
            found = await host.read(f"{name}_FLAGS")
            assert list(found.values()) == [int(n <= number) for n in range(len(flags))]
        for number, flag in enumerate(flags):
            if flag in FIRSTS:
                kept = f"{name}_{FIRSTS[flag][0].upper()}"
                assert await host.get(kept) == first_of(flag)
                # Another event does not change what was first.
                host.ctx.set(getattr(status, FIRSTS[flag][0]), 7)
                host.ctx.set(getattr(status, flag), 1)
                await host.ctx.tick().repeat(3)
                assert await host.get(kept) == first_of(flag)
            await host.put(f"{name}_FLAGS", **{flag: 1})
            found = await host.read(f"{name}_FLAGS")
            assert list(found.values()) == [int(n > number) for n in range(len(flags))]
            if flag in FIRSTS:
                assert await host.get(kept) == 0

    run_bare(script, background=[sticky(unit)])


def test_an_event_between_reading_a_flag_and_clearing_it_is_not_lost():
    async def script(host, control):
        host.ctx.set(control.status_rope.saturated, 1)
        await host.ctx.tick().repeat(3)
        seen = await host.read("ROPE_FLAGS")
        host.ctx.set(control.status_rope.misframed, 1)
        host.ctx.set(control.status_rope.first_bad, 9)
        await host.ctx.tick().repeat(3)
        await host.put("ROPE_FLAGS", **seen)
        found = await host.read("ROPE_FLAGS")
        assert (found["saturated"], found["misframed"]) == (0, 1)
        assert await host.get("ROPE_FIRST_BAD") == 9

    run_bare(script, background=[sticky("rope")])


@pytest.mark.parametrize("unit", ["core", *FULL.units])
def test_an_enabled_flag_raises_the_interrupt_until_it_is_cleared(unit):
    name = unit.upper()

    async def script(host, control):
        ctx = host.ctx
        flag = next(iter(FLAGS[unit]))
        signal = control.partial if unit == "core" else getattr(control, f"status_{unit}")[flag]
        await pulse(ctx, signal)
        await ctx.tick().repeat(5)
        assert ctx.get(control.irq) == 0, "not enabled"
        await host.put(f"{name}_ENABLE", **{flag: 1})
        await ctx.tick().repeat(3)
        assert ctx.get(control.irq) == 1
        assert [u for u, on in (await host.read("INTERRUPTS")).items() if on] == [unit]
        await host.put(f"{name}_FLAGS", **{flag: 1})
        await ctx.tick().repeat(3)
        assert ctx.get(control.irq) == 0
        await pulse(ctx, signal)
        await ctx.tick().repeat(5)
        assert ctx.get(control.irq) == 1
        await host.put(f"{name}_ENABLE")
        await ctx.tick().repeat(3)
        assert ctx.get(control.irq) == 0

    run_bare(script)


def test_the_core_s_own_events_set_its_flags():
    async def script(host, control):
        for flag in ("partial", "unknown"):
            await pulse(host.ctx, getattr(control, flag))
            assert [f for f, on in (await host.read("CORE_FLAGS")).items() if on] == [flag]
            await host.put("CORE_FLAGS", **{flag: 1})
        host.ctx.set(control.epochs[2], 255)
        assert (await host.read("CORE_FLAGS"))["loaded"] == 1
        assert (await host.read("TARGET_STATUS", 2))["epoch"] == 255
        await host.put("CORE_FLAGS", loaded=1)
        host.ctx.set(control.loaded_alibi, 1)
        assert (await host.read("CORE_FLAGS"))["loaded"] == 1
        state = await host.read("TARGET_STATUS", len(FULL.slots))
        assert state == {"loaded": 1, "busy": 0, "kind": 4, "epoch": 1}
        host.ctx.set(control.busy, 0b101)
        host.ctx.set(control.loaded, 0b110)
        states = [await host.read("TARGET_STATUS", n) for n in range(3)]
        assert [(s["loaded"], s["busy"]) for s in states] == [(0, 1), (1, 0), (1, 1)]

    run_bare(script)


@pytest.mark.parametrize("group", ["vector", "score"])
def test_each_event_has_a_counter_of_its_own(group):
    async def script(host, control):
        events = control.events if group == "vector" else control.score_events
        for number, event in enumerate(EVENTS):
            host.ctx.set(getattr(events, event), 1)
            await host.ctx.tick().repeat(number + 1)
            host.ctx.set(getattr(events, event), 0)
        names = [f"{group}_{event}".upper() for event in EVENTS]
        assert [await host.get(name) for name in names] == [*range(1, len(EVENTS) + 1)]
        await host.put("CONTROL", counting=0)
        await pulse(host.ctx, events.tokens)
        assert await host.get(f"{group.upper()}_TOKENS") == 4
        await host.put("COUNTERS_CLEAR", value=0)
        assert await host.get(f"{group.upper()}_TOKENS") == 4
        await host.put("COUNTERS_CLEAR", value=1)
        assert [await host.get(name) for name in names] == [0] * len(EVENTS)

    run_bare(script)


def taker(taken: list, stall: float = 0.3):
    """Takes counted positions, stalled at random."""

    async def take(ctx, control):
        random, o = np.random.default_rng(2), control.o_counted
        while True:
            ready = random.random() >= stall
            ctx.set(o.ready, ready)
            _, _, valid, payload = await ctx.tick().sample(o.valid, o.payload)
            if valid and ready:
                taken.append(payload)

    return take


def test_a_run_of_counted_positions_is_begun_watched_and_stopped():
    taken: list = []

    async def script(host, _control):
        await host.put("AUTO_BASE", value=-3)
        await host.put("AUTO_COUNT", value=40)
        await host.put("AUTO_USE", slot=5, conjugate=1, pure=1)
        await host.put("AUTO_TEMPERATURE", value=0x4_0123)
        await host.put("AUTO_CONTROL", start=1)
        assert await host.write("AUTO_CONTROL", start=1) == Answer.SLVERR
        await host.until("AUTO_LEFT", value=0)
        assert (await host.read("CORE_FLAGS"))["counted"] == 1
        assert [p.position[0] for p in taken] == list(range(-3, 37))
        found = taken[-1]
        assert (found.slot, found.conjugate, found.pure, found.bypass) == (5, 1, 1, 0)
        assert found.temperature.as_value().value == 0x4_0123
        taken.clear()
        await host.put("AUTO_COUNT", value=1 << 20)
        await host.put("AUTO_CONTROL", start=1)
        await host.ctx.tick().repeat(50)
        await host.put("AUTO_CONTROL", stop=1)
        await host.until("AUTO_LEFT", value=0)
        assert [p.position[0] for p in taken] == list(range(-3, len(taken) - 3))
        assert len(taken) < 100

    run_bare(script, background=[taker(taken)])


@pytest.mark.parametrize("slot", [len(FULL.slots) - 1, len(FULL.slots), 200])
def test_counted_positions_name_no_slot_where_there_is_none(slot):
    async def script(host, control):
        await host.put("AUTO_USE", slot=slot)
        await host.put("AUTO_COUNT", value=1)
        await host.put("AUTO_CONTROL", start=1)
        assert host.ctx.get(control.o_counted.payload.slot) == min(slot, len(FULL.slots))

    run_bare(script)


def test_settings_reach_the_units():
    async def script(host, control):
        get = host.ctx.get
        assert (get(control.scale), get(control.carried)) == (1 << 17, 0)
        await host.put("TABLE_BASE_LOW", value=0x8765_4320)
        await host.put("TABLE_BASE_HIGH", value=0xFEDC_BA98)
        await host.put("TABLE_STRIDE", value=0x2_1234)
        await host.put("SCORE_SCALE", value=0x1_6A0A)
        await host.put("CONTROL", carried=1)
        assert get(control.base) == 0xFEDC_BA98_8765_4320
        assert (get(control.stride), get(control.scale)) == (0x2_1234, 0x1_6A0A)
        assert get(control.carried) == 1

    run_bare(script)
