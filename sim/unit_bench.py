# SPDX-License-Identifier: Apache-2.0
"""Runs a unit of one geometry in Amaranth's simulator, every clock accounted for."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from amaranth.hdl import Value
from amaranth.sim import Simulator

from ropeway.hdl.image_reader import image_word_layout

from .bench import Progress, Sink, Source, Traffic, stream_clock
from .packing import split_packets

__all__ = ["Image", "UnitBench", "UnitRun"]

Preparation = Callable[[Any], Awaitable[None]]
"""What is done with a simulator's context before anything is streamed."""


@dataclass(frozen=True)
class Image:
    """An image to load, offered when so many tokens have been accepted."""

    words: np.ndarray
    after: int = 0


@dataclass
class UnitRun:
    """What came out, and when; clocks count from reset.

    ``packets`` are the beats of each, as integers; ``errors`` the marks of each beat.
    """

    packets: list[list[int]]
    errors: list[list[bool]]
    status: dict[str, int]
    fingerprint: str
    clocks: int
    beat_clocks: np.ndarray = field(repr=False)
    position_clocks: np.ndarray = field(repr=False)
    load_clocks: np.ndarray = field(repr=False)
    result_clocks: np.ndarray = field(repr=False)


class UnitBench:
    """A unit elaborated once, run as often as wanted; valid results must hold until taken.

    ``ports`` are the streams of beats, of what goes with each token, and of image words;
    ``beat_bits`` are those below ``last`` in a result; ``beside`` run along in the background.
    """

    def __init__(
        self,
        unit: Any,
        ports: Sequence[str],
        beat_bits: int,
        *,
        beside: Sequence[Preparation] = (),
    ):
        self.unit = unit
        self._ports, self._beat_bits = ports, beat_bits
        self._simulator = Simulator(unit)
        self._simulator.add_clock(1e-6)
        self._simulator.add_testbench(self._testbench)
        for testbench in beside:
            self._simulator.add_testbench(testbench, background=True)
        self._run_before = False

    def stream(
        self,
        beats: Sequence[int],
        tokens: Sequence[int],
        images: Sequence[Image],
        traffic: Traffic | None = None,
        *,
        settings: Mapping[str, int] | None = None,
        before: Preparation | None = None,
        timeout: int = 8000,
    ) -> UnitRun:
        """Stream all of it through. A token waits until every image before it has been taken.

        ``settings`` are inputs held throughout; ``before`` comes first. Raises TimeoutError when
        nothing has moved for ``timeout`` clocks.
        """
        words, after = [], []
        for image in images:
            for number, word in enumerate(image.words):
                item = {"word": int(word), "last": number == len(image.words) - 1}
                words.append(image_word_layout().const(item).as_value().value)
                after.append(image.after)
        self._items, self._after = (beats, tokens, words), after
        self._traffic, self._settings = traffic or Traffic(), settings or {}
        self._timeout, self._before = timeout, before
        self._settle = 24 + 8 * max((len(image.words) for image in images), default=0)
        if self._run_before:
            self._simulator.reset()
        self._run_before = True
        self._simulator.run()
        return self._result

    def _gates(self) -> Traffic:
        """The traffic's, with images and tokens in their order."""
        traffic, after = self._traffic, self._after

        def token(progress, random) -> bool:
            due = sum(count <= progress.positions for count in after)
            return progress.loads >= due and traffic.position(progress, random)

        def load(progress, random) -> bool:
            ready = after[progress.loads] <= progress.positions
            return ready and traffic.load(progress, random)

        return replace(traffic, position=token, load=load)

    async def _testbench(self, ctx):
        unit, gates = self.unit, self._gates()
        random, progress = np.random.default_rng(gates.seed), Progress()
        for name, value in self._settings.items():
            ctx.set(Value.cast(getattr(unit, name)), value)
        if self._before is not None:
            await self._before(ctx)
        sources = [
            Source(getattr(unit, port), list(items), gate)
            for port, items, gate in zip(
                self._ports, self._items, (gates.data, gates.position, gates.load), strict=True
            )
        ]
        sink = Sink(unit.o, 1 << self._beat_bits)
        packets = len(self._items[1])
        while sink.packets < packets or progress.loads < len(self._items[2]):
            await stream_clock(ctx, sources, sink, gates, progress, random, self._timeout)
        await ctx.tick().repeat(self._settle)  # until the last image is digested
        self._finish(ctx, sink, progress.clock, sources)

    def _finish(self, ctx, sink, clocks, sources):
        packets = split_packets(sink.items, self._beat_bits)
        mark = self._beat_bits + 1
        errors = [[bool(beat >> mark & 1) for beat in packet] for packet in packets]
        status = self.unit.status
        self._result = UnitRun(
            packets,
            errors,
            {name: ctx.get(getattr(status, name)) for name, _ in status.shape()},
            f"{ctx.get(self.unit.fingerprint):016x}",
            clocks,
            *(np.array(source.clocks, dtype=np.int64) for source in sources),
            result_clocks=np.array(sink.clocks, dtype=np.int64),
        )
