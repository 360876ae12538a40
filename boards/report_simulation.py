# SPDX-License-Identifier: Apache-2.0
"""Each reported design in Amaranth's simulator: held to the golden model, its clocks counted."""

from typing import Any

import numpy as np

from ropeway.golden import AlibiGeometry, LearnedGeometry, SinusoidalGeometry, geometry_of
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import alibi_slopes
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.batch import RopeBatch, rope_geometry
from ropeway.golden.embedding_batch import EmbeddingBatch
from ropeway.golden.engines import golden
from ropeway.golden.fixed import limits
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.score_batch import ScoreBatch
from ropeway.sim.simulate import simulate
from ropeway.sim.simulate_additive import simulate_embeddings, simulate_scores

from .designs import Design

__all__ = ["MODEL", "simulate_design"]

MODEL = "llama-3.1-8b"  # whose layer the RoPE engines turn
TOKENS, HEADS, KEYS = 2, 12, 96


def simulate_design(item: tuple[str, Design]) -> tuple[str, dict[str, float] | None]:
    """A named design's ``first_beat_latency`` and ``clocks_per_token``; None of external memory.

    A token is a Llama-3.1-8B layer's heads, a whole embedding, or twelve heads of 96 scores. Raises
    RuntimeError where a result is not golden's.
    """
    name, design = item
    if "bus_bits" in design.source:
        return name, None
    match design.parameters:
        case RopeParameters() as p:
            found = _rotations(p)
        case AlibiParameters() as p:
            found = _scores(p)
        case AdderParameters() as p:
            found = _embeddings(p, learned=design.scheme == "learned")
    exact, timing = found
    if not exact:
        raise RuntimeError(f"{name}: simulation does not give the golden model's results")
    names = ("first_beat_latency", "clocks_per_token")
    return name, {each: round(timing[each], 3) for each in names}


def _words(bits: int, shape: tuple[int, ...], signed: bool = True) -> np.ndarray:
    low, high = limits(bits) if signed else (0, (1 << bits) - 1)
    return np.random.default_rng(0).integers(low, high, shape, endpoint=True)


def _rotations(p: RopeParameters) -> tuple[bool, dict[str, Any]]:
    geometry = rope_geometry(geometry_of(MODEL))
    heads = {
        kind: _words(p.data_bits, (TOKENS, count, geometry.head_dim), signed=not p.floating)
        for kind, count in zip("qkv", geometry.pattern.counts, strict=True)
    }
    batch = RopeBatch(heads=heads, positions=np.arange(TOKENS) + 9, geometries=(geometry,))
    out, timing = simulate(p, batch)
    wanted, _ = golden(p, batch)
    mask = (1 << p.output_bits) - 1  # words of a format may come out signed
    return all(np.array_equal(out[k] & mask, wanted[k] & mask) for k in heads), vars(timing)


def _embeddings(p: AdderParameters, *, learned: bool) -> tuple[bool, dict[str, Any]]:
    positions = np.arange(TOKENS)
    x = _words(p.data_bits, (TOKENS, p.max_width))
    if learned:
        geometry = LearnedGeometry(rows=TOKENS + 1, width=p.max_width)
        table = _words(p.data_bits, (geometry.rows, p.max_width))
        batch = EmbeddingBatch(x=x, positions=positions, geometry=geometry, table=table)
    else:
        geometry = geometry_of("transformer-base")
        if not isinstance(geometry, SinusoidalGeometry):
            raise TypeError(f"transformer-base is sinusoidal, not {geometry.scheme}")
        geometry = SinusoidalGeometry(
            width=p.max_width, inv_freq=_frequencies(geometry, p.max_width), layout=geometry.layout
        )
        batch = EmbeddingBatch(x=x, positions=positions, geometry=geometry)
    out, timing = simulate_embeddings(p, batch)
    return np.array_equal(out, batch.golden(p)[0]), timing


def _frequencies(geometry: SinusoidalGeometry, width: int) -> tuple:
    """As many as a row of ``width`` has, of a geometry's, again from the first where they end."""
    given = geometry.inv_freq
    return tuple(given[number % len(given)] for number in range(width // 2))


def _scores(p: AlibiParameters) -> tuple[bool, dict[str, Any]]:
    geometry = AlibiGeometry(model_slopes=alibi_slopes(HEADS), heads=HEADS)
    batch = ScoreBatch(
        scores=_words(p.data_bits, (TOKENS, HEADS, KEYS)),
        queries=np.arange(TOKENS) + KEYS,
        keys=np.arange(KEYS),
        geometry=geometry,
    )
    lsb = 2.0**-p.fraction_bits
    out, timing = simulate_scores(p, batch, lsb)
    return np.array_equal(out, batch.golden(p, lsb)[0]), timing
