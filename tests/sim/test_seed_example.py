# SPDX-License-Identifier: Apache-2.0
"""“What is the capital of France?” in the additive schemes, at full size."""

import numpy as np
import pytest

from ropeway.sim.demonstrations import DEMONSTRATIONS
from ropeway.sim.prompt import CAPITAL, FAR, FRANCE, PROMPT, QUERY

pytestmark = pytest.mark.slow
OFFSETS = {FRANCE: 1, CAPITAL: 3}


@pytest.fixture(scope="module")
def shown():
    """A scheme's demonstration, all of whose claims have been made and hold; run once each."""
    made = {}

    def of(scheme: str):
        if scheme not in made:
            made[scheme] = DEMONSTRATIONS[scheme]()
            failed = [claim for claim in made[scheme].claims() if not claim.holds]
            assert failed == []
        return made[scheme]

    return of


def test_the_query_is_one_token_after_france_and_three_after_capital():
    assert [PROMPT[at] for at in (QUERY, FRANCE, CAPITAL)] == ["?", "France", "capital"]
    assert {key: QUERY - key for key in OFFSETS} == OFFSETS


def test_alibi_lowers_the_scores_of_france_and_capital_by_one_and_three_slopes(shown):
    alibi = shown("alibi")
    ladder = [2.0 ** (-8 * (n + 1) / 64) for n in range(64)]
    slopes = np.array(ladder + [2.0 ** (-8 * (2 * n + 1) / 128) for n in range(48)])
    gained = (alibi.prefill[QUERY] - alibi.words[QUERY].astype(int)) * alibi.lsb
    for key, offset in OFFSETS.items():
        assert np.abs(gained[:, key] + offset * slopes).max() <= 0.51 * alibi.lsb
    assert (gained[:, QUERY] == 0).all()
    later = np.arange(len(PROMPT)) > np.arange(len(PROMPT))[:, None]
    assert (alibi.prefill.transpose(1, 0, 2)[:, later] == -(1 << 15)).all()


def test_sinusoidal_rows_show_offsets_alone_near_and_far(shown):
    sinusoidal = shown("sinusoidal")
    angles = 10000.0 ** (-np.arange(0, 512, 2) / 512)
    for start, rows in ((0, sinusoidal.rows), (FAR, sinusoidal.far_rows)):
        at = np.outer(start + np.arange(len(PROMPT)), angles)
        assert np.abs(rows[:, 0::2] - np.sin(at)).max() < sinusoidal.lsb
        assert np.abs(rows[:, 1::2] - np.cos(at)).max() < sinusoidal.lsb
        for key, offset in OFFSETS.items():
            assert abs(rows[QUERY] @ rows[key] - np.cos(angles * offset).sum()) < 0.02


def test_learned_rows_are_those_of_the_prompt_s_positions_and_none_stands_beyond_the_table(shown):
    learned = shown("learned")
    gained = learned.prefill - learned.words
    for token in range(len(PROMPT)):
        assert np.array_equal(gained[token], learned.table[token])
    assert list(learned.edges) == [1023, 1024, -1]
    assert np.array_equal(learned.edges[1023], learned.table[1023])
    assert not learned.edges[1024].any()
    assert not learned.edges[-1].any()
