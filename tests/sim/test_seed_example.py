# SPDX-License-Identifier: Apache-2.0
"""“What is the capital of France?” in the additive schemes: query 6 sees keys 5 and 3."""

import numpy as np
import pytest

from ropeway.golden import geometry_of
from ropeway.golden.additive import AlibiGeometry, LearnedGeometry, SinusoidalGeometry
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.embedding_batch import EmbeddingBatch
from ropeway.golden.engines import silent
from ropeway.golden.score_batch import ScoreBatch
from ropeway.sim.prompt import CAPITAL, FRANCE, PROMPT, QUERY
from ropeway.sim.simulate_additive import simulate_embeddings, simulate_scores

FAR = 100_000


@pytest.mark.parametrize("start", [0, FAR])
def test_alibi_lowers_the_scores_of_france_and_capital_by_one_and_three_slopes(start):
    geometry = geometry_of("bloom")
    assert isinstance(geometry, AlibiGeometry)
    at, tokens = start + np.arange(len(PROMPT)), len(PROMPT)
    scores = np.zeros((tokens, geometry.heads, tokens), np.int32)
    batch = ScoreBatch(scores=scores, queries=at, keys=at, geometry=geometry)
    p = AlibiParameters(data_bits=24)
    out, _ = simulate_scores(p, batch, 2.0**-p.fraction_bits)
    slopes = np.array(geometry.slopes, float)
    for key, offset in ((FRANCE, 1), (CAPITAL, 3)):
        bias = out[QUERY, :, key] / (1 << p.fraction_bits)
        assert QUERY - key == offset
        assert np.abs(bias + offset * slopes).max() <= 2.0**-p.fraction_bits
    hidden = np.arange(tokens) > np.arange(tokens)[:, None]
    assert (out.transpose(1, 0, 2)[:, hidden] == -(1 << 23)).all()


def test_sinusoidal_rows_show_offsets_alone_near_and_far():
    geometry = geometry_of("transformer-base")
    assert isinstance(geometry, SinusoidalGeometry)
    rows = {}
    for start in (0, FAR):
        batch = EmbeddingBatch(
            x=np.zeros((len(PROMPT), geometry.width), np.int16),
            positions=start + np.arange(len(PROMPT)),
            geometry=geometry,
        )
        lsb = 2.0**-14
        out, _ = simulate_embeddings(batch.parameters(16, 4, lsb), batch, silent)
        rows[start] = out * lsb
    frequencies = np.array(geometry.inv_freq, float)
    for key in (FRANCE, CAPITAL):
        expected = np.cos(frequencies * (QUERY - key)).sum()
        for found in rows.values():
            assert abs(found[QUERY] @ found[key] - expected) < 0.02
    near = [rows[0][QUERY] @ rows[0][key] for key in (FRANCE, CAPITAL)]
    assert near[0] > near[1]


def test_learned_rows_are_those_of_the_prompt_s_positions_and_none_stands_beyond_the_table():
    geometry = LearnedGeometry(rows=16, width=64, offset=2)
    table = np.random.default_rng(0).integers(-999, 1000, (16, 64)).astype(np.int16)
    positions = np.array([*range(len(PROMPT)), 13, 14, -2, -3])
    batch = EmbeddingBatch(
        x=np.ones((len(positions), 64), np.int16),
        positions=positions,
        geometry=geometry,
        table=table,
    )
    out, _ = simulate_embeddings(batch.parameters(16, 4, 1.0), batch, silent)
    assert np.array_equal(out[QUERY] - 1, table[2 + QUERY])
    assert np.array_equal(out[FRANCE] - 1, table[2 + FRANCE])
    assert np.array_equal(out[CAPITAL] - 1, table[2 + CAPITAL])
    last, beyond, first, before = out[len(PROMPT) :]
    assert np.array_equal(last - 1, table[15])
    assert np.array_equal(first - 1, table[0])
    assert (beyond == 1).all()
    assert (before == 1).all()
