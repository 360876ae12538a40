# SPDX-License-Identifier: Apache-2.0
"""Runs an adder of embeddings in Amaranth's simulator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from amaranth.hdl import Const, Value

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.hdl.learned_adder import LearnedAdder
from ropeway.hdl.sinusoidal_adder import SinusoidalAdder

from .bench import Traffic
from .packing import pack_packet, unpack_beats
from .unit_bench import Image, Preparation, UnitBench, UnitRun

__all__ = ["AdderBench", "AdderResult", "Embedding"]


@dataclass(frozen=True)
class Embedding:
    """A token's elements [width] and its position.

    ``last_at`` moves the packet's ``last`` to another beat, to give a malformed packet.
    """

    data: np.ndarray
    position: int
    last_at: int | None = None


@dataclass
class AdderResult:
    """Sums by token, the marks of each one's beats, and the run."""

    tokens: list[np.ndarray]
    errors: list[list[bool]]
    run: UnitRun


class AdderBench:
    """An adder elaborated once, run as often as wanted; ``beside`` run along in the background."""

    def __init__(
        self,
        parameters: AdderParameters,
        unit: SinusoidalAdder | LearnedAdder,
        *,
        beside: Sequence[Preparation] = (),
    ):
        self.parameters, self.unit = parameters, unit
        width = parameters.data_bits * parameters.beat_elements
        ports = ("i", "i_position", "i_load")
        self._bench = UnitBench(unit, ports, width, beside=beside)

    def run(
        self,
        tokens: Sequence[Embedding],
        images: Sequence[Image],
        traffic: Traffic | None = None,
        *,
        table: np.ndarray | None = None,
        settings: Mapping[str, int] | None = None,
    ) -> AdderResult:
        """Stream tokens through; TimeoutError when nothing moves.

        ``table`` [rows, width] is first written into a learned adder's block RAM; ``settings`` are
        inputs held throughout.
        """
        p = self.parameters
        beats = [
            beat
            for token in tokens
            for beat in pack_packet(
                token.data.reshape(-1, p.beat_elements), p.data_bits, token.last_at
            )
        ]
        positions = [Const(token.position, p.position_bits).value for token in tokens]
        before = None if table is None else partial(self._write, table=table)
        run = self._bench.stream(
            beats, positions, images, traffic, settings=settings, before=before
        )
        found = [unpack_beats(beats, p.data_bits, p.beat_elements) for beats in run.packets]
        return AdderResult(found, run.errors, run)

    async def _write(self, ctx, table: np.ndarray):
        """A table's beats into the unit, the last one marked."""
        if not isinstance(self.unit, LearnedAdder):
            raise TypeError(f"only a LearnedAdder has a table, not {type(self.unit).__name__}")
        port, p = self.unit.i_table, self.parameters
        beats = pack_packet(table.reshape(-1, p.beat_elements), p.data_bits)
        ctx.set(port.valid, 1)
        for beat in beats:
            ctx.set(Value.cast(port.payload), beat)
            await ctx.tick().until(port.ready)
        ctx.set(port.valid, 0)
