# SPDX-License-Identifier: Apache-2.0
"""``ropeway run`` of bf16 and fp16, and of results narrower than data."""

import json

import numpy as np
import pytest

from ropeway.golden import geometry_of
from ropeway.golden.floats import FORMATS
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope
from ropeway.sim import simulate as simulation
from tests.conftest import TINY_LLAMA
from tests.geometries import float_words

TOKENS = 4
PRESET = "smollm2-135m"
SHAPES = {"q": (TOKENS, 9, 64), "k": (TOKENS, 3, 64), "v": (TOKENS, 3, 64)}
POSITIONS = np.array([0, 7, -3, 8191])
BOUNDS = {"bf16": 0.51, "fp16": 0.55}


def patterns(name: str, seed: int = 1) -> dict[str, np.ndarray]:
    """16-bit patterns of a format, NaNs, infinities and subnormals among them."""
    random = np.random.default_rng(seed)
    return {
        kind: float_words(random, shape, FORMATS[name]).astype(np.int16)
        for kind, shape in SHAPES.items()
    }


def floats(dtype=np.float32, size=1.0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(2)
    return {
        kind: (size * random.standard_normal(shape)).astype(dtype) for kind, shape in SHAPES.items()
    }


def integers(most=32767) -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    return {
        kind: random.integers(-most, most, shape).astype(np.int16) for kind, shape in SHAPES.items()
    }


def whole_rope(arrays, **fields):
    """The golden model on whole tokens, a way that the command does not take."""
    parts = list(arrays.values())
    tokens = np.concatenate(parts, axis=1)
    turned, saturated = rope(
        RopeParameters(**fields), geometry_of(PRESET).table(), tokens, POSITIONS
    )
    ends = np.cumsum([part.shape[1] for part in parts])[:-1]
    return dict(zip(arrays, np.split(turned, ends, axis=1), strict=True)), saturated


@pytest.mark.parametrize("engine", ["golden", "sim"])
@pytest.mark.parametrize("name", FORMATS)
def test_patterns_of_a_format_are_turned_as_golden_does(run, name, engine):
    arrays = patterns(name)
    arrays["q"][1, 0, [0, 32]] = FORMATS[name].infinity - 1  # a pair that overflows
    called, out, report = run(
        PRESET, arrays | {"positions": POSITIONS}, "--format", name, "--engine", engine
    )
    wanted, saturated = whole_rope(arrays, format=name)
    assert (called.status, called.err) == (0, "")
    for kind, words in arrays.items():
        assert out[kind].dtype == np.int16
        assert np.array_equal(out[kind], wanted[kind])
        assert (kind == "v") == np.array_equal(out[kind], words)
    assert report["saturations"] == saturated > 0
    assert (report["format"], report["bits"], report["lanes"]) == (name, 16, 4)
    assert report["scale"] is report["max_error_lsb"] is report["rms_error_lsb"] is None
    assert 0 < report["rms_error_ulp"] < report["max_error_ulp"] < BOUNDS[name]
    assert (report["clocks"] is not None) == (engine == "sim")
    assert f"4 lanes of {name}" in called.out
    assert "ulp" in called.out


@pytest.mark.parametrize("name", FORMATS)
def test_the_reported_error_grows_with_what_the_hardware_gets_wrong(run, monkeypatch, name):
    unharmed = simulation.heads_of

    def harmed(batch, packets):
        heads = unharmed(batch, packets)
        heads["q"][1, 2, 3] += 4  # in units of the last place
        return heads

    monkeypatch.setattr(simulation, "heads_of", harmed)
    options = ("--format", name, "--engine", "sim")
    called, _, report = run(PRESET, floats() | {"positions": POSITIONS}, *options)
    assert called.status == 1
    assert called.err.startswith("ropeway: failed: 1 elements of q differ from golden")
    assert 1 < report["max_error_ulp"] < 5


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
@pytest.mark.parametrize("name", FORMATS)
def test_floats_are_rounded_to_nearest_even_and_keep_their_type(run, name, dtype):
    arrays, floating = floats(dtype), FORMATS[name]
    words = {kind: floating.from_float64(heads).view(np.int16) for kind, heads in arrays.items()}
    _, out, report = run(PRESET, arrays | {"positions": POSITIONS}, "--format", name)
    wanted, _ = whole_rope(words, format=name)
    for kind in "qk":
        assert out[kind].dtype == dtype
        assert np.array_equal(out[kind], floating.to_float64(wanted[kind]).astype(dtype))
    assert np.array_equal(out["v"], arrays["v"])
    assert report["saturations"] == 0


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("dtype", [np.uint16, np.dtype(">i2")])
def test_patterns_of_any_16_bit_integer_are_the_same_words(run, name, dtype):
    arrays = patterns(name)
    _, plain, _ = run(PRESET, arrays, "--format", name)
    other = {kind: words.view(np.uint16).astype(dtype) for kind, words in arrays.items()}
    _, out, _ = run(PRESET, other, "--format", name)
    for kind, words in out.items():
        assert words.dtype == dtype
        assert np.array_equal(words.astype(np.int16), plain[kind])


@pytest.mark.parametrize("engine", ["exact", "golden", "sim"])
def test_infinities_and_nans_go_where_ieee_754_sends_them(run, engine):
    arrays = floats()
    arrays["q"][0, 0, :3] = np.inf, -np.inf, np.nan
    _, out, _ = run(PRESET, arrays, "--format", "bf16", "--engine", engine)
    assert np.isnan(out["q"][0, 0, 2])  # at position 0 sines are zero, and 0 · NaN is NaN
    assert np.isnan(out["q"][0, 0, 34])
    assert out["q"][0, 0, 0] == np.inf
    assert np.isnan(out["q"][0, 0, 32])
    assert np.isfinite(out["k"]).all()


def test_what_overflows_on_its_way_in_is_infinite_and_counted(run):
    arrays = floats()
    arrays["q"][0, 0, 5], arrays["k"][0, 1, 6] = 65_519.0, -65_520.0
    _, out, report = run(PRESET, arrays, "--format", "fp16")
    assert out["q"][0, 0, 5] == 65_504
    assert out["k"][0, 1, 6] == -np.inf
    assert report["saturations"] == 1
    _, _, report = run(PRESET, arrays, "--format", "bf16")
    assert report["saturations"] == 0


def test_exact_takes_patterns_for_what_they_stand_for(run):
    arrays = floats()
    words = {
        kind: FORMATS["bf16"].from_float64(heads).view(np.int16) for kind, heads in arrays.items()
    }
    values = {kind: FORMATS["bf16"].to_float64(heads) for kind, heads in words.items()}
    options = ("--format", "bf16", "--engine", "exact")
    _, out, report = run(PRESET, words | {"positions": POSITIONS}, *options)
    _, wanted, _ = run(PRESET, values | {"positions": POSITIONS}, "--engine", "exact")
    for kind in "qkv":
        assert out[kind].dtype == np.float64
        assert np.array_equal(out[kind], wanted[kind])
    assert report["bits"] is None


NARROW = {"16 to 8": (16, 8), "16 to 12": (16, 12), "12 to 11": (12, 11), "as wide": (16, 16)}


@pytest.mark.parametrize("engine", ["golden", "sim"])
@pytest.mark.parametrize(("bits", "output_bits"), NARROW.values(), ids=NARROW)
def test_integers_come_out_narrower(run, engine, bits, output_bits):
    arrays = integers((1 << bits - 1) - 1)
    options = ("--bits", bits, "--output-bits", output_bits, "--engine", engine)
    called, out, report = run(PRESET, arrays | {"positions": POSITIONS}, *options)
    wanted, saturated = whole_rope(arrays, data_bits=bits, output_bits=output_bits)
    assert (called.status, called.err) == (0, "")
    for kind in "qkv":
        assert out[kind].dtype == np.int16
        assert np.array_equal(out[kind], wanted[kind])
        assert np.abs(out[kind].astype(int)).max() <= 1 << output_bits - 1
    assert report["saturations"] == saturated > 0
    assert (report["bits"], report["output_bits"]) == (bits, output_bits)


def test_the_error_of_narrower_results_is_in_their_own_lsb(run):
    arrays = integers(20_000) | {"positions": POSITIONS}
    _, out, report = run(PRESET, arrays, "--output-bits", "8")
    _, ideal, _ = run(PRESET, arrays, "--engine", "exact")
    error = np.abs(np.concatenate([(out[kind] - ideal[kind] / 256).ravel() for kind in "qk"]))
    assert report["max_error_lsb"] == pytest.approx(error.max())
    assert report["rms_error_lsb"] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert report["max_error_lsb"] < 0.51


@pytest.mark.parametrize("output_bits", [8, 12])
def test_floats_come_back_in_their_units_from_narrower_results(run, output_bits):
    arrays = floats(np.float64)
    options = ("--output-bits", output_bits)
    _, out, report = run(PRESET, arrays | {"positions": POSITIONS}, *options)
    _, ideal, _ = run(PRESET, arrays | {"positions": POSITIONS}, "--engine", "exact")
    assert report["saturations"] == 0
    for kind in "qkv":
        lsb = report["scale"][kind] * 2 ** (16 - output_bits)
        assert np.array_equal(out[kind], np.round(out[kind] / lsb) * lsb)
        assert lsb / 4 < np.abs(out[kind] - ideal[kind]).max() < 0.6 * lsb


def test_layers_that_do_not_turn_are_narrowed_as_well(tmp_path, run):
    config = tmp_path / "nope.json"
    values = {"model_type": "smollm3", "no_rope_layers": [1, 0], "head_dim": 16}
    config.write_text(json.dumps(TINY_LLAMA | values))
    q = integers(30_000)["q"][:, :4, :16]
    arrays = {"q": q, "k": q[:, :2], "layers": np.array([0, 1, 0, 1])}
    outs = [run(config, arrays, "--output-bits", "10", "--engine", e)[1] for e in ("golden", "sim")]
    for out in outs:
        assert np.array_equal(out["q"][1::2], np.floor(q[1::2] / 64 + 0.5))
        assert np.array_equal(out["q"], outs[0]["q"])


@pytest.mark.parametrize("options", [("--format", "bf16"), ("--output-bits", "9")])
def test_temperatures_scale_queries_of_every_kind_of_word(tmp_path, run, options):
    config = tmp_path / "llama4.json"
    keys = {"model_type": "llama4_text", "head_dim": 16, "no_rope_layers": [1, 0]}
    keys |= {"attn_temperature_tuning": True, "floor_scale": 100, "attn_scale": 0.1}
    config.write_text(json.dumps(TINY_LLAMA | keys))
    arrays = {"q": floats()["q"][:, :4, :16], "k": floats()["k"][:, :2, :16]}
    arrays |= {"positions": np.array([0, 99, 1000, 5000]), "layers": np.array([0, 1, 1, 0])}
    _, golden, _ = run(config, arrays, *options)
    called, out, report = run(config, arrays, *options, "--engine", "sim")
    assert called.status == 0
    assert np.array_equal(out["q"], golden["q"])
    assert (report.get("max_error_ulp") or report["max_error_lsb"]) < 0.51
    factor = 1 + 0.1 * np.log1p(1001 // 100)
    assert np.allclose(out["q"][2], arrays["q"][2] * factor, rtol=0.01, atol=0.02)


REFUSED = {
    "no such format": (("--format", "fp8"), "format = fp8: must be one of fixed, "),
    "bits of a format": (("--format", "bf16", "--bits", "8"), "bits = 8: must be 16 where "),
    "a format made narrower": (("--format", "fp16", "--output-bits", "8"), "output-bits = 8: is "),
    "wider than data": (("--output-bits", "17"), "output-bits = 17: must be from 8 to 16"),
    "wider than few bits": (("--bits", "12", "--output-bits", "13"), "output-bits = 13: must be "),
    "too narrow": (("--output-bits", "7"), "output-bits = 7: must be from 8 to 16"),
    "none at all": (("--output-bits", "0"), "output-bits = 0: must be from 8 to 16"),
    "no number": (("--output-bits", "few"), "output-bits = few: must be an integer"),
}


@pytest.mark.parametrize("engine", ["exact", "golden", "sim"])
@pytest.mark.parametrize(("options", "told"), REFUSED.values(), ids=REFUSED)
def test_options_that_contradict_are_refused_in_one_line(run, options, told, engine):
    called, _, _ = run(PRESET, integers(2000), *options, "--engine", engine)
    assert called.status == 2
    assert called.err.startswith(f"ropeway: error: {told}")
    assert called.err.count("\n") == 1


ARRAYS = {
    "a scale": ({"scale": np.array(0.5)}, "scale = 0.5: is for fixed-point words, not bf16"),
    "bytes": ({"q": integers(99)["q"].astype(np.int8)}, "q = int8: must be floats or 16-bit "),
    "long integers": ({"k": integers()["k"].astype(np.int64)}, "k = int64: must be floats or "),
    "too large for float16": (
        {"k": np.full(SHAPES["k"], 65_504, np.float16)},
        "k = 92672.0: the result must fit the input's float16",
    ),
}


@pytest.mark.parametrize(("changed", "told"), ARRAYS.values(), ids=ARRAYS)
def test_arrays_that_no_format_takes_are_refused_in_one_line(run, changed, told):
    called, _, _ = run(PRESET, floats() | changed, "--format", "bf16")
    assert called.status == 2
    assert called.err.startswith(f"ropeway: error: {told}")
    assert called.err.count("\n") == 1


@pytest.mark.parametrize(
    ("config", "arrays", "options", "told"),
    [
        ("bloom-560m", {"scores": np.zeros((1, 16, 3))}, ("--format", "bf16"), "format = bf16"),
        ("bloom-560m", {"scores": np.zeros((1, 16, 3))}, ("--output-bits", "8"), "output-bits = 8"),
        ("transformer-base", {"x": np.zeros((1, 512))}, ("--output-bits", "8"), "output-bits = 8"),
    ],
)
def test_what_a_scheme_does_not_have_is_refused_by_name(run, config, arrays, options, told):
    called, _, _ = run(config, arrays, *options)
    scheme = geometry_of(config).scheme
    assert (called.status, called.err) == (2, f"ropeway: error: {told}: is not for {scheme}\n")
