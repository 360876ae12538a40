# SPDX-License-Identifier: Apache-2.0
"""The demonstration's prompt: its tokens, projections made up for them, and their scores."""

import numpy as np

from ropeway.golden import RopeGeometry

__all__ = [
    "CAPITAL",
    "FAR",
    "FRANCE",
    "PROMPT",
    "QUERY",
    "QUESTION",
    "Heads",
    "norms",
    "prompt_heads",
    "scores",
]

PROMPT = ("What", "is", "the", "capital", "of", "France", "?")
QUESTION = " ".join(PROMPT[:-1]) + PROMPT[-1]
CAPITAL, FRANCE, QUERY = 3, 5, 6
FAR = 100_000  # where the prompt begins when it does so far from 0

Heads = dict[str, np.ndarray]


def prompt_heads(geometry: RopeGeometry, seed: int = 2017) -> Heads:
    """Made-up projections of the prompt's tokens, float64: what they share and what each has alone.

    A query group shares with its key head, so that scores are large and fall with distance, as a
    trained model's do.
    """
    random = np.random.default_rng(seed)
    group = geometry.heads // geometry.kv_heads

    def normal(tokens: int, heads: int) -> np.ndarray:
        return random.standard_normal((tokens, heads, geometry.head_dim))

    common = normal(1, geometry.kv_heads)
    return {
        "q": np.repeat(common, group, axis=1) + 0.5 * normal(len(PROMPT), geometry.heads),
        "k": common + 0.5 * normal(len(PROMPT), geometry.kv_heads),
        "v": normal(len(PROMPT), geometry.kv_heads),
    }


def scores(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Dot products of each query with each key, a key head serving its group; [heads, q, k]."""
    group = queries.shape[1] // keys.shape[1]
    keys = np.repeat(keys.astype(np.float64), group, axis=1)
    return np.einsum("qhd,khd->hqk", queries.astype(np.float64), keys)


def norms(heads: np.ndarray) -> np.ndarray:
    """Euclidean norms of heads, [tokens, heads]."""
    return np.linalg.norm(heads.astype(np.float64), axis=-1)
