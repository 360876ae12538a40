# SPDX-License-Identifier: Apache-2.0
"""``ropeway inspect --device``: rates by hand from the committed clock, latencies, warnings."""

import json
import re

import pytest

from ropeway.boards.report import REPORT

DESIGNS = json.loads(REPORT.read_text())["designs"]
ECP5 = ("--device", "lfe5u-25f-6")


@pytest.fixture
def costs(ropeway):
    """What a model costs, as JSON; and what was warned of."""

    def call(*words: str) -> tuple[dict, str]:
        called = ropeway("inspect", *words, "--json")
        assert called.status == 0, called.err
        return json.loads(called.out), called.err

    return call


def test_a_llama_costs_its_beats_at_the_clock_that_was_measured(costs):
    printed, warned = costs("llama-3.1-8b", *ECP5, "--lanes", "4")
    assert printed["geometries"]["default"]["scheme"] == "rope"  # the contract's keys stay
    found = printed["cost"]
    each, mhz = found["geometries"]["default"], DESIGNS["rope"]["median_mhz"]
    assert each["clock_mhz"] == mhz
    assert each["clocks_per_token"] == 48 * 128 // 8
    assert each["layer_tokens_per_second"] == round(mhz * 1e6 / 768)
    assert found["model_tokens_per_second"] == round(mhz * 1e6 / 768 / 32)
    # Half-split: the first beat needs two entries, which come every 4 clocks.
    assert each["first_beat"] == DESIGNS["rope"]["latency_clocks"] + 4
    assert each["last_beat"] == each["first_beat"] + 7 * 8 + 768 - 8
    assert each["utilisation"] == 1
    assert not warned


def test_few_heads_are_warned_of(costs):
    printed, warned = costs("llama-3.1-8b", *ECP5, "--lanes", "16", "--clock", "150.5")
    each = printed["cost"]["geometries"]["default"]
    assert (each["lanes"], each["clock_mhz"]) == (16, 150.5)
    assert (each["shares"]["tp 8"], each["utilisation"]) == (24 / 64, 1)
    assert warned == (
        "ropeway: warning: default: few heads starve 16 lanes, busy: tp 4 75%, tp 8 38%,"
        " k only 50%\n"
    )


def test_of_several_engines_side_by_side_one_is_told(costs):
    printed, _ = costs("llama-3.1-8b", "--device", "lfe5u-85f-6")
    each, unit = printed["cost"]["geometries"]["default"], DESIGNS["rope-85f"]
    assert unit["parameters"]["engines"] == 4
    assert (each["lanes"], each["clock_mhz"]) == (8, unit["median_mhz"])
    assert each["layer_tokens_per_second"] == round(unit["median_mhz"] * 1e6 / (48 * 8))


@pytest.mark.parametrize(
    ("device", "unit", "starved"),
    [("ice40up5k", "rope-up5k", set()), ("ice40hx8k", "rope-hx8k", {"tp 4", "tp 8", "k only"})],
)
def test_a_small_device_s_one_lane_turns_a_pair_a_clock(costs, device, unit, starved):
    printed, warned = costs("llama-3.1-8b", "--device", device)
    each = printed["cost"]["geometries"]["default"]
    assert each["clock_mhz"] == DESIGNS[unit]["median_mhz"]
    assert (each["lanes"], each["clocks_per_token"], each["utilisation"]) == (1, 48 * 64, 1)
    assert {name for name, busy in each["shares"].items() if busy < 1} == starved
    assert ("few heads starve 1 lane, busy" in warned) == bool(starved)


def test_every_layer_counts_with_its_own_geometry(costs):
    found = costs("gemma-3-4b-it", *ECP5)[0]["cost"]
    each = found["geometries"]["sliding_attention"]
    hertz = each["clock_mhz"] * 1e6
    clocks = [g["clocks_per_token"] for n, g in found["geometries"].items() if "attention" in n]
    assert clocks == [512, 512]
    assert found["model_tokens_per_second"] == round(hertz / (34 * 512))


def test_scores_cost_by_their_keys_and_embeddings_once(costs):
    each = costs("bloom-7b1", "--device", "ice40up5k", "--context", "1000")[0]["cost"]
    each = each["geometries"]["default"]
    assert (each["keys"], each["clocks_per_token"]) == (1000, 32 * 1000)
    found = costs("gpt2", *ECP5)[0]["cost"]
    assert found["geometries"]["default"]["clocks_per_token"] == 768 // 8
    hertz = DESIGNS["learned-ram"]["median_mhz"] * 1e6
    assert found["model_tokens_per_second"] == round(hertz / 96)


def test_it_is_told_in_lines_to_read(ropeway):
    called = ropeway("inspect", "llama-3.1-8b", *ECP5, "--lanes", "1", "--clock", "200")
    assert called.status == 0
    assert "default on lfe5u-25f-6: rope, 1 lane of 16 bits at 200 MHz" in called.out
    assert re.search(r"a token +3,072 clocks, bound by lanes", called.out)
    assert re.search(r"a layer +65,104 tokens/s", called.out)
    assert "the whole model: 2,035 tokens/s" in called.out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--device", "xc7a35t"), "device = xc7a35t: must be one of lfe5u-25f-6"),
        ((*ECP5, "--lanes", "64"), "clock = none: must be given: no rope unit of 64 lanes"),
        ((*ECP5, "--lanes", "3", "--clock", "100"), "lanes = 3: must be one of"),
        ((*ECP5, "--clock", "fast"), "clock = fast: must be a number of MHz"),
        ((*ECP5, "--clock", "0"), "clock = 0: must be a number of MHz"),
        ((*ECP5, "--bits", "x"), "bits = x: must be an integer"),
        (("--lanes", "4"), "lanes = 4: is of a --device, which is not given"),
    ],
)
def test_bad_input_is_one_line(ropeway, options, says):
    called = ropeway("inspect", "llama-3.1-8b", *options)
    assert called.status == 2
    assert called.err.startswith(f"ropeway: error: {says}")
    assert called.err.count("\n") == 1
    assert not called.out
