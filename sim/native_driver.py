# SPDX-License-Identifier: Apache-2.0
"""The compiled driver as ctypes calls it, and what a run tells it of each stream."""

import ctypes
from collections.abc import Mapping
from ctypes import POINTER, Structure, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from .native_streams import StreamPorts

__all__ = ["WORDS", "Plan", "load_driver", "pointer"]

WORDS, COUNTS, NUMBERS = POINTER(c_uint32), POINTER(c_uint64), POINTER(c_int32)
LAST = ".last"


class _Stream(Structure):
    """The driver's ``Stream``."""

    _fields_ = (
        ("parts", NUMBERS),
        *((name, c_int32) for name in ("part_count", "valid", "ready", "source")),
        ("last_bit", c_int64),
        *((name, c_uint64) for name in ("pause", "seed")),
        ("items", WORDS),
        ("count", c_uint64),
        ("counts_packets", c_int32),
        ("after", COUNTS),
        *((name, c_int32) for name in ("after_stream", "after_packets")),
    )


class Plan:
    """A run of ``streams`` as the driver takes it, whose arrays it keeps alive.

    ``numbers`` are the ports'. Raises ValueError for a stream that is not there.
    """

    def __init__(
        self, streams: Mapping[str, StreamPorts], numbers: Mapping[str, int], seed: int = 0
    ):
        self._ports, self._kept = streams, []
        self._order = {name: number for number, name in enumerate(streams)}
        self.streams = (_Stream * len(streams))()
        seeds = np.random.SeedSequence(seed).generate_state(len(streams), np.uint64)
        for name, ports in streams.items():
            stream = self._stream(name)
            parts = np.array([numbers[part.name] for part in ports.parts], dtype=np.int32)
            stream.parts, stream.part_count = self._pointer(parts, NUMBERS), len(parts)
            stream.valid, stream.ready = numbers[ports.valid], numbers[ports.ready]
            stream.source = ports.into
            stream.last_bit = -1 if ports.last_bit is None else ports.last_bit
            stream.seed = int(seeds[self._order[name]]) | 1  # a generator stays at 0

    def feed(self, name: str, items: np.ndarray):
        """Stream ``items`` in, uint32 or uint64 [items, words]."""
        stream, ports = self._stream(name), self._ports[name]
        if not ports.into:
            raise ValueError(f"{name} comes out and takes no items")
        size = ports.words if items.dtype == np.uint32 else (ports.words + 1) // 2
        if items.dtype not in (np.uint32, np.uint64) or items.shape != (len(items), size):
            rule = f"must be uint32 [items, {ports.words}], or uint64 of half as many words"
            raise ValueError(f"{name} {rule}, not {items.dtype} {list(items.shape)}")
        words = np.ascontiguousarray(items).view(np.uint32)
        words = np.ascontiguousarray(words[:, : ports.words])
        stream.items, stream.count = self._pointer(words, WORDS), len(words)

    def expect(self, name: str, count: int):
        """End when so many items, or packets, of an output have come out."""
        stream = self._stream(name)
        stream.count, stream.counts_packets = count, name.endswith(LAST)

    def pause(self, name: str, probability: float):
        """Let a stream idle or stall a clock with a probability."""
        if not 0 <= probability <= 1:
            raise ValueError(f"a probability must be from 0 to 1, not {probability}")
        self._stream(name).pause = round(probability * (1 << 32))

    def hold(self, name: str, other: str, counts: np.ndarray):
        """Offer item n of an input when ``counts[n]`` items, or packets, of another have moved."""
        stream = self._stream(name)
        if len(counts) != stream.count:
            raise ValueError(f"{stream.count} items of {name} cannot wait for {len(counts)} counts")
        stream.after = self._pointer(np.ascontiguousarray(counts, dtype=np.uint64), COUNTS)
        self._stream(other)
        stream.after_stream = self._order[other.removesuffix(LAST)]
        stream.after_packets = other.endswith(LAST)

    def _stream(self, name: str) -> _Stream:
        found = self._order.get(name.removesuffix(LAST))
        if found is None:
            raise ValueError(f"a stream must be one of {', '.join(self._order)}, not {name}")
        return self.streams[found]

    def _pointer(self, array: np.ndarray, kind: Any) -> Any:
        self._kept.append(array)
        return pointer(array, kind)


def pointer(array: np.ndarray, kind: Any = WORDS) -> Any:
    """Where an array begins, as ``kind``."""
    return array.ctypes.data_as(kind)


def load_driver(library: Path) -> Any:
    """The functions of a library, ``model_…``."""
    driver = ctypes.CDLL(str(library))
    driver.model_new.restype, driver.model_new.argtypes = c_void_p, ()
    for name, result, *arguments in (
        ("delete", None),
        ("set", None, c_int32, WORDS),
        ("get", None, c_int32, WORDS),
        ("step", None, c_uint64),
        ("run", c_int32, POINTER(_Stream), c_int32, c_uint64, c_uint64, COUNTS, NUMBERS),
        ("moved", c_uint64, c_int32, c_int32),
        ("clocks", COUNTS, c_int32),
        ("items", WORDS, c_int32),
    ):
        function = getattr(driver, f"model_{name}")
        function.restype, function.argtypes = result, (c_void_p, *arguments)
    return driver
