# SPDX-License-Identifier: Apache-2.0
"""A learned adder's Verilog beside an AXI memory, held to the golden model."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import LearnedGeometry
from ropeway.golden.learned import add_learned, out_of_table
from ropeway.hdl.learned_adder import learned_status_layout
from ropeway.sim.packing import pack_beats, unpack_beats
from tests.cocotb.axi import PERIOD, SlowRam
from tests.cocotb.learned_units import Unit
from tests.cocotb.streams import Sink, Source
from tests.geometries import elements

MEMORY = 1 << 23
QUIET = 5000  # clocks after which nothing is expected to move
DIGESTED = 80  # clocks


@dataclass(frozen=True)
class Pace:
    """Chances that data wait, results wait, and the memory's channels pause, and its latency."""

    idle: float = 0.0
    stall: float = 0.0
    pause: float = 0.0
    latency: tuple[int, int] = (20, 21)


@dataclass(frozen=True)
class Script:
    """A table at ``base``, the tokens' positions, and the words of a row that fail, by row."""

    p: AdderParameters
    geometry: LearnedGeometry
    bus_bits: int
    base: int
    positions: Sequence[int]
    bad_words: dict[int, int] = field(default_factory=dict)

    @property
    def stride(self) -> int:
        """Words of the bus from row to row."""
        return -(-self.geometry.width * self.p.data_bits // self.bus_bits)

    @property
    def beats(self) -> int:
        return self.geometry.width // self.p.beat_elements

    def table(self) -> np.ndarray:
        random = np.random.default_rng(7)
        return elements(random, (self.geometry.rows, self.geometry.width), self.p.data_bits)

    def stored(self) -> bytes:
        """The table as it lies in memory."""
        table = self.table().astype({8: np.int8, 16: np.int16}[self.p.data_bits])
        row = table.view(np.uint8).reshape(len(table), -1)
        size = self.stride * self.bus_bits // 8
        return np.pad(row, ((0, 0), (0, size - row.shape[1]))).tobytes()

    def broken(self, address: int) -> bool:
        row, byte = divmod(address - self.base, self.stride * self.bus_bits // 8)
        return self.bad_words.get(row, -1) == byte // (self.bus_bits // 8)


@dataclass(frozen=True)
class Outcome:
    """What came out, at which clocks, and the bursts that were asked for."""

    sums: np.ndarray
    errors: np.ndarray
    clocks: np.ndarray
    status: dict[str, int]
    fingerprint: str
    bursts: list[tuple[int, int]]


async def reset(unit: Unit):
    """A running clock, a reset and everything quiet."""
    Clock(unit.clk, PERIOD, unit="ns").start()
    unit.rst.value = 1
    unit.clear.value = 0
    await ClockCycles(unit.clk, 3)
    unit.rst.value = 0


def memory_of(unit: Unit, script: Script, pace: Pace, seed: int) -> SlowRam:
    random = np.random.default_rng(seed)
    ram = SlowRam(
        unit.dut, f"{unit.name}__m_axi_", MEMORY, lambda: int(random.integers(*pace.latency))
    )
    ram.write(script.base, script.stored())
    ram.broken = script.broken
    if pace.pause:
        for channel in (ram.slow.channel, ram.r_channel):
            channel.set_pause_generator(iter(lambda: bool(random.random() < pace.pause), None))
    return ram


def embeddings_of(script: Script, seed: int) -> np.ndarray:
    shape = (len(script.positions), script.geometry.width)
    return elements(np.random.default_rng(seed), shape, script.p.data_bits)


async def stream(unit: Unit, script: Script, data: np.ndarray, pace: Pace, seed: int) -> Outcome:
    """Load the geometry and add its rows to ``data`` [tokens, width]."""
    p, bits = script.p, script.p.data_bits * script.p.beat_elements
    beats = pack_beats(data.reshape(-1, p.beat_elements), p.data_bits)
    beats = [
        beat | (number % script.beats == script.beats - 1) << bits
        for number, beat in enumerate(beats)
    ]
    image = [int(word) for word in script.geometry.image()]
    words = [word | (number == len(image) - 1) << 32 for number, word in enumerate(image)]
    places = [at & (1 << p.position_bits) - 1 for at in script.positions]
    unit.base.value, unit.stride.value = script.base, script.stride
    ram = memory_of(unit, script, pace, seed)
    sources = [
        Source(unit, name, items, pace.idle, seed + number)
        for number, (name, items) in enumerate(
            {"i": beats, "i_position": places, "i_load": words}.items()
        )
    ]
    sink = Sink(unit, "o", pace.stall, seed)
    await reset(unit)
    clock = quiet = 0
    while len(sink.items) < len(beats):
        await RisingEdge(unit.clk)
        moved = [source.clock() for source in sources]
        moved.append(sink.clock(clock))
        clock, quiet = clock + 1, 0 if any(moved) else quiet + 1
        assert quiet < QUIET, f"nothing moved for {QUIET} clocks, {len(sink.items)} beats out"
    await ClockCycles(unit.clk, DIGESTED)
    found = unpack_beats(sink.items, p.data_bits, p.beat_elements)
    marks = np.array([beat >> bits for beat in sink.items], dtype=np.int64)
    ends = (marks & 1).reshape(-1, script.beats)
    assert np.array_equal(ends, np.eye(script.beats, dtype=np.int64)[-1:].repeat(len(ends), 0))
    shape = learned_status_layout(p)
    status = shape.from_bits(int(unit.status.value))
    return Outcome(
        found.reshape(len(data), -1),
        (marks >> 1).reshape(-1, script.beats),
        np.array(sink.clocks),
        {name: int(status[name]) for name, _ in shape},
        f"{int(unit.fingerprint.value):016x}",
        ram.slow.bursts,
    )


def check(script: Script, data: np.ndarray, found: Outcome):
    """Sums, marks, flags and fingerprint are golden's."""
    positions = np.array(script.positions)
    missing = out_of_table(script.geometry, positions)
    failed = np.array([at + script.geometry.offset in script.bad_words for at in positions])
    failed &= ~missing
    sums, saturated = add_learned(
        script.p, script.geometry, script.table(), data, positions, broken=failed
    )
    for number, at in enumerate(script.positions):
        assert np.array_equal(found.sums[number], sums[number]), (number, at)
        assert np.all(found.errors[number] == (missing | failed)[number]), (number, at)
    assert found.status == {
        "saturated": int(saturated > 0),
        "malformed": 0,
        "misframed": 0,
        "first_bad": 0,
        "out_of_table": int(missing.any()),
        "first_out_of_table": int(positions[missing][0]) if missing.any() else 0,
        "bus_error": int(failed.any()),
        "first_bus_error": int(positions[failed][0]) if failed.any() else 0,
    }
    assert found.fingerprint == script.geometry.fingerprint
    check_bursts(script, found)


def check_bursts(script: Script, found: Outcome):
    """Every row that is asked for is read once, whole and in order, and nothing else."""
    size = script.bus_bits // 8
    words = [address + size * beat for address, beats in found.bursts for beat in range(beats)]
    assert all(
        address // 4096 == (address + size * beats - 1) // 4096 for address, beats in found.bursts
    )
    missing = out_of_table(script.geometry, np.array(script.positions))
    rows = np.array(script.positions)[~missing] + script.geometry.offset
    used = -(-script.geometry.width * script.p.data_bits // script.bus_bits)
    first = script.base + size * script.stride * rows
    assert words == (first[:, None] + size * np.arange(used)).ravel().tolist()
