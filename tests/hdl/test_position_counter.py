# SPDX-License-Identifier: Apache-2.0
"""A run gives its positions one by one, on every axis, and ends when it should."""

import numpy as np
import pytest
from amaranth.hdl import Value

from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.core_layouts import place_layout
from ropeway.hdl.position_counter import PositionCounter
from tests.hdl.benches import simulate

P = CoreParameters(rope=RopeParameters(axes=3, position_bits=8, temperature=True))
USE = {"slot": 2, "conjugate": 1, "pure": 0, "bypass": 1, "temperature": {"code": 77, "scale": 1}}


def place(position: int) -> int:
    layout = place_layout(P)
    return layout.const({"position": [position] * 3, **USE}).as_value().value


def run(script, stall: float = 0.0, seed: int = 0):
    """What a script of (clock, what is set) gives, and how many runs ended."""
    counter, random = PositionCounter(P), np.random.default_rng(seed)
    taken, ended, lefts = [], [], []

    async def testbench(ctx):
        pending = None
        o = counter.o
        for clock in range(120):
            values = script.get(clock, {})
            for name in ("start", "stop"):
                ctx.set(getattr(counter, name), name in values)
            if "start" in values:
                base, count = values["start"]
                ctx.set(Value.cast(counter.first), place(base))
                ctx.set(counter.count, count)
            ready = random.random() >= stall and values.get("ready", 1)
            ctx.set(o.ready, ready)
            _, _, valid, payload, end, left = await ctx.tick().sample(
                o.valid, Value.cast(o.payload), counter.ended, counter.left
            )
            assert pending in (None, (valid, payload)), "not held"
            assert valid == (left != 0)
            pending = (valid, payload) if valid and not ready else None
            if valid and ready:
                taken.append((payload, left))
            ended.append(end)
        lefts.append(ctx.get(counter.left))

    simulate(counter, testbench)
    return taken, sum(ended), lefts[-1]


def expected(base: int, count: int) -> list[tuple[int, int]]:
    wrapped = [(base + n + 128) % 256 - 128 for n in range(count)]
    return [(place(position), count - n) for n, position in enumerate(wrapped)]


@pytest.mark.parametrize("stall", [0.0, 0.5], ids=["no stall", "stall"])
@pytest.mark.parametrize(("base", "count"), [(0, 1), (5, 2), (-3, 9), (120, 20), (-128, 3)])
def test_positions_count_up_from_the_base_and_wrap_at_the_core_s_width(base, count, stall):
    taken, ended, left = run({3: {"start": (base, count)}}, stall)
    assert taken == expected(base, count)
    assert (ended, left) == (1, 0)


def test_a_run_of_none_gives_none_and_one_that_is_begun_while_another_lasts_is_not():
    assert run({3: {"start": (7, 0)}}) == ([], 0, 0)
    taken, ended, _ = run({3: {"start": (7, 20)}, 9: {"start": (50, 4)}, 60: {"start": (1, 2)}})
    assert taken == expected(7, 20) + expected(1, 2)
    assert ended == 2


@pytest.mark.parametrize("stop", range(4, 16))
@pytest.mark.parametrize("held", [False, True], ids=["taken", "held"])
def test_a_stopped_run_ends_with_the_position_on_offer(stop, held):
    script: dict[int, dict] = {3: {"start": (10, 8)}, stop: {"stop": 1}}
    if held:
        for clock in range(stop, stop + 6):
            script.setdefault(clock, {})["ready"] = 0
    taken, ended, left = run(script)
    offered = min(stop - 3, 8)  # a position a clock from the one after the start on
    assert [payload for payload, _ in taken] == [place(10 + n) for n in range(offered)]
    assert (ended, left) == (1, 0)
