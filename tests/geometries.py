# SPDX-License-Identifier: Apache-2.0
"""Phase tables in the shapes of real checkpoints, with few heads; and data for their tokens."""

import numpy as np

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing, PhaseTable, amplitude_code
from ropeway.sim.random_words import data_words, elements, float_words

__all__ = [
    "POSITIONS",
    "SHAPES",
    "data_words",
    "elements",
    "float_words",
    "geometry",
    "ladder",
    "served",
]

# Corners, contexts of real checkpoints, and both ends of 26 bits.
POSITIONS = (
    *(0, 1, 4095, 131_071, 1_048_575, 10_485_759),
    *(-1, -4096, -10_485_760, -(1 << 25), (1 << 25) - 1),
)


def ladder(pairs: int, theta: float = 10_000.0) -> tuple[int, ...]:
    """Increments of a plain RoPE: theta^(−i/pairs) radians a position."""
    turns = theta ** (-np.arange(pairs) / max(pairs, 1)) / (2 * np.pi)
    return tuple(round(turn) for turn in (turns * 2.0**48).tolist())


def geometry(
    head_dim: int,
    pattern: HeadPattern,
    *,
    rotary_dim: int | None = None,
    offset: int = 0,
    pairing: Pairing = Pairing.HALF_SPLIT,
    theta: float = 10_000.0,
    attention_factor: float = 1.0,
    axes: tuple[int, ...] = (),
) -> PhaseTable:
    """A plain RoPE's table."""
    code, scale = amplitude_code(attention_factor)
    pairs = (head_dim if rotary_dim is None else rotary_dim) // 2
    return PhaseTable(
        increments=ladder(pairs, theta),
        head_dim=head_dim,
        pattern=pattern,
        pairing=pairing,
        rotary_offset=offset,
        amplitude=code,
        scale=scale,
        axes=axes,
    )


ADJACENT = Pairing.ADJACENT

SHAPES: dict[str, PhaseTable] = {
    "llama-3.1-8b": geometry(128, HeadPattern(2, 1, 1), theta=500_000.0),
    "gpt-neox-20b, per head": geometry(96, HeadPattern(1, 1, 1, repeat=2), rotary_dim=24),
    "phi-2": geometry(80, HeadPattern(2, 1, 1), rotary_dim=32),
    "gpt-j": geometry(256, HeadPattern(1, 1, 1), rotary_dim=64, pairing=ADJACENT),
    "gemma-3": geometry(256, HeadPattern(1, 1), theta=1_000_000.0),
    "falcon, per group": geometry(64, HeadPattern(2, 1, 1, repeat=2)),
    "multi-query": geometry(64, HeadPattern(3, 1, 1), pairing=ADJACENT),
    "phi-3, keys only": geometry(96, HeadPattern(0, 2), attention_factor=1.1902380714),
    "no position": geometry(64, HeadPattern(2, 1, 1), rotary_dim=0),
    "deepseek-v4, trailing": geometry(
        128,
        HeadPattern(1, 1, 1, rotated=(True, True, True)),
        rotary_dim=64,
        offset=64,
        pairing=ADJACENT,
    ),
    "trailing half-split, yarn beyond √2": geometry(
        80, HeadPattern(1, 1, 1), rotary_dim=32, offset=48, attention_factor=1.45
    ),
    "80, whole head": geometry(80, HeadPattern(1, 1), attention_factor=1.3465736),
}


def served(p: RopeParameters) -> list[PhaseTable]:
    """The shapes that an engine serves."""
    return [
        table
        for table in SHAPES.values()
        if table.head_dim % p.beat_elements == 0
        and table.pairs % p.lanes == 0
        and table.rotary_offset % p.beat_elements == 0
    ]
