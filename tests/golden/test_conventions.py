# SPDX-License-Identifier: Apache-2.0
"""The conventions of checkpoints, as rotations of whole heads, and what scalings do to scores."""

import numpy as np
import pytest

from ropeway.golden import Pairing, RopeGeometry
from ropeway.golden.exact import cos_sin, rotate_exact

from .configs import LLAMA, YARN, rope


def turned(geometry: RopeGeometry, heads: np.ndarray, positions) -> np.ndarray:
    """``heads`` [tokens, heads, head_dim] turned as ``geometry`` says, in float64."""
    frequencies = np.array([float(w) for w in geometry.inv_freq])
    cos, sin = cos_sin(frequencies, np.asarray(positions), geometry.attention_factor)
    return rotate_exact(heads, cos, sin, geometry.pairing, geometry.rotary_offset)


def turning(head_dim: int, rotary_dim: int, pairing: str, offset: int = 0) -> str:
    """A letter an element of a head: c, its partner s, or 0 where nothing turns."""
    cos, sin = np.full((1, rotary_dim // 2), 2.0), np.full((1, rotary_dim // 2), 3.0)
    letters = []
    for at in range(head_dim):
        unit = np.zeros((1, 1, head_dim))
        unit[0, 0, at] = 1
        out = rotate_exact(unit, cos, sin, Pairing(pairing), offset)[0, 0]
        other = np.flatnonzero(np.abs(out) == 3)
        letters.append("0" if not len(other) else "c" if other[0] > at else "s")
    return "".join(letters)


def test_partial_rotation_in_both_pairings():
    assert turning(8, 4, "half-split") == "ccss0000"
    assert turning(8, 4, "adjacent") == "cscs0000"
    assert turning(8, 4, "adjacent", offset=4) == "0000cscs"


def test_llama_weights_permuted_by_head_turn_alike_in_the_other_pairing():
    rows = np.arange(4).reshape(2, 2).swapaxes(0, 1).ravel()
    assert rows.tolist() == [0, 2, 1, 3]
    rng = np.random.default_rng(0)
    heads, positions = rng.normal(size=(5, 2, 128)), np.arange(5)
    permuted = np.arange(128).reshape(2, 64).swapaxes(0, 1).ravel()
    halves = rope("llama-3.1-8b")
    cos, sin = cos_sin(np.array([float(w) for w in halves.inv_freq]), positions)
    adjacent = rotate_exact(heads[..., permuted], cos, sin, Pairing.ADJACENT)
    np.testing.assert_allclose(adjacent, turned(halves, heads, positions)[..., permuted])


def test_the_amplitude_acts_on_what_turns_alone():
    config = LLAMA | {"partial_rotary_factor": 0.5, "rope_scaling": YARN}
    g = rope(config)
    heads = np.ones((1, 1, 128))
    out = turned(g, heads, [0])[0, 0]
    assert out[:64] == pytest.approx(g.attention_factor)
    assert (out[64:] == 1).all()


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gpt-j-6b", "phi-2", "gpt-neox-20b"])
def test_scores_depend_on_the_offset_alone(name):
    g = rope(name)
    rng = np.random.default_rng(1)
    q, k = rng.normal(size=(2, 1, 1, g.head_dim))
    near = turned(g, q, [7])[0, 0] @ turned(g, k, [3])[0, 0]
    far = turned(g, q, [100_007])[0, 0] @ turned(g, k, [100_003])[0, 0]
    assert far == pytest.approx(near, abs=1e-6)


def planted(scaling: dict | None, offsets: np.ndarray) -> np.ndarray:
    """The mean score of a key that equals the query, by offset, over that of offset 0 unscaled."""
    g = rope(LLAMA | {"rope_theta": 10000.0, "head_dim": 128}, scaling=scaling or {})
    rng = np.random.default_rng(2)
    q = rng.normal(size=(1000, 128))
    energy = (q[:, :64] ** 2 + q[:, 64:] ** 2).mean(axis=0)
    angle = offsets[:, None] * np.array([float(w) for w in g.inv_freq])
    return g.attention_factor**2 * np.cos(angle) @ energy / energy.sum()


def test_planted_needles_stand_out_as_each_scaling_promises():
    offsets = np.arange(0, 4096, 7)
    plain = planted(None, offsets)
    linear = planted({"type": "linear", "factor": 4.0}, offsets * 4)
    yarn = planted(YARN | {"original_max_position_embeddings": 4096}, offsets * 4)
    np.testing.assert_allclose(linear, plain, atol=1e-9)
    assert plain[0] == pytest.approx(1)
    assert yarn[0] == pytest.approx(rope(LLAMA, scaling=YARN).attention_factor ** 2)
    near = np.arange(1, 32)
    unscaled = planted(None, near)
    stretched = planted(YARN | {"original_max_position_embeddings": 4096}, near)
    gain = rope(LLAMA, scaling=YARN).attention_factor ** 2
    slack = np.abs(stretched / gain - unscaled).max()
    assert slack < np.abs(planted({"type": "linear", "factor": 4.0}, near) - unscaled).max() / 3
