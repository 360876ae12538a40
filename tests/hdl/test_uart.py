# SPDX-License-Identifier: Apache-2.0
"""A serial port takes and gives bytes at any rate, and is not led astray by what is none."""

from math import ceil

import numpy as np
import pytest

from ropeway.golden.errors import InputError
from ropeway.golden.uart_parameters import UartParameters
from ropeway.hdl.uart_receiver import UartReceiver
from ropeway.hdl.uart_transmitter import UartTransmitter
from tests.hdl.benches import simulate

RATIOS = {
    "4": (4_000_000, 1_000_000),
    "4.5": (4_500_000, 1_000_000),
    "8.3": (25_000_000, 3_000_000),
    "12": (12_000_000, 1_000_000),
    "34.7": (4_000_000, 115_200),
}
BYTES = [0x00, 0xFF, 0x55, 0xAA, 0x01, 0x80, 0x7F, 0xFE]


@pytest.fixture(params=RATIOS)
def p(request) -> UartParameters:
    clock, baud = RATIOS[request.param]
    return UartParameters(clock_hz=clock, baud=baud)


def waveform(frames: list[list[int]], clocks: float, phase: float) -> list[int]:
    """The line in every clock: frames one after the other, 0 to 1 bits ``clocks`` long.

    A change is seen from the first clock that begins after it; ``phase`` is where within a clock
    the first one stands.
    """
    bits = [bit for bits in frames for bit in bits]
    edges = [ceil(phase + clocks * n) for n in range(len(bits) + 1)]
    seen = [b for n, b in enumerate(bits) for _ in range(edges[n + 1] - edges[n])]
    return [*[1] * 5, *seen, *[1] * (ceil(2 * clocks) + 5)]


def frame(byte: int, stop: int = 1) -> list[int]:
    return [0, *(byte >> n & 1 for n in range(8)), stop]


def received(p: UartParameters, levels: list[int]) -> list[tuple[int, int]]:
    """Bytes, and whether they are broken."""
    uart, found = UartReceiver(p), []

    async def testbench(ctx):
        for level in levels:
            ctx.set(uart.rx, level)
            payload = uart.o.payload
            _, _, valid, byte, broken = await ctx.tick().sample(
                uart.o.valid, payload.byte, payload.broken
            )
            if valid:
                found.append((byte, broken))

    simulate(uart, testbench)
    return found


@pytest.mark.parametrize("slower", [-0.02, 0.0, 0.02])
def test_bytes_are_received_at_any_phase_and_a_little_off_the_rate(p, slower):
    random = np.random.default_rng(1)
    sent = [*BYTES, *random.integers(0, 256, 8 if p.clocks_per_bit < 12 else 2).tolist()]
    for phase in (0.0, 0.4, 0.9):
        bit = p.clock_hz / p.baud * (1 + slower)
        levels = waveform([frame(byte) for byte in sent], bit, phase)
        assert received(p, levels) == [(byte, 0) for byte in sent], phase


def test_a_byte_without_a_stop_bit_is_broken_and_the_next_one_is_not(p):
    bit = p.clock_hz / p.baud
    levels = waveform([frame(0x5A, stop=0), [1] * 2, frame(0xC3)], bit, 0.5)
    assert received(p, levels) == [(0x5A, 1), (0xC3, 0)]


def test_a_break_is_one_broken_byte_however_long_it_lasts(p):
    bit = p.clock_hz / p.baud
    levels = waveform([[0] * 47, [1], frame(0x12)], bit, 0.0)
    assert received(p, levels) == [(0, 1), (0x12, 0)]


def test_a_line_that_is_low_at_power_on_gives_nothing_but_one_broken_byte(p):
    bit = p.clock_hz / p.baud
    levels = waveform([[0] * 20, [1], frame(0x34)], bit, 0.0)[5:]
    assert received(p, levels) == [(0, 1), (0x34, 0)]


def test_a_start_bit_that_is_over_by_its_middle_is_none():
    p = UartParameters(clock_hz=16, baud=1)
    glitches = [1] * 20 + ([0] * 5 + [1] * 30) * 3
    assert received(p, [*glitches, *waveform([frame(0x99)], 16, 0.0)]) == [(0x99, 0)]


def sent(p: UartParameters, data: list[int], idle: int = 0) -> list[int]:
    """The line in every clock; so many clocks pass between the end of a byte and the next."""
    uart, levels = UartTransmitter(p), []

    async def testbench(ctx):
        waiting, pause = list(data), 0
        for _ in range(ceil((len(data) + 1) * (10 * p.clocks_per_bit + 1 + idle))):
            offered = bool(waiting) and not pause
            ctx.set(uart.i.valid, offered)
            ctx.set(uart.i.payload, waiting[0] if waiting else 0)
            _, _, ready, level = await ctx.tick().sample(uart.i.ready, uart.tx)
            levels.append(level)
            if offered and ready:
                waiting.pop(0)
                pause = idle
            elif ready and pause:
                pause -= 1

    simulate(uart, testbench)
    return levels


@pytest.mark.parametrize("idle", [0, 7])
def test_what_is_sent_is_what_is_received(p, idle):
    levels = sent(p, BYTES, idle)
    assert received(p, levels) == [(byte, 0) for byte in BYTES]


def test_bits_are_as_long_as_they_should_be_and_bytes_follow_each_other(p):
    levels = sent(p, [0x55] * 4)
    changes = [n for n in range(1, len(levels)) if levels[n] != levels[n - 1]]
    assert len(changes) == 4 * 10
    bit = p.clock_hz / p.baud
    for byte in range(4):
        starts = changes[10 * byte]
        for n in range(10):
            assert abs(changes[10 * byte + n] - starts - n * bit) <= 1 + n * bit / 256
    length = 3 * (10 * bit + 1)
    assert abs(changes[30] - changes[0] - length) <= 3 + length / 500


@pytest.mark.parametrize(("clock", "baud"), [(3, 1), (12_000_000, 3_000_001), (1, 0), (0, 1)])
def test_a_rate_that_the_clock_does_not_make_is_named(clock, baud):
    with pytest.raises(InputError, match=r"baud|clock_hz"):
        UartParameters(clock_hz=clock, baud=baud)


@pytest.mark.parametrize("clock", [12_000_000, 27_000_000, 48_000_000, 100_000_000])
@pytest.mark.parametrize("baud", [9600, 115_200, 921_600, 1_000_000, 3_000_000])
def test_rates_are_met_to_one_part_in_512(clock, baud):
    p = UartParameters(clock_hz=clock, baud=baud)
    assert abs(p.clocks_per_bit * baud / clock - 1) < 1 / 500
    assert p.phase_bits <= 23
