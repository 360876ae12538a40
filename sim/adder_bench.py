# SPDX-License-Identifier: Apache-2.0
"""Runs an adder of embeddings in Amaranth's simulator."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from amaranth.hdl import Const

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.hdl.sinusoidal_adder import SinusoidalAdder

from .bench import Traffic
from .packing import pack_beats, unpack_beats
from .unit_bench import Image, UnitBench, UnitRun

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
    """An adder elaborated once, run as often as wanted."""

    def __init__(self, parameters: AdderParameters, unit: SinusoidalAdder):
        self.parameters, self.unit = parameters, unit
        width = parameters.data_bits * parameters.beat_elements
        self._bench = UnitBench(unit, ("i", "i_position", "i_load"), width)

    def run(
        self,
        tokens: Sequence[Embedding],
        images: Sequence[Image],
        traffic: Traffic | None = None,
    ) -> AdderResult:
        """Stream tokens through; TimeoutError when nothing moves."""
        p = self.parameters
        beats = [beat for token in tokens for beat in self._packet(token)]
        positions = [Const(token.position, p.position_bits).value for token in tokens]
        run = self._bench.stream(beats, positions, images, traffic)
        found = [unpack_beats(beats, p.data_bits, p.beat_elements) for beats in run.packets]
        return AdderResult(found, run.errors, run)

    def _packet(self, token: Embedding) -> list[int]:
        p = self.parameters
        packed = pack_beats(token.data.reshape(-1, p.beat_elements), p.data_bits)
        last = len(packed) - 1 if token.last_at is None else token.last_at
        packed = packed[: last + 1] + [0] * (last + 1 - len(packed))
        packed[last] |= 1 << p.data_bits * p.beat_elements
        return packed
