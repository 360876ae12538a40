# SPDX-License-Identifier: Apache-2.0
"""Runs the ALiBi unit in Amaranth's simulator, every clock accounted for."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from amaranth.hdl import Value
from amaranth.sim import Simulator

from ropeway.golden.alibi import Form
from ropeway.golden.alibi_parameters import SCALE_FRACTION_BITS, AlibiParameters
from ropeway.hdl.alibi import AlibiUnit, alibi_status_layout
from ropeway.hdl.alibi_layouts import score_layout, segment_layout
from ropeway.hdl.image_reader import image_word_layout

from .bench import Progress, Sink, Source, Traffic
from .packing import pack_beats, unpack_beats

__all__ = ["AlibiBench", "AlibiResult", "Segment"]


@dataclass(frozen=True)
class Segment:
    """Scores [keys] of consecutive keys from ``key``, as one packet.

    ``last_at`` moves the packet's ``last`` to another beat, to give a malformed packet.
    """

    scores: np.ndarray
    head: int
    query: int
    key: int
    form: Form = Form.DISTANCE
    causal: bool = True
    window: int = 0
    last_at: int | None = None


@dataclass
class AlibiResult:
    """Biased scores by segment, and when beats moved; clocks count from reset."""

    segments: list[np.ndarray]
    errors: list[bool]
    status: dict[str, int]
    fingerprint: str
    clocks: int
    beat_clocks: np.ndarray = field(repr=False)
    segment_clocks: np.ndarray = field(repr=False)
    result_clocks: np.ndarray = field(repr=False)


class AlibiBench:
    """A unit elaborated once, run as often as wanted; valid results must hold until taken."""

    def __init__(self, parameters: AlibiParameters):
        self.parameters = parameters
        self.unit = AlibiUnit(parameters)
        self._simulator = Simulator(self.unit)
        self._simulator.add_clock(1e-6)
        self._simulator.add_testbench(self._testbench)
        self._run_before = False

    def run(
        self,
        segments: Sequence[Segment],
        images: Sequence[tuple[int, np.ndarray]],
        traffic: Traffic | None = None,
        *,
        scale: int = 1 << SCALE_FRACTION_BITS,
        timeout: int = 6000,
    ) -> AlibiResult:
        """Stream segments through; each image is offered after so many segments came out.

        A segment's descriptor waits until the images offered before it are taken. Raises
        TimeoutError when nothing has moved for ``timeout`` clocks.
        """
        self._segments, self._images = segments, images
        self._traffic, self._scale, self._timeout = traffic or Traffic(), scale, timeout
        if self._run_before:
            self._simulator.reset()
        self._run_before = True
        self._simulator.run()
        return self._result

    def _streams(self):
        p = self.parameters
        beats, descriptors, words, after = [], [], [], []
        for segment in self._segments:
            count = -(-len(segment.scores) // p.lanes)
            padded = np.zeros(count * p.lanes, np.int64)
            padded[: len(segment.scores)] = segment.scores
            packed = pack_beats(padded.reshape(count, p.lanes), p.data_bits)
            last = count - 1 if segment.last_at is None else segment.last_at
            packed = packed[: last + 1] + [0] * (last + 1 - count)
            packed[last] |= 1 << p.data_bits * p.lanes
            beats += packed
            descriptor = {
                "head": segment.head,
                "query": segment.query,
                "key": segment.key,
                "final": len(segment.scores) - 1,
                "key_only": segment.form is Form.KEY,
                "mask": {"causal": segment.causal, "window": segment.window},
            }
            descriptors.append(segment_layout(p).const(descriptor).as_value().value)
        for count, image in self._images:
            for number, word in enumerate(image):
                item = {"word": int(word), "last": number == len(image) - 1}
                words.append(image_word_layout().const(item).as_value().value)
                after.append(count)
        return beats, descriptors, words, after

    async def _testbench(self, ctx):
        unit, traffic, p = self.unit, self._traffic, self.parameters
        beats, descriptors, words, after = self._streams()
        random = np.random.default_rng(traffic.seed)
        progress = Progress()
        if p.scaled:
            ctx.set(unit.scale, self._scale)

        def described(progress, random) -> bool:
            """Whether every image that is due before the next descriptor has been taken."""
            due = sum(count <= progress.positions for count in after)
            return progress.loads >= due and traffic.position(progress, random)

        sources = [
            Source(unit.i, beats, traffic.data),
            Source(unit.i_segment, descriptors, described),
            Source(
                unit.i_load,
                words,
                lambda progress, random: (
                    after[progress.loads] <= progress.positions and traffic.load(progress, random)
                ),
            ),
        ]
        assert score_layout(p).size == p.data_bits * p.lanes + 1
        sink = Sink(unit.o, 1 << p.data_bits * p.lanes)
        moved_at = 0
        while sink.packets < len(self._segments) or progress.loads < len(words):
            for source in sources:
                source.offer(ctx, progress, random)
            sink.offer(ctx, bool(traffic.sink(progress, random)))
            _, _, *sampled = await ctx.tick().sample(
                *(source.ready for source in sources), sink.valid, sink.payload
            )
            moved = [
                source.clock(ctx, ready, progress.clock)
                for source, ready in zip(sources, sampled, strict=False)
            ]
            if sink.clock(sampled[3], sampled[4], progress.clock) or any(moved):
                moved_at = progress.clock
            progress.clock += 1
            progress.beats, progress.positions, progress.loads = (
                len(source.clocks) for source in sources
            )
            progress.results, progress.tokens_out = len(sink.items), sink.packets
            if progress.clock - moved_at > self._timeout:
                raise TimeoutError(f"nothing moved for {self._timeout} clocks: {progress}")
        await ctx.tick().repeat(16 + 8 * max((len(i) for _, i in self._images), default=0))
        self._finish(ctx, sink, progress, [*(source.clocks for source in sources), sink.clocks])

    def _finish(self, ctx, sink, progress, clocks):
        p, unit = self.parameters, self.unit
        width, start, found, errors = p.data_bits * p.lanes, 0, [], []
        for number, item in enumerate(sink.items):
            if item >> width & 1:
                found.append(unpack_beats(sink.items[start : number + 1], p.data_bits, p.lanes))
                errors.append(bool(item >> width + 1 & 1))
                start = number + 1
        status = {name: ctx.get(getattr(unit.status, name)) for name, _ in alibi_status_layout()}
        beats, segments, _, results = (np.array(c, dtype=np.int64) for c in clocks)
        self._result = AlibiResult(
            [out[: len(s.scores)] for out, s in zip(found, self._segments, strict=True)],
            errors,
            status,
            f"{ctx.get(Value.cast(unit.fingerprint)):016x}",
            progress.clock,
            beats,
            segments,
            results,
        )
