# SPDX-License-Identifier: Apache-2.0
"""Runs the RoPE engine in Amaranth's simulator: tokens in, tokens out, every clock accounted for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from amaranth.hdl import Value
from amaranth.sim import Simulator

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import PhaseTable
from ropeway.hdl.engine import RopeEngine

from .packing import pack_beats, pack_fields, unpack_beats

__all__ = ["Always", "EngineBench", "Load", "Result", "Token", "Traffic"]


@dataclass(frozen=True)
class Token:
    """A token's elements [heads, head_dim], its position on each axis, and how to turn it.

    ``last_at`` moves the packet's ``last`` to another beat, to give a malformed packet.
    """

    data: np.ndarray
    position: int | tuple[int, ...]
    slot: int = 0
    conjugate: bool = False
    pure: bool = False
    bypass: bool = False
    last_at: int | None = None


@dataclass(frozen=True)
class Load:
    """A table for a slot, offered once ``after`` packets have come out; or raw ``words`` of an image."""

    slot: int
    table: PhaseTable | None = None
    after: int = 0
    words: np.ndarray | None = None


Gate = Callable[["Progress", np.random.Generator], bool]


def Always(_progress: "Progress", _random: np.random.Generator) -> bool:  # noqa: N802
    """A gate that is always open."""
    return True


@dataclass(frozen=True)
class Traffic:
    """When each stream may move: a gate decides, every clock that it is idle, whether it may go on."""

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
        width = p.data_bits * p.beat_elements
        beats, ends = [], []
        for token in self._tokens:
            packed = pack_beats(token.data.reshape(-1, p.beat_elements), p.data_bits)
            last = len(packed) - 1 if token.last_at is None else token.last_at
            packed = packed[: last + 1] + [0] * (last + 1 - len(packed))
            packed[last] |= 1 << width
            beats += packed
            ends.append(len(beats))
        positions = [
            pack_fields(self.engine.i_position.payload.shape(), token) for token in self._tokens
        ]
        words, groups = [], []
        for load in self._loads:
            image = load.table.image() if load.words is None else load.words
            shape = self.engine.i_load.payload.shape()
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
        inputs = [
            (engine.i, beats, traffic.data),
            (engine.i_position, positions, traffic.position),
            (engine.i_load, words, traffic.load),
        ]
        ports = [(port.valid, port.ready, Value.cast(port.payload)) for port, _, _ in inputs]
        offered, done = [False] * 3, [0] * 3
        clocks: list[list[int]] = [[], [], []]
        result_valid, result_payload = engine.o.valid, Value.cast(engine.o.payload)
        results: list[int] = []
        result_clocks: list[int] = []
        ready, pending, quiet, left = False, None, 0, self._extra
        last_bit = 1 << self.parameters.data_bits * self.parameters.beat_elements
        while len(results) == 0 or progress.tokens_out < len(ends) or done[2] < len(words) or left:
            # Offer what the gates let through.
            for number, (_, items, gate) in enumerate(inputs):
                if offered[number] or done[number] == len(items):
                    continue
                if number == 2 and groups[done[2]] > progress.tokens_out:
                    continue
                if gate(progress, random):
                    offered[number] = True
                    ctx.set(ports[number][2], items[done[number]])
                    ctx.set(ports[number][0], 1)
            now_ready = traffic.sink(progress, random)
            if now_ready != ready:
                ready = now_ready
                ctx.set(engine.o.ready, ready)

            _, _, *sampled = await ctx.tick().sample(
                *(port[1] for port in ports), result_valid, result_payload
            )
            moved = False
            for number in range(3):
                if offered[number] and sampled[number]:
                    offered[number], moved = False, True
                    ctx.set(ports[number][0], 0)
                    clocks[number].append(progress.clock)
                    done[number] += 1
            valid, payload = sampled[3], sampled[4]
            if pending is not None and (not valid or payload != pending):
                raise AssertionError(f"a result did not hold under a stall at {progress.clock}")
            pending = payload if valid and not ready else None
            if valid and ready:
                moved = True
                results.append(payload)
                result_clocks.append(progress.clock)
                progress.tokens_out += bool(payload & last_bit)

            progress.clock += 1
            progress.beats, progress.positions, progress.loads = done
            progress.results = len(results)
            while progress.tokens_in < len(ends) and done[0] >= ends[progress.tokens_in]:
                progress.tokens_in += 1
            if not ends and done[2] == len(words) and left == 0:
                break
            quiet = 0 if moved else quiet + 1
            if quiet > self._timeout:
                raise TimeoutError(f"nothing moved for {quiet} clocks: {progress}")
            if progress.tokens_out == len(ends) and done[2] == len(words):
                left = max(0, left - 1)
                if left == 0:
                    break
        self._finish(ctx, results, progress, clocks, result_clocks)

    def _finish(self, ctx, results, progress, clocks, result_clocks):
        p = self.parameters
        width = p.data_bits * p.beat_elements
        packets, errors, start = [], [], 0
        for number, result in enumerate(results):
            if result >> width & 1:
                beats = results[start : number + 1]
                packets.append(unpack_beats(beats, p.data_bits, p.beat_elements))
                errors.append(bool(result >> width + 1 & 1))
                start = number + 1
        status = {
            name: ctx.get(getattr(self.engine.status, name))
            for name in ("saturated", "refused", "malformed", "misframed", "first_bad")
        }
        self._result = Result(
            packets,
            errors,
            status,
            progress.clock,
            *(np.array(c, dtype=np.int64) for c in (*clocks, result_clocks)),
        )
