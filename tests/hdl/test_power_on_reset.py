# SPDX-License-Identifier: Apache-2.0
"""A core is in reset until its clock has been usable for long enough, and again when it is not."""

from amaranth.sim import Simulator

from ropeway.hdl.power_on_reset import HOLD_SECONDS, PowerOnReset, hold_clocks

CLOCK_HZ = 640_000  # so that a hold is 64 clocks


def resets(usable: list[int]) -> list[int]:
    """What the reset is in each clock in which the clock is usable or not."""
    dut = PowerOnReset(CLOCK_HZ)
    seen = []

    async def bench(ctx):
        for value in usable:
            ctx.set(dut.usable, value)
            seen.append(ctx.get(dut.reset))
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1 / CLOCK_HZ)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


def test_the_hold_is_at_least_what_it_says_and_less_than_twice_that():
    for hz in (10_000, CLOCK_HZ, 24_000_000, 100_000_000):
        held = hold_clocks(hz) / hz
        assert HOLD_SECONDS <= held <= 2 * HOLD_SECONDS + 1 / hz


def test_it_ends_once_the_clock_was_usable_for_that_long_and_stays_ended():
    hold = hold_clocks(CLOCK_HZ)
    seen = resets([0] * 20 + [1] * 3 * hold)
    ended = seen.index(0)
    assert 20 + hold <= ended <= 20 + hold + 4
    assert not any(seen[ended:])


def test_a_moment_of_an_unusable_clock_begins_it_anew():
    hold = hold_clocks(CLOCK_HZ)
    seen = resets([1] * (hold - 5) + [0] + [1] * 2 * hold)
    assert hold - 4 + hold <= seen.index(0) <= hold + hold
    seen = resets([1] * 2 * hold + [0] + [1] * 2 * hold)
    lost = 2 * hold
    assert seen[lost : lost + 3] == [0, 0, 0]
    assert all(seen[lost + 3 : lost + hold])
    assert not seen[-1]
