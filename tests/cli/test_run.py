# SPDX-License-Identifier: Apache-2.0
"""``ropeway run`` keeps the command's contract."""

import io
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ropeway.golden import InputError, geometry_of
from ropeway.golden import batch as batches
from ropeway.golden.arrays import read_arrays
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope
from ropeway.golden.words import unsaturated_lsb
from ropeway.sim import native_engine
from ropeway.sim import simulate as simulation
from ropeway.sim.cocotb_run import SimulatorMissingError
from tests.conftest import TINY_LLAMA
from tests.golden.configs import SMALL_LLAMA_4

TOKENS = 5
REPORT = {
    "engine",
    "lanes",
    "bits",
    "scale",
    "saturations",
    "max_error_lsb",
    "rms_error_lsb",
    "clocks",
    "clocks_per_token",
    "first_beat_latency",
    "fingerprint",
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}


def integers(dtype=np.int16, tokens=TOKENS, most=20_000) -> dict[str, np.ndarray]:
    """Words for the tiny Llama."""
    random = np.random.default_rng(7)
    most = min(most, np.iinfo(dtype).max // 2)
    shapes = {"q": (tokens, 4, 16), "k": (tokens, 2, 16), "v": (tokens, 2, 16)}
    return {
        kind: random.integers(-most, most, shape).astype(dtype) for kind, shape in shapes.items()
    }


def floats(dtype=np.float32) -> dict[str, np.ndarray]:
    random = np.random.default_rng(8)
    return {
        kind: random.standard_normal(heads.shape).astype(dtype)
        for kind, heads in integers().items()
    }


def whole_rope(arrays, positions, *, bits=16, conjugate=False):
    """The golden model on whole tokens, a way that the command does not take."""
    table = geometry_of(TINY_LLAMA).table()
    tokens = np.concatenate([arrays[kind] for kind in "qkv"], axis=1)
    parameters = RopeParameters(data_bits=bits)
    turned, _ = rope(parameters, table, tokens, np.asarray(positions), conjugate=conjugate)
    return dict(zip("qkv", np.split(turned, [4, 6], axis=1), strict=True))


def exactly(heads, positions, sign=1):
    """Half-split rotation as multiplication of complex numbers."""
    frequencies = 10000.0 ** (-np.arange(8) / 8)
    turn = np.exp(sign * 1j * np.outer(positions, frequencies))[:, None]
    turned = (heads[..., :8] + 1j * heads[..., 8:]) * turn
    return np.concatenate([turned.real, turned.imag], axis=-1)


@pytest.mark.parametrize("conjugate", [False, True])
def test_golden_gives_the_words_of_the_golden_model(tiny, run, conjugate):
    arrays = integers()
    options = ["--conjugate"] if conjugate else []
    called, out, report = run(tiny, arrays | {"positions": np.arange(3, 8)}, *options)
    wanted = whole_rope(arrays, np.arange(3, 8), conjugate=conjugate)
    assert called.status == 0
    for kind in "qkv":
        assert out[kind].dtype == arrays[kind].dtype
        assert np.array_equal(out[kind], wanted[kind])
    assert set(report) == REPORT
    assert (report["engine"], report["lanes"], report["bits"]) == ("golden", 4, 16)
    assert report["clocks"] is report["clocks_per_token"] is report["first_beat_latency"] is None
    assert report["saturations"] == 0
    assert 0 < report["rms_error_lsb"] < report["max_error_lsb"] < 1
    assert report["fingerprint"] == geometry_of(TINY_LLAMA).fingerprint


def test_exact_is_float64_mathematics_in_the_inputs_units(tiny, run):
    arrays = integers()
    _, out, report = run(tiny, arrays, "--engine", "exact")
    assert set(report) == REPORT
    for kind in "qk":
        assert out[kind].dtype == np.float64
        assert np.allclose(out[kind], exactly(arrays[kind], np.arange(TOKENS)), atol=1e-9)
    assert np.array_equal(out["v"], arrays["v"])


def test_reported_error_is_the_distance_from_exact(tiny, run):
    arrays = integers() | {"positions": np.array([0, 1, 50, 99, 127])}
    _, out, report = run(tiny, arrays)
    _, ideal, _ = run(tiny, arrays, "--engine", "exact")
    error = np.concatenate([(out[kind] - ideal[kind]).ravel() for kind in "qk"])
    assert report["max_error_lsb"] == pytest.approx(np.abs(error).max())
    assert report["rms_error_lsb"] == pytest.approx(np.sqrt(np.mean(error**2)))


def test_sim_equals_golden_and_reports_clocks(tiny, run):
    arrays = integers() | {"positions": np.array([0, 7, -3, 100_000, 7])}
    called, out, report = run(tiny, arrays, "--engine", "sim", "--lanes", "2")
    _, golden, _ = run(tiny, arrays)
    assert called.status == 0
    for kind in "qkv":
        assert np.array_equal(out[kind], golden[kind])
    assert report["lanes"] == 2
    assert report["clocks_per_token"] == 8 * 16 / 4
    assert 0 < report["first_beat_latency"] < report["clocks"]


@pytest.mark.slow
def test_compiled_verilog_gives_what_the_simulator_gives_clock_by_clock(tiny, run):
    arrays = integers() | {"positions": np.array([0, 7, -3, 100_000, 7])}
    _, out, report = run(tiny, arrays, "--engine", "sim", "--lanes", "2")
    called, compiled, native = run(tiny, arrays, "--engine", "verilator", "--lanes", "2")
    assert called.status == 0
    for kind in "qkv":
        assert np.array_equal(compiled[kind], out[kind])
    assert native == report | {"engine": "verilator"}


def test_a_tool_that_lacks_is_said(tiny, run, monkeypatch):
    reason = "Verilator lacks g++ (apt install g++)"

    def lacks(*_):
        raise SimulatorMissingError(reason)

    monkeypatch.setattr(native_engine, "NativeEngine", lacks)
    called, _, _ = run(tiny, integers(), "--engine", "verilator")
    assert called.status == 2
    assert called.err == f"ropeway: error: engine = verilator: {reason}\n"


def test_hardware_that_differs_is_exit_1_and_the_output_is_written(tiny, run, monkeypatch):
    unharmed = simulation.heads_of

    def harmed(batch, packets):
        heads = unharmed(batch, packets)
        heads["k"][2, 1, 3] ^= 1
        return heads

    monkeypatch.setattr(simulation, "heads_of", harmed)
    called, out, _ = run(tiny, integers(), "--engine", "sim")
    assert called.status == 1
    assert called.err.startswith("ropeway: failed: 1 elements of k differ from golden")
    assert "the first at [2, 1, 3]: " in called.err
    assert out["k"][2, 1, 3] == whole_rope(integers(), np.arange(TOKENS))["k"][2, 1, 3] ^ 1


def test_values_that_the_hardware_changed_are_shown_as_it_gave_them(tiny, run, monkeypatch):
    unharmed = simulation.heads_of

    def harmed(batch, packets):
        heads = unharmed(batch, packets)
        heads["v"][1, 0, 0] ^= 1
        return heads

    monkeypatch.setattr(simulation, "heads_of", harmed)
    called, out, _ = run(tiny, integers(), "--engine", "sim")
    assert called.status == 1
    assert np.count_nonzero(out["v"] != integers()["v"]) == 1


@pytest.mark.parametrize("engine", ["exact", "golden"])
def test_software_engines_do_not_import_amaranth(tiny, tmp_path, engine):
    np.savez(tmp_path / "in.npz", **integers())
    words = ["run", str(tiny), str(tmp_path / "in.npz"), "-o", str(tmp_path / "out.npz")]
    script = (
        "import sys; from ropeway.cli import main\n"
        f"assert main({[*words, '--engine', engine]!r}) == 0\n"
        "assert 'amaranth' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_floats_keep_their_type_and_lose_at_most_what_a_word_does(tiny, run, dtype):
    arrays = floats(dtype)
    _, out, report = run(tiny, arrays)
    assert report["bits"] == 16
    assert report["saturations"] == 0
    for kind in "qk":
        scale = report["scale"][kind]
        assert np.log2(scale) == round(np.log2(scale))
        assert out[kind].dtype == dtype
        apart = np.abs(out[kind] - exactly(arrays[kind], np.arange(TOKENS))).max()
        assert apart < 2 * scale + np.finfo(dtype).eps * 4
    assert np.array_equal(out["v"], arrays["v"])


@given(
    peak=st.floats(2.0**-900, 2.0**900),
    bits=st.integers(8, 18),
    angle=st.floats(0, 7),
    amplitude=st.floats(1, 2.8),
    narrowed=st.integers(0, 10),
)
def test_no_turn_saturates_at_the_scale_chosen_for_floats(peak, bits, angle, amplitude, narrowed):
    pair, narrowed = np.array([peak, peak]), min(narrowed, bits - 8)
    lsb = unsaturated_lsb(pair, bits, 2**0.5 * amplitude, narrowed)
    word = np.floor(peak / lsb + 0.5)
    turned = amplitude * word * abs(np.cos(angle) - np.sin(angle))
    assert np.floor((turned + 1.25) / 2**narrowed + 0.5) <= (1 << bits - narrowed - 1) - 1
    assert word >= (1 << bits - 1) / 8  # and no bit more than that is given away


def test_a_stated_scale_is_the_lsb(tiny, run):
    arrays = floats(np.float64) | {"scale": np.array(2.0**-10)}
    _, out, report = run(tiny, arrays)
    assert report["scale"] == dict.fromkeys("qkv", 2.0**-10)
    assert np.array_equal(out["q"], np.round(out["q"] * 1024) / 1024)


@pytest.mark.parametrize(
    ("dtype", "options", "bits"),
    [(np.int8, (), 8), (np.int16, (), 16), (np.int32, ("--bits", "18"), 18), (">i2", (), 16)],
)
def test_bits_follow_the_type(tiny, run, dtype, options, bits):
    dtype = np.dtype(dtype)
    arrays = {k: a.astype(dtype) for k, a in integers(dtype.newbyteorder("="), most=90_000).items()}
    _, out, report = run(tiny, arrays, *options)
    assert report["bits"] == bits
    assert out["q"].dtype == dtype
    wanted = whole_rope(
        integers(dtype.newbyteorder("="), most=90_000), np.arange(TOKENS), bits=bits
    )
    assert np.array_equal(out["q"], wanted["q"])


@pytest.mark.parametrize(("head_dim", "lanes"), [(16, 4), (12, 2), (10, 1)])
def test_lanes_are_the_most_that_serve(tmp_path, run, head_dim, lanes):
    config = tmp_path / "config.json"
    config.write_text(json.dumps(TINY_LLAMA | {"head_dim": head_dim}))
    arrays = {kind: heads[..., :head_dim] for kind, heads in integers().items()}
    _, _, report = run(config, arrays)
    assert report["lanes"] == lanes


def test_saturation_is_counted(tiny, run):
    arrays = integers()
    arrays["q"][1] = 32767
    _, out, report = run(tiny, arrays | {"positions": np.full(TOKENS, 100)})
    assert report["saturations"] == np.count_nonzero(np.abs(out["q"][1] + 0.5) == 32767.5)
    assert report["saturations"] > 0


def test_keys_alone_shift_without_amplitude(tiny, run):
    keys = {"k": integers()["k"]}
    deltas = np.array([-3, 0, 4, -100, 5])
    options = ("--scaling", json.dumps(YARN), "--k-only")
    called, out, _ = run(tiny, keys | {"positions": deltas}, *options)
    assert (called.status, called.err) == (0, "")
    assert set(out) == {"k"}
    assert np.array_equal(out["k"][1], keys["k"][1])
    _, loud, _ = run(tiny, keys | {"positions": deltas}, "--k-only")
    assert not np.array_equal(out["k"][0], loud["k"][0])  # YaRN's frequencies are used
    turned = np.linalg.norm(out["k"], axis=-1) / np.linalg.norm(keys["k"], axis=-1)
    assert np.allclose(turned, 1, atol=1e-3)
    _, simulated, _ = run(tiny, keys | {"positions": deltas}, *options, "--engine", "sim")
    assert np.array_equal(simulated["k"], out["k"])


def test_amplitude_scales_unless_it_is_left_out(tiny, run):
    options = ("--scaling", json.dumps(YARN))
    arrays = integers(most=10_000)
    _, loud, _ = run(tiny, arrays, *options)
    _, pure, _ = run(tiny, arrays, *options, "--no-amplitude")
    factor = 0.1 * np.log(4) + 1
    assert np.allclose(loud["q"], pure["q"] * factor, atol=2)
    assert np.array_equal(pure["q"][0], arrays["q"][0])


def test_conjugate_turns_back(tiny, run):
    arrays = integers()
    _, out, _ = run(tiny, arrays)
    _, back, _ = run(tiny, {kind: out[kind] for kind in "qkv"}, "--conjugate")
    for kind in "qk":
        assert np.abs(back[kind].astype(int) - arrays[kind]).max() <= 2


@pytest.fixture
def mixed(tmp_path) -> Path:
    """A config of three layers with two geometries and none: a local, a global and a NoPE layer."""
    path = tmp_path / "mixed.json"
    values = TINY_LLAMA | {
        "model_type": "gemma3_text",
        "head_dim": 16,
        "num_hidden_layers": 2,
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_theta": 1_000_000.0,
        "rope_local_base_freq": 10_000.0,
    }
    path.write_text(json.dumps(values))
    return path


@pytest.mark.parametrize("engine", ["exact", "golden", "sim"])
def test_each_token_takes_the_geometry_of_its_layer(mixed, run, engine):
    arrays = integers()
    layers = np.array([0, 1, 1, 0, 1])
    _, out, report = run(mixed, arrays | {"layers": layers}, "--engine", engine)
    assert set(report["fingerprint"]) == {"sliding_attention", "full_attention"}
    for layer in (0, 1):
        _, alone, own = run(mixed, arrays, "--layer", layer, "--engine", engine)
        here = layers == layer
        assert np.array_equal(out["q"][here], alone["q"][here])
        assert own["fingerprint"] in report["fingerprint"].values()
    assert not np.array_equal(out["q"], alone["q"])


def test_layers_without_rotation_pass_beside_others(tmp_path, run):
    config = tmp_path / "nope.json"
    values = {"model_type": "smollm3", "no_rope_layers": [1, 0], "head_dim": 16}
    config.write_text(json.dumps(TINY_LLAMA | values))
    arrays = integers()
    layers = np.array([0, 1, 0, 1, 0])
    for engine in ("golden", "sim"):
        _, out, report = run(config, arrays | {"layers": layers}, "--engine", engine)
        assert set(report["fingerprint"]) == {"default", "nope"}
        still = layers == 1
        assert np.array_equal(out["q"][still], arrays["q"][still])
        assert not np.array_equal(out["q"][2], arrays["q"][2])


def test_tokens_have_a_position_on_every_axis(tmp_path, run):
    config = tmp_path / "axes.json"
    scaling = {"type": "mrope", "mrope_section": [2, 3, 3]}
    values = {"model_type": "qwen2_vl", "rope_scaling": scaling, "num_hidden_layers": 1}
    config.write_text(json.dumps(TINY_LLAMA | values))
    geometry, arrays = geometry_of(config), integers()
    assert max(geometry.axes) == 2
    positions = np.random.default_rng(9).integers(0, 100, (TOKENS, 3))
    _, out, _ = run(config, arrays | {"positions": positions})
    _, ideal, _ = run(config, arrays | {"positions": positions}, "--engine", "exact")
    columns = np.array(geometry.axes)
    for token in range(TOKENS):
        angle = positions[token, columns] * 10000.0 ** (-np.arange(8) / 8)
        q = arrays["q"][token]
        turned = (q[:, :8] + 1j * q[:, 8:]) * np.exp(1j * angle)
        assert np.allclose(ideal["q"][token, :, :8], turned.real)
    assert np.abs(out["q"] - ideal["q"]).max() < 1
    _, text, _ = run(config, arrays)
    _, same, _ = run(config, arrays | {"positions": np.repeat(np.arange(TOKENS), 3).reshape(-1, 3)})
    assert np.array_equal(text["q"], same["q"])


def test_blocks_change_nothing(mixed, run, monkeypatch):
    arrays = integers(tokens=9) | {"layers": np.array([0, 1, 0, 0, 1, 1, 1, 0, 1])}
    _, out, report = run(mixed, arrays)
    monkeypatch.setattr(batches, "BLOCK_ELEMENTS", 2 * 8 * 16)
    _, again, blocked = run(mixed, arrays)
    assert np.array_equal(out["q"], again["q"])
    assert blocked["max_error_lsb"] == report["max_error_lsb"]
    assert blocked["rms_error_lsb"] == pytest.approx(report["rms_error_lsb"])


def test_a_worker_has_its_own_heads(tiny, run):
    share = {kind: heads[:, : heads.shape[1] // 2] for kind, heads in integers().items()}
    called, out, _ = run(tiny, share, "--tp", "1/2")
    assert called.status == 0
    assert np.array_equal(out["k"], whole_rope(integers(), np.arange(TOKENS))["k"][:, :1])


def test_position_past_the_trained_context_is_warned_of(tiny, run):
    called, _, _ = run(tiny, integers() | {"positions": np.array([0, 127, 128, 500, 1])})
    assert called.status == 0
    assert called.err.startswith("ropeway: warning: position 128 of token 2 ")
    assert called.err.count("\n") == 1
    called, _, _ = run(tiny, integers() | {"positions": np.array([0, 127, -5, 1, 1])})
    assert called.err == ""


def test_json_is_the_report(tiny, run):
    called, _, report = run(tiny, integers(), "--json")
    assert json.loads(called.out) == report


def test_whole_floats_are_positions_too(tiny, run):
    _, out, _ = run(tiny, integers() | {"positions": np.arange(TOKENS, dtype=np.float64)})
    assert np.array_equal(out["q"], whole_rope(integers(), np.arange(TOKENS))["q"])


def without(kind: str) -> dict[str, np.ndarray]:
    return {name: array for name, array in integers().items() if name != kind}


def filled(value: float) -> np.ndarray:
    heads = floats()["q"]
    heads[3, 1, 2] = value
    return heads


BAD_ARRAYS = {
    "head count": ({"q": np.zeros((TOKENS, 8, 16), np.int16)}, "q = (5, 8, 16)"),
    "key count": ({"k": np.zeros((TOKENS, 4, 16), np.int16)}, "k = (5, 4, 16)"),
    "head size": ({"v": np.zeros((TOKENS, 2, 8), np.int16)}, "v = (5, 2, 8)"),
    "two dimensions": ({"q": np.zeros((TOKENS, 64), np.int16)}, "q = (5, 64)"),
    "a scalar": ({"q": np.zeros((), np.int16)}, "q = ()"),
    "no tokens": (integers(tokens=0), "q = (0, 4, 16)"),
    "fewer keys": ({"k": np.zeros((3, 2, 16), np.int16)}, "k = (3, 2, 16)"),
    "complex": ({"q": np.zeros((TOKENS, 4, 16), complex)}, "q = complex128"),
    "bool": ({"q": np.zeros((TOKENS, 4, 16), bool)}, "q = bool"),
    "text": ({"k": np.full((TOKENS, 2, 16), "1")}, "k = <U1"),
    "object": ({"q": np.full((TOKENS, 4, 16), None)}, "input = "),
    "unknown": ({"x": np.zeros(3)}, "array = x"),
    "nan": ({"q": filled(np.nan)}, "q = nan"),
    "infinity": ({"q": filled(-np.inf)}, "q = -inf"),
    "int32 without bits": ({"q": np.zeros((TOKENS, 4, 16), np.int32)}, "bits = None"),
    "positions short": ({"positions": np.arange(3)}, "positions = (3,)"),
    "positions on too many axes": ({"positions": np.zeros((TOKENS, 3), int)}, "positions = (5, 3)"),
    "half positions": ({"positions": np.arange(TOKENS) + 0.5}, "positions = 0.5"),
    "nan position": ({"positions": np.full(TOKENS, np.nan)}, "positions = nan"),
    "position too large": ({"positions": np.full(TOKENS, 1 << 25)}, "positions = 33554432"),
    "position too small": ({"positions": np.full(TOKENS, -(1 << 25) - 1)}, "positions = -33554433"),
    "position of 64 bits": (
        {"positions": np.full(TOKENS, (1 << 64) - 1, np.uint64)},
        "positions = 18446744073709551615",
    ),
    "layer past the last": ({"layers": np.full(TOKENS, 2)}, "layer = 2"),
    "layer before the first": ({"layers": np.full(TOKENS, -1)}, "layer = -1"),
    "layers short": ({"layers": np.zeros(2, int)}, "layers = (2,)"),
    "scale of zero": ({"scale": np.array(0.0)}, "scale = 0.0"),
    "scale of nan": ({"scale": np.array(np.nan)}, "scale = nan"),
    "scale too small": (floats(np.float64) | {"scale": np.array(5e-324)}, "q = "),
    "scale below zero": ({"scale": np.array(-1.0)}, "scale = -1.0"),
    "scale of many": ({"scale": np.ones(3)}, "scale = (3,)"),
}


@pytest.mark.parametrize(("changed", "told"), BAD_ARRAYS.values(), ids=BAD_ARRAYS)
def test_bad_arrays_are_refused_in_one_line(tiny, run, changed, told):
    called, _, _ = run(tiny, integers() | changed)
    assert called.status == 2
    assert called.out == ""
    assert called.err.startswith(f"ropeway: error: {told}")
    assert called.err.count("\n") == 1


BAD_OPTIONS = {
    "unknown engine": (("--engine", "abacus"), "engine = abacus"),
    "lanes": (("--lanes", "3"), "lanes = 3"),
    "no lanes": (("--lanes", "0"), "lanes = 0"),
    "lanes not served": (("--lanes", "16"), "lanes = 16"),
    "bits above": (("--bits", "19"), "bits = 19"),
    "bits below": (("--bits", "7"), "bits = 7"),
    "no bits": (("--bits", "0"), "bits = 0"),
    "words too wide for bits": (("--bits", "12"), "q = "),
    "layer": (("--layer", "9"), "layer = 9"),
    "tp": (("--tp", "0/3"), "tp = 0/3"),
    "rank's heads": (("--tp", "0/2"), "q = (5, 4, 16)"),
    "keys only": (("--k-only",), "array = q"),
}


@pytest.mark.parametrize(("options", "told"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
@pytest.mark.parametrize("engine", ["exact", "golden"])
def test_bad_options_are_refused_in_one_line(tiny, run, options, told, engine):
    if engine == "exact" and told in ("lanes = 16", "q = "):
        pytest.skip("exact mathematics has no words and no lanes")
    called, _, _ = run(tiny, integers(), "--engine", engine, *options)
    assert called.status == 2
    assert called.err.startswith(f"ropeway: error: {told}")
    assert called.err.count("\n") == 1


@pytest.mark.parametrize("missing", ["q", "k"])
def test_missing_array_is_named(tiny, run, missing):
    called, _, _ = run(tiny, without(missing))
    assert called.err.startswith(f"ropeway: error: array = {missing}: must be in ")


def test_values_are_optional(tiny, run):
    called, out, _ = run(tiny, without("v"), "--engine", "sim")
    assert called.status == 0
    assert set(out) == {"q", "k"}
    assert np.array_equal(out["q"], whole_rope(integers(), np.arange(TOKENS))["q"])


def test_result_that_the_inputs_type_cannot_hold_is_refused(tiny, run):
    arrays = {kind: np.abs(heads).astype(np.uint8) for kind, heads in integers().items()}
    called, _, _ = run(tiny, arrays, "--bits", "16")
    assert called.status == 2
    assert "the range of the input's uint8" in called.err


@pytest.mark.parametrize("config", ["bloom", "gpt2"])
def test_arrays_of_another_scheme_are_refused_by_name(run, config):
    called, _, _ = run(config, integers())
    assert called.status == 2
    assert called.err.startswith("ropeway: error: array = q: must be one of ")


def test_failed_run_leaves_an_old_output_alone(tiny, run, ropeway, tmp_path):
    old = tmp_path / "old.npz"
    old.write_bytes(b"old")
    np.savez(tmp_path / "bad.npz", q=np.zeros(3))
    assert ropeway("run", tiny, tmp_path / "bad.npz", "-o", old).status == 2
    assert old.read_bytes() == b"old"
    run(tiny, integers())
    assert {path.name for path in tmp_path.iterdir()} == {"old.npz", "bad.npz", "in.npz", "out.npz"}


@pytest.mark.parametrize("output", ["missing/out.npz", "."])
def test_output_that_cannot_be_written_is_one_line(tiny, ropeway, tmp_path, output):
    np.savez(tmp_path / "in.npz", **integers())
    called = ropeway("run", tiny, tmp_path / "in.npz", "-o", tmp_path / output)
    assert called.status == 2
    assert called.err.startswith("ropeway: error: output = ")


def archive_bytes() -> bytes:
    file = io.BytesIO()
    np.savez(file, **integers(tokens=1))
    return file.getvalue()


ARCHIVE = archive_bytes()


@settings(max_examples=3 * settings.default.max_examples)
@given(data=st.data())
def test_broken_archives_raise_nothing_but_input_errors(tmp_path_factory, data):
    content = bytearray(ARCHIVE)
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)))]
    path = tmp_path_factory.getbasetemp() / "broken.npz"
    path.write_bytes(content)
    with suppress(InputError):
        arrays = read_arrays(path, ("q", "k", "v"))
        assert all(array.dtype.kind in "iuf" for array in arrays.values())


@pytest.mark.parametrize("content", [b"", b"PK", b"not an archive", ARCHIVE[:-30], ARCHIVE[:200]])
def test_truncated_archive_is_one_line(tiny, ropeway, tmp_path, content):
    path = tmp_path / "in.npz"
    path.write_bytes(content)
    called = ropeway("run", tiny, path, "-o", tmp_path / "out.npz")
    assert called.status == 2
    assert called.err.startswith("ropeway: error: input = ")
    assert called.err.count("\n") == 1


@pytest.mark.parametrize("engine", ["exact", "golden", "sim"])
def test_queries_of_a_layer_without_rotation_take_llama_4_s_temperature(tmp_path, run, engine):
    config = tmp_path / "llama4.json"
    config.write_text(json.dumps(SMALL_LLAMA_4))
    positions = np.array([0, 98, 99, 1000, 250_000])
    arrays = integers(most=7000) | {"positions": positions}
    nope = arrays | {"layers": np.full(TOKENS, 3)}
    _, out, report = run(config, nope, "--engine", engine)
    factor = 1 + 0.1 * np.log1p((positions + 1) // 100)
    assert (
        np.abs(out["q"] - arrays["q"] * factor[:, None, None]).max()
        <= (0 if engine == "exact" else 0.57) + 1e-9
    )
    assert all(np.array_equal(out[kind], arrays[kind]) for kind in "kv")
    assert engine == "exact" or report["max_error_lsb"] <= 0.57

    _, cool, _ = run(config, nope, "--engine", engine, "--no-amplitude")
    assert np.array_equal(cool["q"], arrays["q"])
    _, turned, _ = run(config, arrays, "--layer", "0", "--engine", engine)
    assert np.abs(norms_of(turned["q"]) / norms_of(arrays["q"]) - 1).max() < 2e-3

    mixed_layers = arrays | {"layers": np.array([0, 3, 3, 0, 3])}
    _, both, _ = run(config, mixed_layers, "--engine", engine)
    for token, layer in enumerate(mixed_layers["layers"]):
        assert np.array_equal(both["q"][token], (out if layer == 3 else turned)["q"][token])

    (tmp_path / "out.npz").unlink()
    called, _, _ = run(config, nope | {"positions": -positions}, "--engine", engine)
    assert called.status == 2
    assert "must not be negative where queries have a temperature" in called.err


def norms_of(heads: np.ndarray) -> np.ndarray:
    return np.linalg.norm(heads.astype(float), axis=-1)


@pytest.mark.parametrize("engine", ["golden", "sim"])
def test_ministral_s_temperature_scales_rotated_queries(tmp_path, run, engine):
    config = tmp_path / "ministral.json"
    yarn = {
        "rope_type": "yarn",
        "factor": 16.0,
        "original_max_position_embeddings": 128,
        "llama_4_scaling_beta": 0.1,
        "rope_theta": 1e6,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
    }
    keys = {"model_type": "ministral3", "rope_parameters": yarn, "head_dim": 16}
    config.write_text(json.dumps(TINY_LLAMA | keys))
    arrays = integers(most=6000) | {"positions": np.array([0, 127, 128, 1500, 5000])}
    _, exactly_, _ = run(config, arrays, "--engine", "exact")
    _, out, report = run(config, arrays, "--engine", engine)
    factor = 1 + 0.1 * np.log1p(arrays["positions"] // 128)
    assert np.abs(norms_of(exactly_["q"]) / norms_of(arrays["q"]) - factor[:, None]).max() < 1e-9
    assert np.abs(out["q"] - exactly_["q"]).max() < 1.0
    assert np.abs(norms_of(exactly_["k"]) / norms_of(arrays["k"]) - 1).max() < 1e-9
    assert report["max_error_lsb"] < 1.0
