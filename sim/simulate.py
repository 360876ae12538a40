# SPDX-License-Identifier: Apache-2.0
"""A batch through the simulated engine."""

from dataclasses import dataclass

import numpy as np

from ropeway.golden.batch import RopeBatch
from ropeway.golden.engines import Progress, silent
from ropeway.golden.parameters import RopeParameters

from .bench import EngineBench, Load, Result, Token, Traffic

__all__ = ["Timing", "heads_of", "simulate", "tokens_of"]


@dataclass(frozen=True)
class Timing:
    """What the hardware took, in clocks.

    ``clocks`` from reset to the last beat, loading included; ``clocks_per_token`` from a token's
    last beat to the next one's, on average, or of a lone token from its first beat to its last;
    ``first_beat_latency`` from the first position accepted to the first beat out.
    """

    clocks: int
    clocks_per_token: float
    first_beat_latency: int

    @classmethod
    def of(cls, result: Result) -> "Timing":
        """The timing of a run of one or more tokens."""
        tokens = len(result.packets)
        out = result.result_clocks.reshape(tokens, -1)
        lone = int(out[0, -1] - out[0, 0]) + 1
        mean = lone if tokens == 1 else int(out[-1, -1] - out[0, -1]) / (tokens - 1)
        return cls(result.clocks, mean, int(out[0, 0] - result.position_clocks[0]))


def tokens_of(batch: RopeBatch, first_slot: int = 0) -> list[Token]:
    """The batch's tokens, each a packet of its heads in the pattern's order."""
    data = np.concatenate(list(batch.heads.values()), axis=1)
    slots = np.zeros(batch.tokens, int) if batch.slots is None else batch.slots
    return [
        Token(
            heads,
            tuple(position),
            first_slot + slot,
            batch.conjugate,
            batch.pure,
            temperature=temperature,
        )
        for heads, position, slot, temperature in zip(
            data,
            batch.positions.tolist(),
            slots.tolist(),
            batch.temperature_words.tolist(),
            strict=True,
        )
    ]


def heads_of(batch: RopeBatch, packets: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Packets that came out as arrays by kind of head, like the batch's own."""
    head_dim = batch.tables[0].head_dim
    data = np.stack([packet.reshape(-1, head_dim) for packet in packets])
    ends = np.cumsum([array.shape[1] for array in batch.heads.values()])
    parts = np.split(data, ends[:-1], axis=1)
    return dict(zip(batch.heads, parts, strict=True))


def simulate(
    parameters: RopeParameters, batch: RopeBatch, progress: Progress = silent
) -> tuple[dict[str, np.ndarray], Timing]:
    """Load the batch's tables, stream its words through, and return what came out and when."""

    def watched(state, _random) -> bool:
        progress("simulation", state.tokens_out, batch.tokens)
        return True

    loads = [Load(slot, table) for slot, table in enumerate(batch.tables)]
    result = EngineBench(parameters).run(tokens_of(batch), loads, Traffic(sink=watched))
    return heads_of(batch, result.packets), Timing.of(result)
