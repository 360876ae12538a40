# SPDX-License-Identifier: Apache-2.0
"""A component's Verilog as a compiled model, which takes and gives whole blocks of words."""

from collections.abc import Mapping, Sequence
from ctypes import byref, c_int32, c_uint64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from amaranth.lib import wiring

from .native_build import build_library
from .native_driver import Plan, load_driver, pointer
from .native_streams import StreamPorts, ports_of, streams_of

__all__ = ["NativeModel", "NativeRun", "StreamRuleError"]

STUCK, BROKEN = 2, 3  # of the driver's outcomes
NO_LIMIT = (1 << 64) - 1


class StreamRuleError(AssertionError):
    """A valid item changed, or went, before it was taken."""


@dataclass
class NativeRun:
    """What a run did; ``clocks`` passed.

    ``items`` that came out by stream, uint32 [items, words]; ``at`` the clocks of every stream's
    transfers, counted from the run's first.
    """

    clocks: int
    items: dict[str, np.ndarray] = field(repr=False)
    at: dict[str, np.ndarray] = field(repr=False)


class NativeModel:
    """A component compiled; its state goes on from run to run until ``restart``.

    ``streams`` are found among its ports unless given. What was compiled stays in ``cache``, by
    default the user's. ``verilog`` is compiled in place of the component's own, such as a netlist
    of it. Raises what ``build_library`` does.
    """

    def __init__(
        self,
        component: wiring.Component,
        *,
        streams: Sequence[StreamPorts] | None = None,
        cache: Path | None = None,
        verilog: str | None = None,
    ):
        found = streams_of(component) if streams is None else streams
        self.streams = {stream.name: stream for stream in found}
        self.library = build_library(component, cache, verilog)
        self._bits = {"rst": 1} | {port.name: port.bits for port in ports_of(component)}
        self._numbers = {name: number for number, name in enumerate(self._bits)}
        self._driver = load_driver(self.library)
        self._model: Any = self._driver.model_new()

    def __del__(self):
        if hasattr(self, "_model"):
            self._driver.model_delete(self._model)

    def restart(self):
        """Begin anew in the state after power-on."""
        self._driver.model_delete(self._model)
        self._model = self._driver.model_new()

    @property
    def handle(self) -> int:
        """The model, as functions of its library take it; another one after ``restart``."""
        return self._model

    def number(self, port: str) -> int:
        """A port's number, as they take it. Raises KeyError."""
        return self._numbers[port]

    def function(self, name: str, result: type | None, *arguments: Any) -> Any:
        """One of its library's functions, with the types that it has."""
        function = self._driver[name]
        function.restype, function.argtypes = result, arguments
        return function

    def poke(self, port: str, value: int):
        """Set an input. Raises OverflowError for what does not fit."""
        if value >> self._bits[port]:
            raise OverflowError(f"{port} has {self._bits[port]} bits, too few for {value}")
        words = self._words(port)
        words[:] = np.frombuffer(value.to_bytes(4 * len(words), "little"), dtype="<u4")
        self._driver.model_set(self._model, self._numbers[port], pointer(words))

    def peek(self, port: str) -> int:
        """The value of any port, unsigned."""
        words = self._words(port)
        self._driver.model_get(self._model, self._numbers[port], pointer(words))
        return int.from_bytes(words.tobytes(), "little")

    def step(self, clocks: int = 1):
        """Let so many clocks pass, nothing moving in any stream."""
        self._driver.model_step(self._model, clocks)

    def reset(self, clocks: int = 1):
        """Assert the reset for so many clocks."""
        self.poke("rst", 1)
        self.step(clocks)
        self.poke("rst", 0)

    def run(
        self,
        inputs: Mapping[str, np.ndarray],
        expect: Mapping[str, int],
        *,
        pause: Mapping[str, float] | None = None,
        after: Mapping[str, tuple[str, np.ndarray]] | None = None,
        seed: int = 0,
        limit: int | None = None,
        timeout: int = 3000,
    ) -> NativeRun:
        """Stream ``inputs`` in and everything out, until all is in and ``expect`` came out.

        ``inputs`` are items by stream, uint32 or uint64 [items, words]. ``expect`` counts a
        stream's items or, by a name like ``"o.last"``, its packets. ``pause`` is the probability
        with which a stream idles or stalls a clock, 0 where not named. ``after`` holds back item n
        of an input until ``counts[n]`` items or packets of another stream have moved:
        ``{"i_load": ("o.last", counts)}``.

        The run ends after ``limit`` clocks in any case; what is offered then is withdrawn. Raises
        TimeoutError when nothing has moved for ``timeout`` clocks, StreamRuleError when an output
        did not hold still under a stall, ValueError for a stream or items that do not fit.
        """
        plan = Plan(self.streams, self._numbers, seed)
        for name, items in inputs.items():
            plan.feed(name, items)
        for name, count in expect.items():
            plan.expect(name, count)
        for name, probability in (pause or {}).items():
            plan.pause(name, probability)
        for name, (other, counts) in (after or {}).items():
            plan.hold(name, other, counts)
        return self._run(plan, NO_LIMIT if limit is None else limit, timeout)

    def _run(self, plan: Plan, limit: int, timeout: int) -> NativeRun:
        clocks, broken = c_uint64(), c_int32()
        outcome = self._driver.model_run(
            self._model,
            plan.streams,
            len(plan.streams),
            limit,
            timeout,
            byref(clocks),
            byref(broken),
        )
        if outcome == BROKEN:
            name = list(self.streams)[broken.value]
            raise StreamRuleError(f"{name} did not hold under a stall in clock {clocks.value - 1}")
        if outcome == STUCK:
            reached = f"{self._progress(plan)} in clock {clocks.value}"
            raise TimeoutError(f"nothing moved for {timeout} clocks: {reached}")
        items, at = {}, {}
        for number, (name, stream) in enumerate(self.streams.items()):
            count = self._driver.model_moved(self._model, number, 0)
            moved = self._driver.model_clocks(self._model, number)
            at[name] = _copied(moved, (count,), np.uint64).view(np.int64)
            if not stream.into:
                found = self._driver.model_items(self._model, number)
                items[name] = _copied(found, (count, stream.words), np.uint32)
        return NativeRun(clocks.value, items, at)

    def _progress(self, plan: Plan) -> str:
        """How far each stream is."""
        counts = (
            (name, self._driver.model_moved(self._model, number, stream.counts_packets), stream)
            for number, (name, stream) in enumerate(zip(self.streams, plan.streams, strict=True))
        )
        return ", ".join(f"{name} {moved} of {stream.count}" for name, moved, stream in counts)

    def _words(self, port: str) -> np.ndarray:
        return np.zeros((self._bits[port] + 31) // 32, dtype="<u4")


def _copied(found: Any, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """An array of what the driver will write over."""
    if 0 in shape:
        return np.zeros(shape, dtype=dtype)
    return np.ctypeslib.as_array(found, shape).copy()
