# SPDX-License-Identifier: Apache-2.0
"""``ropeway run`` of bf16 and fp16 embeddings."""

import json

import numpy as np
import pytest

from ropeway.golden import geometry_of
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.floats import FORMATS
from ropeway.golden.learned import add_learned
from ropeway.golden.sinusoidal import add_sinusoidal
from ropeway.sim import simulate_additive as simulation
from tests.geometries import float_words

LEARNED = {"model_type": "gpt2", "n_embd": 48, "n_head": 4, "n_positions": 12}
SINUSOIDAL = "transformer-base"
POSITIONS = np.array([0, 1, -7, 1 << 24])


@pytest.fixture
def learned(tmp_path):
    """The config.json of a small GPT-2."""
    path = tmp_path / "learned.json"
    path.write_text(json.dumps(LEARNED))
    return path


def patterns(name: str, shape, seed: int = 0) -> np.ndarray:
    """16-bit patterns of a format, NaNs, infinities and subnormals among them."""
    return float_words(np.random.default_rng(seed), shape, FORMATS[name]).astype(np.int16)


def floats(shape, dtype=np.float32) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("engine", ["golden", "sim"])
@pytest.mark.parametrize("name", FORMATS)
def test_patterns_get_sinusoidal_rows_as_golden_has_it(run, name, engine):
    x = patterns(name, (4, 512))
    options = ("--format", name, "--engine", engine)
    called, out, report = run(SINUSOIDAL, {"x": x, "positions": POSITIONS}, *options)
    p = AdderParameters(format=name, scaled=True)
    wanted, saturated = add_sinusoidal(p, geometry_of(SINUSOIDAL), x, POSITIONS)
    assert (called.status, called.err) == (0, "")
    assert out["x"].dtype == np.int16
    assert np.array_equal(out["x"], wanted.astype(np.int16))
    assert report["saturations"] == saturated
    assert (report["format"], report["bits"], report["scale"]) == (name, 16, None)
    assert report["max_error_lsb"] is report["rms_error_lsb"] is None
    assert 0 < report["rms_error_ulp"] < report["max_error_ulp"]
    assert (report["clocks"] is not None) == (engine == "sim")


@pytest.mark.parametrize("engine", ["golden", "sim"])
@pytest.mark.parametrize("name", FORMATS)
def test_learned_patterns_are_added_and_a_position_outside_passes_bit_for_bit(
    learned, run, name, engine
):
    arrays = {"x": patterns(name, (6, 48)), "table": patterns(name, (12, 48), seed=1)}
    arrays["positions"] = np.array([0, 11, 12, -1, 5, 5])
    options = ("--format", name, "--engine", engine)
    called, out, report = run(learned, arrays, *options)
    p = AdderParameters(format=name)
    wanted, saturated = add_learned(
        p, geometry_of(learned), arrays["table"], arrays["x"], arrays["positions"]
    )
    assert called.status == 1
    assert called.err == "ropeway: failed: no row for 2 positions, the first 12\n"
    assert np.array_equal(out["x"], wanted.astype(np.int16))
    assert np.array_equal(out["x"][2:4], arrays["x"][2:4])
    assert report["out_of_table"] == [12, -1]
    assert report["saturations"] == saturated
    assert report["max_error_ulp"] <= 0.5


@pytest.mark.parametrize("name", FORMATS)
def test_a_difference_from_golden_is_exit_1_and_shows_in_the_error(run, monkeypatch, name):
    unharmed = simulation.AdderBench.run

    def harmed(self, *args, **options):
        result = unharmed(self, *args, **options)
        result.tokens[1][7] += 3  # in units of the last place
        return result

    monkeypatch.setattr(simulation.AdderBench, "run", harmed)
    options = ("--format", name, "--engine", "sim")
    called, _, report = run(SINUSOIDAL, {"x": floats((2, 512))}, *options)
    assert called.status == 1
    assert called.err.startswith("ropeway: failed: 1 elements of x differ from golden")
    assert 2 < report["max_error_ulp"] < 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "ulp"), [("bf16", 2.0**-8), ("fp16", 2.0**-11)])
def test_floats_are_rounded_once_in_and_once_out(learned, run, name, ulp, dtype):
    x, table = floats((5, 48), dtype), 0.02 * floats((12, 48), dtype)
    _, out, report = run(learned, {"x": x, "table": table}, "--format", name)
    assert out["x"].dtype == dtype
    rounded = [FORMATS[name].to_float64(FORMATS[name].from_float64(part)) for part in (x, table)]
    exact = rounded[0] + rounded[1][:5]
    assert np.abs(out["x"] / exact - 1).max() <= ulp * 1.001
    assert report["max_error_ulp"] <= 0.5
    _, wanted, _ = run(learned, {"x": x, "table": table}, "--engine", "exact")
    _, unrounded, _ = run(learned, {"x": x, "table": table}, "--engine", "exact", "--format", name)
    assert np.array_equal(wanted["x"], unrounded["x"])


def test_infinities_meet_and_what_overflows_is_counted(learned, run):
    x, table = floats((2, 48)), floats((12, 48))
    x[0, 0], table[0, 0] = np.inf, -np.inf
    x[1, 3] = 70_000
    for engine in ("golden", "sim", "exact"):
        options = ("--format", "fp16", "--engine", engine)
        called, out, report = run(learned, {"x": x, "table": table}, *options)
        assert (called.status, called.err) == (0, "")
        assert np.isnan(out["x"][0, 0])
        assert np.isfinite(out["x"]).sum() == out["x"].size - (1 if engine == "exact" else 2)
        assert report["saturations"] == (None if engine == "exact" else 1)


@pytest.mark.parametrize(
    ("arrays", "options", "told"),
    [
        ({"x": np.zeros((1, 512), np.int8)}, (), "x = int8: must be floats or 16-bit patterns"),
        ({"scale": np.array(0.5)}, (), "scale = 0.5: is for fixed-point words, not bf16"),
        ({}, ("--bits", "12"), "bits = 12: must be 16 where the format is bf16"),
        ({}, ("--lanes", "3"), "lanes = 3: must be one of "),
    ],
)
def test_what_contradicts_a_format_is_refused_in_one_line(run, arrays, options, told):
    called, _, _ = run(SINUSOIDAL, {"x": floats((1, 512))} | arrays, "--format", "bf16", *options)
    assert called.status == 2
    assert called.err.startswith(f"ropeway: error: {told}")
    assert called.err.count("\n") == 1
