# SPDX-License-Identifier: Apache-2.0
"""``ropeway demo`` shows what it says, and fails when the hardware does not."""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache, partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ropeway.cli.demo import SCHEMES
from ropeway.golden.engines import silent
from ropeway.sim import demo_rope
from ropeway.sim.adder_bench import AdderBench
from ropeway.sim.alibi_bench import AlibiBench
from ropeway.sim.bench import EngineBench
from ropeway.sim.demonstrations import DEMONSTRATIONS
from ropeway.sim.memory_bench import BASE
from tests.conftest import TINY_LLAMA

KINDS = dict(DEMONSTRATIONS)
CLAIMS = {"rope": 14, "sinusoidal": 15, "learned": 15, "alibi": 14}
BENCHES = {"rope": EngineBench, "sinusoidal": AdderBench, "learned": AdderBench}
BENCHES |= {"alibi": AlibiBench}
GPT_2 = {"model_type": "gpt2", "n_embd": 192, "n_head": 4, "n_positions": 12}
OPT = {"model_type": "opt", "hidden_size": 192, "num_attention_heads": 4}
# Rows are just long enough for a beat a clock, and a rope token for one table to be digested before
# the next one is loaded.
SMALL = {
    "rope": TINY_LLAMA | {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 16},
    "sinusoidal": {"model_type": "transformer", "d_model": 64},
    "learned": GPT_2,
    "alibi": {"model_type": "bloom", "hidden_size": 96, "n_head": 12, "n_layer": 1},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where the small configs are."""
    return tmp_path_factory.mktemp("small")


def small_one(scheme: str, folder: Path, progress=silent):
    """A scheme's demonstration of a small config."""
    config, options = folder / f"{scheme}.json", {}
    config.write_text(json.dumps(SMALL[scheme]))
    if scheme == "learned":
        options["other"] = folder / "other.json"
        options["other"].write_text(json.dumps(OPT | {"max_position_embeddings": 20}))
    return KINDS[scheme](progress, config=config, **options)


@pytest.fixture
def small(monkeypatch, folder) -> Callable[..., None]:
    """Makes a scheme's demonstration small, and lets it draw nothing unless told to."""

    def make(scheme: str, *, draws: bool = False):
        made = partial(small_one, scheme, folder)
        monkeypatch.setitem(DEMONSTRATIONS, scheme, made)
        if not draws:
            monkeypatch.setattr(KINDS[scheme], "draw", lambda _shown, _path: None)

    return make


def test_every_scheme_has_a_demonstration():
    assert tuple(DEMONSTRATIONS) == SCHEMES
    assert all(each.scheme == scheme for scheme, each in DEMONSTRATIONS.items())


@pytest.mark.slow
def test_every_claim_of_the_full_size_demonstration_holds(ropeway, tmp_path):
    called = ropeway("demo", "-o", tmp_path)
    assert (called.status, called.err) == (0, "")
    assert called.out.count("\nok ") == CLAIMS["rope"]
    assert "FAILED" not in called.out
    assert "0 idle beats" in called.out
    assert (tmp_path / "rope.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_demonstration_elaborates_once_and_draws_what_it_showed(
    ropeway, tmp_path, monkeypatch, small, scheme
):
    small(scheme, draws=True)
    made, bench = [], BENCHES[scheme]
    elaborate = bench.__init__

    def counted(self, parameters, *args, **options):
        made.append(parameters)
        elaborate(self, parameters, *args, **options)

    monkeypatch.setattr(bench, "__init__", counted)
    called = ropeway("demo", "--scheme", scheme, "-o", tmp_path / "out")
    assert (called.status, called.err) == (0, "")
    claims = [line for line in called.out.splitlines() if line.startswith("ok ")]
    assert len(claims) == CLAIMS[scheme]
    assert all(line[76:78] == "  " and line[78] != " " for line in claims), "not in columns"
    assert [path.name for path in (tmp_path / "out").iterdir()] == [f"{scheme}.png"]
    assert (tmp_path / "out" / f"{scheme}.png").read_bytes().startswith(b"\x89PNG")
    assert len(made) == 1


def test_missing_matplotlib_is_told_before_anything_runs(ropeway, monkeypatch):
    monkeypatch.setattr("ropeway.cli.demo.find_spec", lambda _name: None)
    called = ropeway("demo")
    assert (called.status, called.out) == (2, "")
    assert called.err == "ropeway: error: matplotlib = missing: install ropeway[figure]\n"


def test_a_scheme_that_there_is_not_is_refused_in_one_line(ropeway, tmp_path):
    called = ropeway("demo", "--scheme", "xpos", "-o", tmp_path / "out")
    assert (called.status, called.out) == (2, "")
    assert called.err.startswith("ropeway: error: scheme = xpos: must be one of rope, sinusoidal, ")
    assert called.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


Harm = Callable[[object], None]
Q, K, V = 0, 16 * 16, 24 * 16  # where each begins in a rope packet
ROPE_BEATS = 32 * 16 // 8


def packet(number: int, at: int) -> Harm:
    """Another bit of an element of a rope token."""
    return lambda result: result.packets[number].__setitem__(
        at, result.packets[number][at] ^ 1 << 12
    )


def idle(beat: int) -> Harm:
    """A clock in which nothing comes out of the engine."""

    def harm(result):
        result.result_clocks[beat:] += 1

    return harm


def idle_unit(beat: int) -> Harm:
    return lambda result: idle(beat)(result.run)


def token(number: int, at: int, bit: int = 12) -> Harm:
    """Another bit of an element of an embedding."""
    return lambda result: result.tokens[number].__setitem__(
        at, result.tokens[number][at] ^ 1 << bit
    )


def score(number: int, at: int, bit: int = 3) -> Harm:
    """Another bit of a score of a segment."""
    return lambda result: result.segments[number].__setitem__(
        at, result.segments[number][at] ^ 1 << bit
    )


def status(**flags: int) -> Harm:
    return lambda result: result.run.status.update(flags)


def fingerprint(result):
    result.run.fingerprint = "0" * 16


def unmarked(result):
    result.errors[1][5] = False


def slopes_from_zero(result):
    """The second worker's heads counted from 0, biased all the same as its own are."""
    result.segments[222:228] = result.segments[216:222]


FAULTS = {
    "q of the prompt": ("rope", 0, packet(3, Q), "bit for bit"),
    "v of the prompt": ("rope", 0, packet(3, V), "V passes unchanged"),
    "an idle beat in the prompt": ("rope", 0, idle(3 * ROPE_BEATS + 5), "one beat a clock"),
    "? far away": ("rope", 1, packet(6, Q + 1), "offset 1 only"),
    "is far away": ("rope", 1, packet(1, Q + 1), "so it does at positions"),
    "capital far away": ("rope", 1, packet(3, K + 1), "offset 3 only"),
    "positions off": ("rope", 1, packet(11, Q), "positions off"),
    "an idle beat while loading": ("rope", 1, idle(5 * ROPE_BEATS + 5), "free slot"),
    "the YaRN slot": ("rope", 1, packet(14, Q), "YaRN's outputs"),
    "decoding": ("rope", 2, packet(6, K), "token at a time"),
    "an embedding": ("sinusoidal", 0, token(2, 7), "bit for bit"),
    "an embedding's last bits": ("sinusoidal", 0, token(2, 7, 1), "within 1 LSB"),
    "an idle beat between rows": ("sinusoidal", 0, idle_unit(9), "one beat a clock"),
    "frequencies": ("sinusoidal", 0, fingerprint, "all that is stored"),
    "a far embedding": ("sinusoidal", 1, token(3, 0), "positions 100000 + n"),
    "the farthest": ("sinusoidal", 1, token(13, 63), "positions 16000000 + n"),
    "the first row": ("sinusoidal", 1, token(14, 2, 0), "position 0 adds"),
    "France's row": ("sinusoidal", 1, token(14 + 5, 1), "offset 1 only"),
    "capital's far row": ("sinusoidal", 1, token(21 + 3, 3), "offset 3 only"),
    "capital's row": ("sinusoidal", 1, token(14 + 3, 3, 4), "one turn by 3"),
    "a row in halves": ("sinusoidal", 1, token(30, 40), "sines and cosines are in halves"),
    "a chunk": ("sinusoidal", 2, token(4, 0), "in two chunks"),
    "a decoded embedding": ("sinusoidal", 2, token(9, 0), "decoding gives"),
    "a sum": ("learned", 0, token(2, 7), "bit for bit"),
    "a sum's last bit": ("learned", 0, token(2, 7, 0), "sum of mathematics"),
    "?'s row": ("learned", 0, token(6, 7, 2), '"?" takes row 6'),
    "another France": ("learned", 0, token(5, 7, 2), '"France" takes row 5'),
    "another capital": ("learned", 0, token(3, 7, 2), '"capital" takes row 3'),
    "a pause between rows": ("learned", 0, idle_unit(30), "one beat a clock"),
    "another geometry": ("learned", 0, fingerprint, "fingerprint"),
    "the last row": ("learned", 1, token(3, 0), "position 11 has the last row"),
    "behind the last row": ("learned", 1, token(1, 0), "position 12 has none"),
    "a beat unmarked": ("learned", 1, unmarked, "position 12 has none"),
    "before the first row": ("learned", 1, token(2, 0), "position -1 has none"),
    "no position outside": ("learned", 1, status(out_of_table=0), "position -1 has none"),
    "another token outside": ("learned", 1, status(first_out_of_table=-1), "position 12 has none"),
    "OPT's rows": ("learned", 1, token(8, 0), "takes row n + 2"),
    "a second chunk": ("learned", 2, token(4, 0), "in two chunks"),
    "a decoded sum": ("learned", 2, token(9, 0), "decoding gives"),
    "a score": ("alibi", 0, score(40, 1), "bit for bit"),
    "a score's last bit": ("alibi", 0, score(40, 1, 0), "within ½ LSB"),
    "France's score": ("alibi", 0, score(72 + 4, 5, 2), '"France" falls by 1 slope'),
    "capital's score": ("alibi", 0, score(72, 3, 2), '"capital" falls by 3 slopes'),
    "a masked score": ("alibi", 0, score(2, 5), "masked"),
    "slopes": ("alibi", 0, fingerprint, "all that is stored"),
    "a far score": ("alibi", 1, score(3, 0), "the same at positions"),
    "a page": ("alibi", 1, score(84 + 48 + 40, 0), "in two chunks"),
    "a key's form": ("alibi", 1, score(205, 2), "a constant a row"),
    "a worker's score": ("alibi", 1, score(216, 0), "worker 2 of 2"),
    "a worker's heads": ("alibi", 1, slopes_from_zero, "counting its heads from 0"),
    "an idle beat in a row": ("alibi", 1, idle_unit(341), "4 keys a clock"),
    "a flag": ("alibi", 1, status(saturated=0), "never wraps"),
    "a wrapped score": ("alibi", 1, score(-1, 0, 15), "never wraps"),
    "a decoded score": ("alibi", 2, score(50, 0), "token at a time"),
}


@lru_cache
def recorded(scheme: str, folder: Path) -> tuple[list, list]:
    """What a small demonstration's hardware gave, run by run, and what was read from its memory."""
    results, reads, shown = [], [], small_one(scheme, folder)
    unharmed = BENCHES[scheme].run

    def kept(self, *args, **options):
        results.append(unharmed(self, *args, **options))
        reads.append(list(self.memory.bursts) if scheme == "learned" else [])
        return results[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BENCHES[scheme], "run", kept)
        assert all(claim.holds for claim in shown.claims())
    return results, reads


class Harmed:
    """A bench that gives what was recorded, but for one run's harm."""

    def __init__(self, scheme: str, folder: Path, run: int, harm: Harm):
        self._recorded, self._run, self._harm = recorded(scheme, folder), run, harm
        self._runs = 0
        self.memory = SimpleNamespace(bursts=[], base=BASE)

    def place(self, _table):
        return {}

    def run(self, *_args, **_options):
        run, self._runs = self._runs, self._runs + 1
        result = deepcopy(self._recorded[0][run])
        self.memory.bursts = list(self._recorded[1][run])
        if run == self._run:
            self._harm(result)
        return result


@pytest.mark.parametrize(("scheme", "run", "harm", "claim"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_the_hardware_fails_its_claim(
    ropeway, folder, tmp_path, monkeypatch, small, scheme, run, harm, claim
):
    shown = DEMONSTRATIONS[scheme]
    bench = Harmed(scheme, folder, run, harm)
    monkeypatch.setattr(shown, "bench", bench)
    small(scheme)
    called = ropeway("demo", "--scheme", scheme, "-o", tmp_path)
    assert called.status == 1
    failures = [line for line in called.err.splitlines() if line.startswith("ropeway: failed: ")]
    assert any(claim in line for line in failures), failures
    assert called.out.count("\nok ") + len(failures) == CLAIMS[scheme]


def test_rows_that_are_read_in_vain_fail_their_claim(ropeway, folder, tmp_path, monkeypatch, small):
    bench = Harmed("learned", folder, 1, lambda _result: bench.memory.bursts.append(behind))
    behind = (BASE + 12 * 192 * 2, 12)
    monkeypatch.setattr(DEMONSTRATIONS["learned"], "bench", bench)
    small("learned")
    called = ropeway("demo", "--scheme", "learned", "-o", tmp_path)
    assert called.status == 1
    assert called.err.startswith("ropeway: failed: nothing is read for them")
    assert called.err.count("\n") == 1


def test_scores_pair_each_query_group_with_its_key_head():
    queries, keys = np.zeros((1, 4, 2)), np.zeros((1, 2, 2))
    queries[0, 2], keys[0, 1] = (3, 4), (5, 6)
    assert demo_rope.scores(queries, keys).ravel().tolist() == [0, 0, 39, 0]
