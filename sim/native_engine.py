# SPDX-License-Identifier: Apache-2.0
"""Runs the RoPE engine's Verilog as a native model, with the interface of the simulator's bench."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from ropeway.golden.batch import RopeBatch
from ropeway.golden.engines import Progress, silent
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.engine import RopeEngine, status_layout
from ropeway.hdl.layouts import beat_layout, load_layout, position_layout, result_layout

from .bench import Load, Result, Token
from .native import NativeModel
from .native_packing import pack_items, unpack_items
from .simulate import Timing, heads_of, tokens_of

__all__ = ["NativeEngine", "Pauses", "simulate_native"]

STREAMS = ("i", "i_position", "i_load", "o")
FLAGS = ("conjugate", "pure", "bypass")


@dataclass(frozen=True)
class Pauses:
    """The probability with which each stream idles or stalls a clock, at random from ``seed``."""

    data: float = 0.0
    position: float = 0.0
    load: float = 0.0
    sink: float = 0.0
    seed: int = 0


class NativeEngine:
    """An engine compiled once, run as often as wanted.

    The protocol is checked in every run: a valid result holds, unchanged, until it is taken. A
    ``model`` built before, of a netlist say, takes the place of the engine's own. Raises what
    ``native_build.build_library`` does.
    """

    def __init__(
        self,
        parameters: RopeParameters,
        *,
        cache: Path | None = None,
        model: NativeModel | None = None,
    ):
        self.parameters = parameters
        self.model = model or NativeModel(RopeEngine(parameters), cache=cache)

    def run(
        self,
        tokens: Sequence[Token],
        loads: Sequence[Load],
        traffic: Pauses | None = None,
        *,
        position_after: Sequence[int] | None = None,
        resets: Sequence[int] = (),
        extra_clocks: int = 0,
        timeout: int = 3000,
    ) -> Result:
        """Stream tokens in and out from power-on; positions and loads beside them.

        Token n's position is offered when ``position_after[n]`` words of the loads have gone in.
        ``resets`` are clocks after which the engine is reset, and everything begins again.

        Raises TimeoutError when nothing has moved for ``timeout`` clocks, and StreamRuleError.
        """
        words, after = self._loads(loads)
        inputs = {"i": self._beats(tokens), "i_position": self._positions(tokens), "i_load": words}
        held = {"i_load": ("o.last", after)}
        if position_after is not None:
            held["i_position"] = ("i_load", np.asarray(position_after))
        *pauses, seed = astuple(traffic or Pauses())

        def go(limit: int | None = None):
            return self.model.run(
                inputs,
                {"o.last": len(tokens)},
                pause=dict(zip(STREAMS, pauses, strict=True)),
                after=held,
                seed=seed,
                limit=limit,
                timeout=timeout,
            )

        self.model.restart()
        for clocks in resets:
            go(clocks)
            self.model.reset()
        done = go()
        self.model.step(extra_clocks)
        packets, errors = self._packets(done.items["o"])
        at = (done.at[name] for name in STREAMS)
        return Result(packets, errors, self._status(), done.clocks + extra_clocks, *at)

    def _beats(self, tokens: Sequence[Token]) -> np.ndarray:
        """Packets, cut short or filled up with zeros where ``last_at`` says so."""
        p = self.parameters
        packets = [token.data.reshape(-1, p.beat_elements) for token in tokens]
        for number, token in enumerate(tokens):
            if token.last_at is not None:
                beats = packets[number][: token.last_at + 1]
                short = token.last_at + 1 - len(beats)
                packets[number] = np.pad(beats, ((0, short), (0, 0)))
        ends = np.cumsum([len(packet) for packet in packets], dtype=np.int64)
        data = np.concatenate(packets) if packets else np.zeros((0, p.beat_elements), np.int32)
        last = np.zeros(len(data), dtype=np.uint8)
        last[ends - 1] = 1
        return pack_items(beat_layout(p), {"data": data, "last": last})

    def _positions(self, tokens: Sequence[Token]) -> np.ndarray:
        p = self.parameters
        columns = [
            token.position if isinstance(token.position, tuple) else (token.position,)
            for token in tokens
        ]
        position = np.empty((len(tokens), p.axes), dtype=np.int64)
        for row, column in zip(position, columns, strict=True):
            row[:] = column  # one position stands on every axis
        names = ("slot", *FLAGS, *(("temperature",) if p.temperature else ()))
        fields = {name: np.array([getattr(t, name) for t in tokens], np.int64) for name in names}
        return pack_items(position_layout(p), {"position": position} | fields)

    def _loads(self, loads: Sequence[Load]) -> tuple[np.ndarray, np.ndarray]:
        """The words of every image, and after how many packets each is offered."""
        images = [
            np.asarray(load.words if load.table is None else load.table.image()) for load in loads
        ]
        sizes = [len(image) for image in images]
        last = np.zeros(sum(sizes), dtype=np.uint8)
        last[np.cumsum(sizes, dtype=np.int64) - 1] = 1
        word = np.concatenate(images) if images else np.zeros(0, np.uint32)
        slot, after = (
            np.repeat(np.array([getattr(load, name) for load in loads], np.int64), sizes)
            for name in ("slot", "after")
        )
        fields = {"word": word, "slot": slot, "last": last}
        return pack_items(load_layout(self.parameters), fields), after

    def _packets(self, items: np.ndarray) -> tuple[list[np.ndarray], list[bool]]:
        found = unpack_items(result_layout(self.parameters), items)
        ends = np.flatnonzero(found["last"])
        packets = np.split(found["data"], ends + 1)[:-1]
        errors = found["error"][ends].astype(bool)
        return [packet.reshape(-1) for packet in packets], errors.tolist()

    def _status(self) -> dict[str, int]:
        layout = status_layout(self.parameters)
        status = layout.from_bits(self.model.peek("status"))
        return {str(name): int(getattr(status, str(name))) for name, _ in layout}


def simulate_native(
    parameters: RopeParameters, batch: RopeBatch, progress: Progress = silent
) -> tuple[dict[str, np.ndarray], Timing]:
    """Load the batch's tables, stream its words through, and return what came out and when."""
    progress("compiling", 0, 1)
    engine = NativeEngine(parameters)
    progress("simulation", 0, batch.tokens)
    loads = [Load(slot, table) for slot, table in enumerate(batch.tables)]
    result = engine.run(tokens_of(batch), loads)
    progress("simulation", batch.tokens, batch.tokens)
    return heads_of(batch, result.packets), Timing.of(result)
