# SPDX-License-Identifier: Apache-2.0
"""The regression finds what is wrong, counts what it compared, and goes on where it stopped."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from ropeway.golden import InputError
from ropeway.sim import pool, regression, regression_run
from ropeway.sim.core_script import written
from ropeway.sim.regression import CORES, Case, Outcome, matrix, run_case, sample
from ropeway.sim.regression_run import as_junit, as_markdown, run_cases, shard, summary

CASE = Case(core="rope-4x16", tokens=5, seed=1)


def test_the_matrix_is_as_large_as_is_claimed():
    cases = list(matrix())
    assert len(set(cases)) == len(cases) == len({case.name for case in cases})
    assert {case.core for case in cases} == set(CORES)
    assert sum(case.resets for case in cases) >= 1000
    assert sum(case.loads for case in cases if case.core != "scores-4x16") >= 1000
    assert any(case.carried for case in cases)
    assert {case.engine for case in cases} == {"native", "verilator", "icarus"}


@pytest.mark.parametrize("core", CORES)
def test_every_core_can_be_built(core):
    assert CORES[core]().units


@pytest.mark.slow
@pytest.mark.parametrize("case", sample(), ids=lambda case: case.name)
def test_the_core_s_verilog_equals_golden(case):
    outcome = run_case(case)
    assert not outcome.failure
    assert outcome.elements >= 10_000
    assert outcome.resets == case.resets


@pytest.mark.slow
def test_a_script_that_is_wrong_in_one_bit_is_found(monkeypatch):
    def spoilt(*arguments, **options):
        script = written(*arguments, **options)
        results = script.results.copy()
        results[-1, 0] ^= 1 << 13
        return replace(script, results=results)

    case = sample()[0]
    assert not run_case(case).failure
    monkeypatch.setattr(regression, "written", spoilt)
    assert "m_axis: item " in run_case(case).failure


class Here:
    """Stands for a pool of processes: runs in this one, with a stand-in for running cases."""

    def __init__(self, monkeypatch, run: Callable[[Case], Outcome]):
        self.ran: list[Case] = []

        def ran(case: Case) -> Outcome:
            self.ran.append(case)
            return run(case)

        monkeypatch.setattr(regression_run, "run_case", ran)
        monkeypatch.setattr(pool, "ProcessPoolExecutor", ThreadPoolExecutor)


def passes(case: Case) -> Outcome:
    return Outcome(case=case, elements=case.tokens, clocks=9)


def test_what_passed_is_not_run_again_but_what_failed_is(monkeypatch, tmp_path):
    cases = [replace(CASE, seed=seed) for seed in range(4)]

    def fails_once(case: Case) -> Outcome:
        return replace(passes(case), failure="wrong" if case.seed == 2 else "")

    here = Here(monkeypatch, fails_once)
    outcomes = run_cases(cases, tmp_path)
    assert [bool(outcome.failure) for outcome in outcomes] == [False, False, True, False]
    assert len(here.ran) == 4

    again = Here(monkeypatch, passes)
    outcomes = run_cases(cases, tmp_path)
    assert [case.seed for case in again.ran] == [2]
    assert not any(outcome.failure for outcome in outcomes)


def test_other_sources_are_run_anew(monkeypatch, tmp_path):
    here = Here(monkeypatch, passes)
    run_cases([CASE], tmp_path)
    monkeypatch.setattr(regression_run, "sources_hash", lambda: "other")
    run_cases([CASE], tmp_path)
    assert len(here.ran) == 2


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_shards_are_all_cases_once(parts):
    cases = list(matrix())
    shares = [shard(cases, part, parts) for part in range(1, parts + 1)]
    assert sorted(c.name for share in shares for c in share) == sorted(c.name for c in cases)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_the_summary_says_what_was_compared_and_what_failed():
    stalled = replace(CASE, seed=2, stall=0.5)
    outcomes = [
        Outcome(case=CASE, elements=10, loads=1, clocks=100, seconds=1.5),
        Outcome(case=stalled, elements=30, resets=2, clocks=300, seconds=2.0, failure="item 3"),
    ]
    found = summary(outcomes)
    assert found["total"]["elements"] == 40
    assert found["total"]["paused_elements"] == 30
    assert found["groups"]["rope-4x16 native"]["failed"] == 1
    assert [Outcome.from_dict(o) for o in json.loads(json.dumps(found))["outcomes"]] == outcomes
    assert f"- {stalled.name}: item 3" in as_markdown(found).splitlines()
    suite = ET.fromstring(as_junit(outcomes))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.find("failure") is not None for case in suite] == [False, True]


@pytest.mark.slow
def test_a_cluster_gives_the_same_outcomes(tmp_path):
    distributed = pytest.importorskip("distributed")
    case = Case(core="scores-4x16", tokens=4, seed=1)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        (outcome,) = run_cases([case], tmp_path, address=cluster.scheduler_address)
    alone = run_case(case)
    assert replace(outcome, seconds=0) == replace(alone, seconds=0)


def test_a_cluster_that_is_not_there_is_said(tmp_path):
    with pytest.raises(InputError, match=r"dask = tcp://127\.0\.0\.1:1: cannot be reached"):
        run_cases([CASE], tmp_path, address="tcp://127.0.0.1:1")
