# SPDX-License-Identifier: Apache-2.0
"""Runs the RoPE engine in Amaranth's simulator, every clock accounted for."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from amaranth.hdl import Value
from amaranth.sim import Simulator

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import PhaseTable
from ropeway.hdl.engine import RopeEngine, status_layout
from ropeway.hdl.layouts import load_layout, position_layout

from .packing import pack_fields, pack_packet, split_packets, unpack_beats

__all__ = [
    "Always",
    "EngineBench",
    "Gate",
    "Load",
    "Progress",
    "Result",
    "Sink",
    "Source",
    "Token",
    "Traffic",
    "stream_clock",
]


@dataclass(frozen=True)
class Token:
    """A token's elements [heads, head_dim], its position on each axis, and how to turn it.

    ``temperature`` is a word of golden/temperature.py. ``last_at`` moves the packet's ``last`` to
    another beat, to give a malformed packet.
    """

    data: np.ndarray
    position: int | tuple[int, ...]
    slot: int = 0
    conjugate: bool = False
    pure: bool = False
    bypass: bool = False
    temperature: int = 0
    last_at: int | None = None


@dataclass(frozen=True)
class Load:
    """A table for a slot, or an image's ``words``, offered after so many packets came out."""

    slot: int
    table: PhaseTable | None = None
    after: int = 0
    words: np.ndarray | Sequence[int] = ()


Gate = Callable[["Progress", np.random.Generator], bool]


def Always(_progress: "Progress", _random: np.random.Generator) -> bool:  # noqa: N802
    """A gate that is always open."""
    return True


@dataclass(frozen=True)
class Traffic:
    """When each stream may move: its gate decides every clock that it is idle."""

    data: Gate = Always
    position: Gate = Always
    load: Gate = Always
    sink: Gate = Always
    seed: int = 0

    @classmethod
    def random(cls, seed: int, *, idle: float = 0.3, stall: float = 0.3) -> "Traffic":
        """Idle inputs and stalled outputs, each clock with these probabilities."""

        def gate(probability: float) -> Gate:
            return lambda _progress, random: bool(random.random() >= probability)

        return cls(gate(idle), gate(idle), gate(idle), gate(stall), seed)


@dataclass
class Progress:
    """How far each stream is, for gates to look at; counts of items transferred."""

    clock: int = 0
    beats: int = 0
    tokens_in: int = 0
    positions: int = 0
    loads: int = 0
    results: int = 0
    tokens_out: int = 0
    moved_at: int = 0


@dataclass
class Result:
    """What came out, and when; clocks count from the first after reset.

    ``packets`` are arrays [elements] a packet; ``errors`` whether each was marked. ``beat_clocks``,
    ``position_clocks``, ``load_clocks`` and ``result_clocks`` are those of the transfers.
    """

    packets: list[np.ndarray]
    errors: list[bool]
    status: dict[str, int]
    clocks: int
    beat_clocks: np.ndarray = field(repr=False)
    position_clocks: np.ndarray = field(repr=False)
    load_clocks: np.ndarray = field(repr=False)
    result_clocks: np.ndarray = field(repr=False)

    def heads(self, head_dim: int) -> np.ndarray:
        """The packets as [tokens, heads, head_dim], where all have one shape."""
        return np.stack([packet.reshape(-1, head_dim) for packet in self.packets])


class Source:
    """Drives one input stream with integers, whenever its gate is open."""

    def __init__(self, port, items: list[int], gate: Gate):
        self.ready, self.clocks = port.ready, []
        self._valid, self._payload = port.valid, Value.cast(port.payload)
        self._items, self._gate, self._offered = items, gate, False

    def offer(self, ctx, progress: Progress, random: np.random.Generator):
        """Put the next item on the port, if none is there, and keep it there."""
        if self._offered or len(self.clocks) == len(self._items):
            return
        if self._gate(progress, random):
            self._offered = True
            ctx.set(self._payload, self._items[len(self.clocks)])
            ctx.set(self._valid, 1)

    def clock(self, ctx, ready: int, clock: int) -> bool:
        """Whether the item on the port was taken in this clock."""
        taken = self._offered and bool(ready)
        if taken:
            self._offered = False
            self.clocks.append(clock)
            ctx.set(self._valid, 0)
        return taken


class Sink:
    """Takes what a stream gives, and checks that it holds still while it waits."""

    def __init__(self, port, last: int):
        self.valid, self.payload = port.valid, Value.cast(port.payload)
        self.items: list[int] = []
        self.clocks: list[int] = []
        self.packets = 0
        self._ready, self._last, self._pending, self._port = False, last, None, port.ready

    def offer(self, ctx, ready: bool):
        """Be ready in this clock, or not."""
        if ready != self._ready:
            self._ready = ready
            ctx.set(self._port, ready)

    def clock(self, valid: int, payload: int, clock: int) -> bool:
        """Whether an item came in this clock."""
        if self._pending is not None and (not valid or payload != self._pending):
            raise AssertionError(f"a result did not hold under a stall in clock {clock}")
        self._pending = payload if valid and not self._ready else None
        taken = bool(valid) and self._ready
        if taken:
            self.items.append(payload)
            self.clocks.append(clock)
            self.packets += bool(payload & self._last)
        return taken


async def stream_clock(
    ctx,
    sources: Sequence[Source],
    sink: Sink,
    traffic: Traffic,
    progress: Progress,
    random: np.random.Generator,
    timeout: int,
):
    """One clock of the streams of beats, positions and loads, and of the results.

    Raises TimeoutError when nothing has moved for ``timeout`` clocks.
    """
    for source in sources:
        source.offer(ctx, progress, random)
    sink.offer(ctx, bool(traffic.sink(progress, random)))
    _, _, *sampled = await ctx.tick().sample(
        *(source.ready for source in sources), sink.valid, sink.payload
    )
    *ready, valid, payload = sampled
    moved = [
        source.clock(ctx, taken, progress.clock)
        for source, taken in zip(sources, ready, strict=True)
    ]
    if sink.clock(valid, payload, progress.clock) or any(moved):
        progress.moved_at = progress.clock
    progress.clock += 1
    progress.beats, progress.positions, progress.loads = (len(source.clocks) for source in sources)
    progress.results, progress.tokens_out = len(sink.items), sink.packets
    if progress.clock - progress.moved_at > timeout:
        raise TimeoutError(f"nothing moved for {timeout} clocks: {progress}")


class EngineBench:
    """An engine elaborated once, run as often as wanted.

    The protocol is checked in every run: a valid result holds, unchanged, until it is taken.
    """

    def __init__(self, parameters: RopeParameters):
        self.parameters = parameters
        self.engine = RopeEngine(parameters)
        self._simulator = Simulator(self.engine)
        self._simulator.add_clock(1e-6)
        self._simulator.add_testbench(self._testbench)
        self._run_before = False

    def run(
        self,
        tokens: Sequence[Token],
        loads: Sequence[Load],
        traffic: Traffic | None = None,
        *,
        extra_clocks: int = 0,
        timeout: int | None = None,
    ) -> Result:
        """Stream tokens in and out; positions and loads beside them, as the traffic's gates allow.

        Raises TimeoutError when nothing has moved for ``timeout`` clocks.
        """
        self._tokens, self._traffic = tokens, traffic or Traffic()
        self._loads, self._extra = loads, extra_clocks
        self._timeout = timeout or 3000
        if self._run_before:
            self._simulator.reset()
        self._run_before = True
        self._simulator.run()
        return self._result

    def _streams(self):
        """The items of each input stream as integers, ready to be set."""
        p = self.parameters
        beats, ends = [], []
        for token in self._tokens:
            elements = token.data.reshape(-1, p.beat_elements)
            beats += pack_packet(elements, p.data_bits, token.last_at)
            ends.append(len(beats))
        positions = [pack_fields(position_layout(p), token) for token in self._tokens]
        words, groups = [], []
        for load in self._loads:
            image = load.words if load.table is None else load.table.image()
            shape = load_layout(p)
            for number, word in enumerate(image):
                last = number == len(image) - 1
                item = shape.const({"word": int(word), "slot": load.slot, "last": last})
                words.append(item.as_value().value)
                groups.append(load.after)
        return beats, ends, positions, words, groups

    async def _testbench(self, ctx):
        engine, traffic = self.engine, self._traffic
        beats, ends, positions, words, groups = self._streams()
        random = np.random.default_rng(traffic.seed)
        progress = Progress()
        sources = [
            Source(engine.i, beats, traffic.data),
            Source(engine.i_position, positions, traffic.position),
            Source(
                engine.i_load,
                words,
                lambda progress, random: (
                    groups[progress.loads] <= progress.tokens_out and traffic.load(progress, random)
                ),
            ),
        ]
        last = 1 << self.parameters.output_bits * self.parameters.beat_elements
        sink = Sink(engine.o, last)
        left = self._extra
        while True:
            await stream_clock(ctx, sources, sink, traffic, progress, random, self._timeout)
            progress.tokens_in = bisect_right(ends, progress.beats)
            if progress.tokens_out == len(ends) and progress.loads == len(words):
                if left == 0:
                    break
                left -= 1
        self._finish(ctx, sink, progress, [*(source.clocks for source in sources), sink.clocks])

    def _finish(self, ctx, sink, progress, clocks):
        p = self.parameters
        width = p.output_bits * p.beat_elements
        packets, errors = [], []
        for beats in split_packets(sink.items, width):
            packets.append(unpack_beats(beats, p.output_bits, p.beat_elements))
            errors.append(bool(beats[-1] >> width + 1 & 1))
        status = {name: ctx.get(getattr(self.engine.status, name)) for name, _ in status_layout(p)}
        beats, positions, loads, results_at = (np.array(c, dtype=np.int64) for c in clocks)
        self._result = Result(
            packets, errors, status, progress.clock, beats, positions, loads, results_at
        )
