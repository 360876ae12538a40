# SPDX-License-Identifier: Apache-2.0
"""Waveforms of a core's streams, recorded in Amaranth's simulator and drawn as text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from amaranth.hdl import Value
from amaranth.sim import Simulator

from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing, PhaseTable
from ropeway.hdl.core import RopewayCore
from ropeway.hdl.core_registers import core_registers

from .core_bench import Write, load_writes
from .core_words import place_words

__all__ = ["drawn", "packets_recorded", "packets_waveform", "recorded"]

LOW, HIGH = "_", "‾"
RULER = 10  # clocks from one number to the next
SHOWN = ("tvalid", "tready", "tlast")
PORTS = ("s_axis_position", "s_axis", "m_axis")
SIMULATED = 96  # clocks from the first position on
STALLED = range(75, 79)  # clocks in which the results' taker is not ready


def drawn(waves: Mapping[str, Sequence[int]]) -> str:
    """Single bits, clock by clock, under a ruler of clocks."""
    width = max(map(len, waves))
    clocks = max(map(len, waves.values()))
    ruler = "".join(f"{clock:<{RULER}}" for clock in range(0, clocks, RULER))[:clocks]
    lines = [f"{'clock':{width}}  {ruler.rstrip()}"]
    for name, bits in waves.items():
        lines.append(f"{name:{width}}  {''.join(HIGH if bit else LOW for bit in bits)}")
    return "\n".join(lines) + "\n"


def packets_waveform() -> str:
    """The waves of ``packets_recorded`` as text."""
    return drawn(packets_recorded())


def packets_recorded() -> dict[str, list[int]]:
    """Three tokens of a small RoPE core, the second with its position late, under a short stall."""
    p = CoreParameters(rope=RopeParameters(lanes=2, max_head_dim=16, slots=2))
    increments = tuple((1 << 48) // (7 * 10**number) for number in range(4))
    table = PhaseTable(
        increments=increments,
        head_dim=8,
        pattern=HeadPattern(2, 1, 1),
        pairing=Pairing.ADJACENT,
    )
    beats = table.pattern.heads * table.head_dim // p.beat_elements
    return recorded(p, table, positions_at=(0, 30, 31), beats=beats)


def recorded(
    p: CoreParameters, table: PhaseTable, positions_at: Sequence[int], beats: int
) -> dict[str, list[int]]:
    """The streams of a core that holds ``table``; clocks count from when that is loaded.

    Packets of so many ``beats`` are offered without a pause from clock 0, a position at each of
    ``positions_at``.
    """
    core: Any = RopewayCore(p)
    registers = core_registers(p)
    waves: dict[str, list[int]] = {
        f"{port}_{name}": []
        for port in PORTS
        for name in SHOWN
        if name in getattr(core, port).signature.members
    }

    async def bench(ctx):
        ctx.set(core.m_axis.tready, 1)
        for write in load_writes(registers, 0, table.image()):
            await _write(ctx, core.s_axi, write)
        await ctx.tick().repeat(16)  # until the slot is ready
        words = place_words(p, np.zeros((1, p.axes), int), 0)[0]
        ctx.set(core.s_axis_position.tdata, sum(int(w) << 32 * n for n, w in enumerate(words)))
        ctx.set(core.s_axis.tkeep, -1)
        given, sent = 0, 0
        signals = {name: _signal(core, name) for name in waves}
        for clock in range(SIMULATED):
            ctx.set(core.s_axis.tvalid, sent < beats * len(positions_at))
            ctx.set(core.s_axis.tlast, sent % beats == beats - 1)
            due = given < len(positions_at) and clock >= positions_at[given]
            ctx.set(core.s_axis_position.tvalid, due)
            ctx.set(core.m_axis.tready, clock not in STALLED)
            _, _, *sampled = await ctx.tick().sample(*signals.values())
            seen = dict(zip(signals, map(int, sampled), strict=True))
            for name, bit in seen.items():
                waves[name].append(bit)
            given += seen["s_axis_position_tvalid"] & seen["s_axis_position_tready"]
            sent += seen["s_axis_tvalid"] & seen["s_axis_tready"]

    simulator = Simulator(core)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return waves


def _signal(core: Any, name: str) -> Value:
    port = next(port for port in PORTS if name.removeprefix(f"{port}_") in SHOWN)
    return getattr(getattr(core, port), name.removeprefix(f"{port}_"))


async def _write(ctx, bus, write: Write):
    """One word over AXI4-Lite, to its response."""
    for name, value in (("awaddr", write.address), ("wdata", write.word), ("wstrb", -1)):
        ctx.set(getattr(bus, name), value)
    for valid in (bus.awvalid, bus.wvalid, bus.bready):
        ctx.set(valid, 1)
    waiting = {"aw": (bus.awvalid, bus.awready), "w": (bus.wvalid, bus.wready)}
    while True:
        _, _, answered, *ready = await ctx.tick().sample(
            bus.bvalid, *(pair[1] for pair in waiting.values())
        )
        for name, taken in zip(list(waiting), ready, strict=True):
            if taken:
                ctx.set(waiting.pop(name)[0], 0)
        if answered:
            return
