# SPDX-License-Identifier: Apache-2.0
"""``ropeway run`` of embeddings and scores keeps the command's contract."""

import json

import numpy as np
import pytest

from ropeway.golden import geometry_of
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi import alibi
from ropeway.golden.alibi_parameters import SLOPE_BITS, AlibiParameters
from ropeway.golden.learned import add_learned
from ropeway.golden.sinusoidal import add_sinusoidal

COMMON = {
    *("engine", "lanes", "bits", "scale", "saturations", "max_error_lsb", "rms_error_lsb"),
    *("clocks", "clocks_per_token", "first_beat_latency", "fingerprint"),
}
CONFIGS = {
    "learned": {"model_type": "gpt2", "n_embd": 48, "n_head": 4, "n_positions": 12},
    "opt": {
        "model_type": "opt",
        "hidden_size": 32,
        "num_attention_heads": 4,
        "max_position_embeddings": 10,
    },
    "sinusoidal": {"model_type": "transformer", "d_model": 64, "scale_embedding": False},
    "fairseq": {"model_type": "m2m_100", "d_model": 64},
    "alibi": {"model_type": "bloom", "hidden_size": 64, "n_head": 6, "n_layer": 2},
    "falcon": {
        "model_type": "falcon",
        "alibi": True,
        "hidden_size": 64,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
    },
}


@pytest.fixture
def config(tmp_path):
    """Writes one of the small configs; returns its path."""

    def write(name):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(CONFIGS[name]))
        return path

    return write


def words(shape, dtype=np.int16, most=9000, seed=0):
    return np.random.default_rng(seed).integers(-most, most, shape).astype(dtype)


def learned_arrays(dtype=np.int16):
    return {"x": words((9, 48), dtype), "table": words((12, 48), dtype, seed=1)}


@pytest.mark.parametrize("engine", ["golden", "sim"])
def test_a_learned_row_is_added_and_a_position_outside_is_listed(config, run, engine):
    arrays = learned_arrays() | {"positions": np.array([0, 11, 12, 13, -1, 5, 5, 3, 2])}
    called, out, report = run(config("learned"), arrays, "--engine", engine)
    assert called.status == 1
    assert called.err == "ropeway: failed: no row for 3 positions, the first 12\n"
    geometry = geometry_of(CONFIGS["learned"])
    expected, _ = add_learned(
        AdderParameters(), geometry, arrays["table"], arrays["x"], arrays["positions"]
    )
    assert np.array_equal(out["x"], expected)
    assert np.array_equal(out["x"][2:5], arrays["x"][2:5])
    assert out["x"].dtype == np.int16
    assert report["out_of_table"] == [12, 13, -1]
    assert report["fingerprint"] == geometry.fingerprint
    assert report["max_error_lsb"] == 0
    assert report.keys() == COMMON | {"out_of_table"}
    assert (report["clocks"] is not None) == (engine == "sim")


def test_a_learned_offset_is_the_model_s(config, run):
    arrays = {"x": np.zeros((10, 32), np.int16), "table": words((12, 32))}
    called, out, report = run(config("opt"), arrays)
    assert called.status == 0
    assert report["out_of_table"] == []
    assert np.array_equal(out["x"], arrays["table"][2:])


@pytest.mark.parametrize("engine", ["golden", "sim"])
@pytest.mark.parametrize("name", ["sinusoidal", "fairseq"])
def test_a_sinusoidal_row_is_added_to_words(config, run, name, engine):
    arrays = {"x": words((5, 64), most=700), "positions": np.array([0, 1, -7, 131_071, 1 << 24])}
    called, out, report = run(config(name), arrays, "--engine", engine)
    assert called.status == 0
    geometry = geometry_of(CONFIGS[name])
    p = AdderParameters(scaled=geometry.scale != 1)
    expected, saturated = add_sinusoidal(p, geometry, arrays["x"], arrays["positions"])
    assert np.array_equal(out["x"], expected)
    assert report["scale"] == {"x": 2.0**-12}
    assert report["saturations"] == saturated
    assert report["max_error_lsb"] < 0.6
    assert report.keys() == COMMON


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_come_back_as_sums_in_their_own_units(config, run, dtype):
    random = np.random.default_rng(3)
    x = random.standard_normal((6, 64)).astype(dtype)
    geometry = geometry_of(CONFIGS["fairseq"])
    _, out, report = run(config("fairseq"), {"x": x})
    exact = x.astype(np.float64) * geometry.scale + geometry.rows(np.arange(6))
    lsb = report["scale"]["x"]
    assert report["saturations"] == 0
    assert out["x"].dtype == dtype
    word = (0.5 * geometry.scale + 0.7) * lsb  # of the input, scaled, and of the sum
    assert np.abs(out["x"] - exact).max() < word + np.finfo(dtype).eps * np.abs(exact).max()
    _, out, _ = run(config("fairseq"), {"x": x}, "--engine", "exact")
    assert np.abs(out["x"] - exact).max() < 1e-12
    _, out, _ = run(config("fairseq"), {"x": x}, "--engine", "exact", "--input-scale", "3.5")
    assert np.abs(out["x"] - (exact - x.astype(float) * (geometry.scale - 3.5))).max() < 1e-12


def test_learned_floats_share_one_scale(config, run):
    random = np.random.default_rng(4)
    arrays = {
        "x": random.standard_normal((9, 48)).astype(np.float32),
        "table": 0.02 * random.standard_normal((12, 48)),
    }
    _, out, report = run(config("learned"), arrays)
    lsb = report["scale"]["x"]
    assert report["scale"] == {"x": lsb, "table": lsb}
    assert np.abs(out["x"] - (arrays["x"] + arrays["table"][:9])).max() <= 1.01 * lsb
    _, out, _ = run(config("learned"), arrays, "--engine", "exact")
    assert np.abs(out["x"] - (arrays["x"] + arrays["table"][:9])).max() == 0


def fractions(geometry):
    return [round(slope * (1 << SLOPE_BITS)) for slope in geometry.effective_slopes]


@pytest.mark.parametrize("engine", ["golden", "sim"])
@pytest.mark.parametrize("mask", ["causal", "none"])
@pytest.mark.parametrize(("name", "heads"), [("alibi", 6), ("falcon", 4)])
def test_scores_are_biased_by_the_effective_slopes(config, run, name, heads, mask, engine):
    keys = np.array([*range(40, 51), 100, 101, 102, 7])
    arrays = {
        "scores": words((3, heads, len(keys))),
        "positions": np.array([50, 45, 101]),
        "key_positions": keys,
    }
    called, out, report = run(config(name), arrays, "--engine", engine, "--mask", mask)
    assert called.status == 0
    geometry = geometry_of(CONFIGS[name])
    expected, saturated = alibi(
        AlibiParameters(),
        fractions(geometry),
        arrays["scores"],
        arrays["positions"],
        keys,
        causal=mask == "causal",
    )
    assert np.array_equal(out["scores"], expected)
    later = keys > arrays["positions"][:, None]
    hidden = out["scores"].transpose(1, 0, 2)[:, later] == -(1 << 15)
    assert hidden.all() == (mask == "causal")
    assert report["saturations"] == saturated
    assert report["scale"] == {"scores": 2.0**-8}
    assert report["max_error_lsb"] < 0.51
    assert report.keys() == COMMON


def test_a_worker_s_scores_take_its_own_slopes(config, run):
    scores = words((4, 6, 4))
    _, whole, _ = run(config("alibi"), {"scores": scores})
    for rank in range(3):
        share = slice(2 * rank, 2 * rank + 2)
        for engine in ("golden", "sim"):
            options = ("--tp", f"{rank}/3", "--engine", engine)
            _, out, _ = run(config("alibi"), {"scores": scores[:, share]}, *options)
            assert np.array_equal(out["scores"], whole["scores"][:, share])


def test_float_scores_fit_with_their_bias(config, run):
    scores = np.random.default_rng(5).standard_normal((3, 6, 3000)).astype(np.float32)
    arrays = {"scores": scores, "positions": np.array([2999, 2000, 0])}
    for options in ((), ("--bits", "24"), ("--engine", "exact")):
        _, out, report = run(config("alibi"), arrays, "--mask", "none", *options)
        slopes = np.array(geometry_of(CONFIGS["alibi"]).effective_slopes, float)[None, :, None]
        exact = scores - slopes * (arrays["positions"][:, None] - np.arange(3000))[:, None]
        lsb = (report["scale"] or {"scores": 0})["scores"]
        assert np.abs(out["scores"] - exact).max() <= 1.01 * lsb + 1e-3
        assert not report["saturations"]


@pytest.mark.parametrize("scale", [0.3, 2.0**-11, 5.0])
def test_any_lsb_serves_for_scores(config, run, scale):
    arrays = {"scores": words((2, 6, 9)), "positions": np.array([8, 4]), "scale": np.array(scale)}
    outs = [run(config("alibi"), arrays, "--engine", e) for e in ("golden", "sim")]
    assert np.array_equal(outs[0][1]["scores"], outs[1][1]["scores"])
    assert all(report["max_error_lsb"] < 0.51 for _, _, report in outs)


@pytest.mark.parametrize(
    ("name", "changed", "options", "told"),
    [
        ("learned", {"table": np.zeros((11, 48), np.int16)}, (), "table = (11, 48): must be "),
        ("learned", {"table": np.zeros((12, 48))}, (), "table = float64: must be integers"),
        ("learned", {"table": None}, (), "array = table: must be given"),
        ("learned", {"x": None}, (), "array = x: must be in "),
        ("learned", {"x": np.zeros((2, 47), np.int16)}, (), "x = (2, 47): must be "),
        ("learned", {"positions": np.array([0.5] * 9)}, (), "positions = 0.5: must be integers"),
        ("learned", {"positions": np.arange(8)}, (), "positions = (8,): must be [9]"),
        ("learned", {"q": np.zeros(3)}, (), "array = q: must be one of x, table, "),
        ("learned", {"x": np.full((9, 48), np.nan), "table": np.zeros((12, 48))}, (), "x = nan: "),
        ("learned", {}, ("--engine", "gpu"), "engine = gpu: must be one of "),
        ("learned", {}, ("--engine", "verilator"), "engine = verilator: is for rope, not learned"),
        ("alibi", {}, ("--engine", "verilator"), "engine = verilator: is for rope, not alibi"),
        ("learned", {}, ("--bits", "19"), "bits = 19: must be from 8 to 18"),
        ("learned", {}, ("--lanes", "16", "--engine", "sim"), "width = 48: must be a multiple"),
        ("learned", {}, ("--lanes", "3"), "lanes = 3: must be one of "),
        ("learned", {}, ("--k-only",), "k-only = True: is for rope, not learned"),
        ("learned", {}, ("--mask", "none"), "mask = none: is for alibi, not learned"),
        ("sinusoidal", {"scale": np.array(0.3)}, (), "scale = 0.3: must be a power of two "),
        ("sinusoidal", {}, ("--input-scale", "0"), "input-scale = 0: must be a number from 1 "),
        ("sinusoidal", {}, ("--input-scale", "nan"), "input-scale = nan: must be a number "),
        ("alibi", {"scores": np.zeros((2, 5, 9), np.int16)}, (), "scores = (2, 5, 9): must be "),
        ("alibi", {"key_positions": np.arange(8)}, (), "key_positions = (8,): must be [9]"),
        ("alibi", {}, ("--mask", "all"), "mask = all: must be one of causal, none"),
        ("alibi", {"scores": np.zeros((2, 6, 9), np.int32)}, (), "bits = None: must be given "),
        ("alibi", {}, ("--bits", "33"), "bits = 33: must be from 8 to 32"),
        ("alibi", {}, ("--conjugate",), "conjugate = True: is for rope, not alibi"),
    ],
)
def test_bad_input_is_refused_in_one_line(config, run, name, changed, options, told):
    arrays = {
        "learned": learned_arrays(),
        "sinusoidal": {"x": words((2, 64))},
        "alibi": {"scores": words((2, 6, 9))},
    }[name]
    arrays = {k: v for k, v in (arrays | changed).items() if v is not None}
    called, _, _ = run(config(name), arrays, *options)
    assert called.status == 2
    assert called.err.startswith(f"ropeway: error: {told}"), called.err
    assert called.err.count("\n") == 1
