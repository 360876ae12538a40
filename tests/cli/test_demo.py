# SPDX-License-Identifier: Apache-2.0
"""``ropeway demo`` shows what it says, and fails when the hardware does not."""

import json
from functools import partial

import numpy as np
import pytest

from ropeway.sim import demo, figure
from ropeway.sim.bench import EngineBench
from tests.conftest import TINY_LLAMA

CLAIMS = 14


@pytest.fixture
def _small(monkeypatch, tmp_path):
    """The demonstration through a layer of 16 small heads, without its figure.

    Its tokens are just long enough for one table to be digested before the next one is loaded.
    """
    config = tmp_path / "small.json"
    heads = {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 16}
    config.write_text(json.dumps(TINY_LLAMA | heads))
    monkeypatch.setattr(figure, "draw", lambda _shown, _path: None)
    monkeypatch.setattr(demo, "Demonstration", partial(demo.Demonstration, config=config))


@pytest.mark.slow
def test_every_claim_of_the_full_size_demonstration_holds(ropeway, tmp_path):
    called = ropeway("demo", "-o", tmp_path)
    assert (called.status, called.err) == (0, "")
    assert called.out.count("\nok ") == CLAIMS
    assert "FAILED" not in called.out
    assert "0 idle beats" in called.out
    assert (tmp_path / "rope.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("_small")
def test_the_engine_is_elaborated_once(ropeway, tmp_path, monkeypatch):
    made = []
    elaborate = EngineBench.__init__

    def counted(self, parameters):
        made.append(parameters)
        elaborate(self, parameters)

    monkeypatch.setattr(EngineBench, "__init__", counted)
    assert ropeway("demo", "-o", tmp_path).status == 0
    assert len(made) == 1


def test_missing_matplotlib_is_told_before_anything_runs(ropeway, monkeypatch):
    monkeypatch.setattr("ropeway.cli.demo.find_spec", lambda _name: None)
    called = ropeway("demo")
    assert (called.status, called.out) == (2, "")
    assert called.err == "ropeway: error: matplotlib = missing: install ropeway[figure]\n"


Q, K, V = 0, 16 * 16, 24 * 16  # where each begins in a packet
BEATS = 32 * 16 // 8


def element(result, packet, number):
    result.packets[packet][number] ^= 1 << 12


def stall(result, packet, number):
    result.result_clocks[packet * BEATS + number :] += 1


FAULTS = {
    "q of the prompt": (0, element, 3, Q, "bit for bit"),
    "v of the prompt": (0, element, 3, V, "V passes unchanged"),
    "an idle beat in the prompt": (0, stall, 3, 5, "one beat a clock"),
    "? far away": (1, element, 6, Q + 1, "offset 1 only"),
    "is far away": (1, element, 1, Q + 1, "so it does at positions"),
    "capital far away": (1, element, 3, K + 1, "offset 3 only"),
    "positions off": (1, element, 11, Q, "positions off"),
    "an idle beat while loading": (1, stall, 5, 5, "free slot"),
    "the YaRN slot": (1, element, 14, Q, "YaRN's outputs"),
    "decoding": (2, element, 6, K, "token at a time"),
}


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize(("run", "harm", "packet", "at", "claim"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_the_hardware_fails_its_claim(
    ropeway, tmp_path, monkeypatch, run, harm, packet, at, claim
):
    runs, unharmed = [], EngineBench.run

    def harmed(self, *args, **options):
        result = unharmed(self, *args, **options)
        if len(runs) == run:
            harm(result, packet, at)
        runs.append(result)
        return result

    monkeypatch.setattr(EngineBench, "run", harmed)
    called = ropeway("demo", "-o", tmp_path)
    assert called.status == 1
    failures = [line for line in called.err.splitlines() if line.startswith("ropeway: failed: ")]
    assert any(claim in line for line in failures)
    assert called.out.count("\nok ") + len(failures) == CLAIMS


def test_scores_pair_each_query_group_with_its_key_head():
    queries, keys = np.zeros((1, 4, 2)), np.zeros((1, 2, 2))
    queries[0, 2], keys[0, 1] = (3, 4), (5, 6)
    assert demo.scores(queries, keys).ravel().tolist() == [0, 0, 39, 0]
