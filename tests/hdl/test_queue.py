# SPDX-License-Identifier: Apache-2.0
"""A queue keeps order and holds its items under any traffic."""

import numpy as np
import pytest

from ropeway.hdl import primitives
from ropeway.hdl.queue import Queue
from tests.hdl.benches import simulate, stream_through


@pytest.fixture(autouse=True, params=["distributed", "block"])
def memory(request, monkeypatch):
    """Queues of memory that is read at once, and of iCE40's, which is asked a clock ahead."""
    monkeypatch.setattr(primitives, "is_ice40", lambda _platform: request.param == "block")


ITEMS = np.random.default_rng(0).integers(0, 1 << 20, 300).tolist()


@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("idle", [0.0, 0.5])
@pytest.mark.parametrize("bypass", [False, True])
@pytest.mark.parametrize("full_rate", [False, True])
@pytest.mark.parametrize(("depth", "seed"), [(16, 1), (32, 2)])
def test_items_come_out_in_their_order(depth, seed, full_rate, bypass, idle, stall):
    queue = Queue(20, depth, full_rate=full_rate, bypass=bypass)
    result = stream_through(queue, ITEMS, room=queue.room, idle=idle, stall=stall, seed=seed)
    assert result.items == ITEMS
    assert result.clocks_out[0] - result.clocks_in[0] >= queue.latency


@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("idle", [0.0, 0.5, 0.9])
def test_an_announced_item_is_known_a_clock_before_it_is_offered(idle, stall):
    queue = Queue(20, 16, bypass=True, announced=True)
    random, seen, before = np.random.default_rng(1), [], None

    async def testbench(ctx):
        nonlocal before
        sent = 0
        while len(seen) < len(ITEMS):
            goes = sent < len(ITEMS) and ctx.get(queue.room) and random.random() >= idle
            ctx.set(queue.i.valid, bool(goes))
            ctx.set(queue.i.payload, ITEMS[sent] if goes else 0)
            ctx.set(queue.o.ready, random.random() >= stall)
            sent += bool(goes)
            valid, ready, item, coming = (
                await ctx.tick().sample(queue.o.valid, queue.o.ready, queue.o.payload, queue.coming)
            )[2:]
            if valid:
                assert item == coming == before
            if valid and ready:
                seen.append(item)
            before = coming

    simulate(queue, testbench)
    assert seen == ITEMS


def test_announced_items_come_every_third_clock():
    queue = Queue(20, 16, bypass=True, announced=True)
    result = stream_through(queue, ITEMS, room=queue.room)
    assert result.clocks_out[0] - result.clocks_in[0] == queue.latency == 1
    assert np.all(np.diff(result.clocks_out) == queue.interval)
    assert queue.interval == 3


@pytest.mark.parametrize("options", [{}, {"bypass": True, "full_rate": True}])
def test_what_would_announce_the_wrong_item_is_refused(options):
    with pytest.raises(ValueError, match="announced with a bypass"):
        Queue(20, 16, announced=True, **options)


@pytest.mark.parametrize("full_rate", [False, True])
def test_the_stated_latency_and_interval_are_measured(full_rate):
    queue = Queue(20, 16, full_rate=full_rate)
    result = stream_through(queue, ITEMS, room=queue.room)
    assert result.clocks_out[0] - result.clocks_in[0] == queue.latency
    assert np.all(np.diff(result.clocks_out) == queue.interval)


@pytest.mark.parametrize("full_rate", [False, True])
@pytest.mark.parametrize(("depth", "seed"), [(16, 3), (32, 4)])
def test_one_item_less_than_its_depth_always_fits(depth, seed, full_rate):
    # A producer that counts does not look for room: all go in before the first is taken.
    fitting = ITEMS[: depth - 1]
    queue = Queue(20, depth, full_rate=full_rate)
    result = stream_through(queue, fitting, stall=0.98, seed=seed, timeout=3000)
    assert result.clocks_in[-1] < result.clocks_out[0]
    assert result.items == fitting


@pytest.mark.parametrize("depth", [16, 32])
def test_room_holds_back_a_producer_while_nothing_is_taken(depth):
    queue = Queue(20, depth)
    with pytest.raises(TimeoutError, match=r"0 items out"):
        stream_through(queue, ITEMS, room=queue.room, stall=1.0)
