# SPDX-License-Identifier: Apache-2.0
"""Runs the ALiBi unit in Amaranth's simulator."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ropeway.golden.alibi import Form
from ropeway.golden.alibi_parameters import SCALE_FRACTION_BITS, AlibiParameters
from ropeway.hdl.alibi import AlibiUnit
from ropeway.hdl.alibi_layouts import segment_layout

from .bench import Traffic
from .packing import pack_packet, unpack_beats
from .unit_bench import Image, UnitBench, UnitRun

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
    """Biased scores by segment, whether each was marked on its last beat, and the run."""

    segments: list[np.ndarray]
    errors: list[bool]
    run: UnitRun


class AlibiBench:
    """A unit elaborated once, run as often as wanted."""

    def __init__(self, parameters: AlibiParameters):
        self.parameters = parameters
        self.unit = AlibiUnit(parameters)
        self._bench = UnitBench(
            self.unit, ("i", "i_segment", "i_load"), parameters.data_bits * parameters.lanes
        )

    def run(
        self,
        segments: Sequence[Segment],
        images: Sequence[Image],
        traffic: Traffic | None = None,
        *,
        scale: int = 1 << SCALE_FRACTION_BITS,
    ) -> AlibiResult:
        """Stream segments through; TimeoutError when nothing moves."""
        p = self.parameters
        beats = [beat for segment in segments for beat in self._packet(segment)]
        run = self._bench.stream(
            beats,
            [self._descriptor(segment) for segment in segments],
            images,
            traffic,
            settings={"scale": scale} if p.scaled else {},
        )
        found = [
            unpack_beats(packet, p.data_bits, p.lanes)[: len(segment.scores)]
            for packet, segment in zip(run.packets, segments, strict=True)
        ]
        return AlibiResult(found, [marks[-1] for marks in run.errors], run)

    def _packet(self, segment: Segment) -> list[int]:
        p = self.parameters
        count = -(-len(segment.scores) // p.lanes)
        padded = np.zeros(count * p.lanes, np.int64)
        padded[: len(segment.scores)] = segment.scores
        return pack_packet(padded.reshape(count, p.lanes), p.data_bits, segment.last_at)

    def _descriptor(self, segment: Segment) -> int:
        fields = {
            "head": segment.head,
            "query": segment.query,
            "key": segment.key,
            "final": len(segment.scores) - 1,
            "key_only": segment.form is Form.KEY,
            "mask": {"causal": segment.causal, "window": segment.window},
        }
        return segment_layout(self.parameters).const(fields).as_value().value
