# SPDX-License-Identifier: Apache-2.0
"""Measuring for a report: what was done before is not done again, all else is."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from ropeway.boards import report_run, report_simulation
from ropeway.boards.designs import DESIGNS
from ropeway.boards.devices import DEVICES
from ropeway.boards.place import Placement
from ropeway.boards.report_cache import Cache, content_key
from ropeway.boards.report_jobs import Elaborated, Synthesized, as_bytes, from_bytes
from ropeway.boards.report_run import measure
from ropeway.boards.report_simulation import simulate_design
from ropeway.golden import InputError
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.sim import pool

SOME = {name: DESIGNS[name] for name in ("rope", "alibi")}
SMALL = {
    "rope": RopeParameters(data_bits=8, max_head_dim=128),
    "alibi": AlibiParameters(lanes=2, data_bits=8),
    "sinusoidal": AdderParameters(max_width=64),
    "learned-ram": AdderParameters(max_width=64),
}


class Tools:
    """Stand-ins for everything that takes long, which count how often they run."""

    def __init__(self, monkeypatch):
        self.ran: list[str] = []
        self.text = "rtlil"
        monkeypatch.setattr(pool, "ProcessPoolExecutor", ThreadPoolExecutor)
        for name in ("elaborate", "synthesize_design", "place_seed", "simulate_design"):
            monkeypatch.setattr(report_run, name, getattr(self, name))

    def elaborate(self, item):
        name, design = item
        return Elaborated(name, design.device, f"{self.text} {name}", "", 40)

    def synthesize_design(self, design):
        self.ran.append(f"synthesis {design.name}")
        return Synthesized(design.name, {"LUT4": 7}, b"netlist\n\x00")

    def place_seed(self, run):
        self.ran.append(f"{run.name} {run.seed}")
        assert run.netlist == b"netlist\n\x00"
        assert run.target == DEVICES[run.device].target
        return run.name, Placement(run.seed, 200.0 + run.seed, {"TRELLIS_COMB": 5}, ["0.1 ns x"])

    def simulate_design(self, item):
        self.ran.append(f"simulation {item[0]}")
        return item[0], {"first_beat_latency": 4, "clocks_per_token": 5.0}


@pytest.fixture
def tools(monkeypatch):
    return Tools(monkeypatch)


def test_each_design_is_synthesized_once_and_placed_with_every_seed(tools, tmp_path):
    told = []
    found = measure(SOME, Cache(tmp_path), progress=lambda *said: told.append(said))
    assert sorted(tools.ran) == sorted(
        ["synthesis rope", "synthesis alibi", "simulation rope", "simulation alibi"]
        + [f"rope {seed}" for seed in range(1, DESIGNS["rope"].seeds + 1)]
        + [f"alibi {seed}" for seed in (1, 2, 3)]
    )
    assert found["alibi"]["seeds_mhz"] == {"1": 201.0, "2": 202.0, "3": 203.0}
    assert found["alibi"]["cells"]["luts"] == 7
    assert found["rope"]["simulated"]["clocks_per_token"] == 5.0
    total = 3 * 2 + DESIGNS["rope"].seeds + 3
    assert [done for _, done, _ in told] == list(range(1, total + 1))
    assert {of for *_, of in told} == {total}


def test_what_was_done_is_not_done_again_and_gives_the_same(tools, tmp_path):
    first = measure(SOME, Cache(tmp_path))
    tools.ran.clear()
    assert measure(SOME, Cache(tmp_path)) == first
    assert not tools.ran


def test_what_broke_off_goes_on_where_it_was(tools, tmp_path, monkeypatch):
    place = tools.place_seed

    def breaks(run):
        if run.seed == 3:
            raise RuntimeError("out of electricity")
        return place(run)

    monkeypatch.setattr(report_run, "place_seed", breaks)
    with pytest.raises(RuntimeError, match="electricity"):
        measure({"alibi": DESIGNS["alibi"]}, Cache(tmp_path))
    tools.ran.clear()
    monkeypatch.setattr(report_run, "place_seed", place)
    measure({"alibi": DESIGNS["alibi"]}, Cache(tmp_path))
    assert tools.ran == ["alibi 3", "simulation alibi"]


def test_one_more_seed_is_all_that_is_placed(tools, tmp_path):
    measure(SOME, Cache(tmp_path), seeds=2)
    tools.ran.clear()
    measure(SOME, Cache(tmp_path), seeds=3)
    assert sorted(tools.ran) == ["alibi 3", "rope 3"]


def test_another_netlist_tool_or_part_is_measured_anew(tools, tmp_path, monkeypatch):
    some = {"alibi": DESIGNS["alibi"]}

    def ran() -> list[str]:
        tools.ran.clear()
        measure(some, Cache(tmp_path), seeds=1)
        return sorted(tools.ran)

    everything = ["alibi 1", "simulation alibi", "synthesis alibi"]
    assert ran() == everything
    tools.text = "another netlist"
    assert ran() == everything
    monkeypatch.setattr(report_run, "version", lambda _: "9")
    assert ran() == everything
    other = replace(DEVICES["lfe5u-25f-6"], target=100.0)
    monkeypatch.setitem(report_run.DEVICES, "lfe5u-25f-6", other)
    assert ran() == ["alibi 1"]
    monkeypatch.setattr(report_run, "sources_hash", lambda: "other")
    assert ran() == ["simulation alibi"]


def test_a_floorplan_decides_a_placement_and_nothing_else(tools, tmp_path, monkeypatch):
    design = replace(DESIGNS["rope-8-lanes"], floorplanned=False)
    pinned = replace(design, floorplanned=True)
    assert design.configuration() != pinned.configuration()
    seen, place = [], tools.place_seed
    monkeypatch.setattr(
        report_run, "place_seed", lambda run: (seen.append(run.floorplanned), place(run))[1]
    )
    for each in (design, pinned, pinned):
        measure({"it": each}, Cache(tmp_path), seeds=1)
    assert seen == [False, True]
    assert sorted(tools.ran) == ["it 1", "it 1", "simulation it", "synthesis it"]
    plan = tmp_path / "floorplan.py"
    plan.write_text("another")
    monkeypatch.setattr(report_run.floorplan, "__file__", str(plan))
    measure({"it": pinned}, Cache(tmp_path), seeds=1)
    assert seen == [False, True, True]


@pytest.mark.usefixtures("tools")
def test_a_cluster_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"dask = tcp://127\.0\.0\.1:1: cannot be reached"):
        measure(SOME, Cache(tmp_path), address="tcp://127.0.0.1:1")


def test_a_synthesis_comes_out_of_the_cache_as_it_went_in():
    made = Synthesized("name", {"LUT4": 7}, b"\n\n{}\n")
    assert from_bytes(as_bytes(made)) == made


def test_keys_tell_parts_apart():
    assert content_key(["ab", "c"]) == content_key(["ab", "c"])
    assert len({content_key(parts) for parts in (["ab", "c"], ["a", "bc"], ["abc"], [])}) == 4


@pytest.mark.parametrize("name", SMALL)
def test_a_design_s_simulation_is_timed_and_held_to_the_golden_model(name, monkeypatch):
    design = replace(DESIGNS[name], parameters=SMALL[name])
    simulator = {"rope": "simulate", "alibi": "simulate_scores"}.get(name, "simulate_embeddings")
    right, kept = getattr(report_simulation, simulator), []

    def watched(*args):
        kept.append(right(*args))
        return kept[0]

    monkeypatch.setattr(report_simulation, simulator, watched)
    found, timing = simulate_design((name, design))
    assert found == name
    assert timing is not None
    assert timing["first_beat_latency"] > 0
    assert name != "rope" or timing["clocks_per_token"] == 768

    out = kept[0][0]
    (out["q"] if name == "rope" else out).flat[-1] ^= 1
    monkeypatch.setattr(report_simulation, simulator, lambda *_: kept[0])
    with pytest.raises(RuntimeError, match=f"{name}: simulation does not give"):
        simulate_design((name, design))


def test_a_design_with_external_memory_is_not_simulated():
    assert simulate_design(("it", DESIGNS["learned-axi4"])) == ("it", None)
