# SPDX-License-Identifier: Apache-2.0
"""``ropeway inspect`` and ``ropeway table`` keep the command's contract."""

import argparse
import json
import stat
from pathlib import Path

import pytest

from ropeway.cli import inspect, options, table
from ropeway.golden import InputError, geometry_of, preset_names
from ropeway.golden.table_files import image_of

ROPE_KEYS = [
    "scheme",
    "applies_to",
    "fingerprint",
    "rope_type",
    "rope_scaling_resolved",
    "head_dim",
    "rotary_dim",
    "rotary_offset",
    "pairing",
    "heads",
    "kv_heads",
    "rotated",
    "attention_factor",
    "softmax_scale",
    "query_temperature",
    "context",
    "inv_freq",
    "axes",
    "increments",
]
ALIBI_KEYS = [
    "scheme",
    "applies_to",
    "fingerprint",
    "heads",
    "slopes",
    "effective_slopes",
    "form",
    "scaled_before_bias",
    "alibi_bias_max",
]


def run(verb, *words: str) -> int:
    parser = argparse.ArgumentParser()
    verb.add_arguments(parser)
    return verb.run(parser.parse_args(words))


def inspected(capsys, *words: str) -> dict:
    assert run(inspect, *words, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_json_has_exactly_the_keys_of_the_contract(capsys):
    found = inspected(capsys, "llama-3.1-8b")
    assert list(found) == ["model_type", "geometries", "layers"]
    assert found["layers"] == ["default"] * 32
    g = found["geometries"]["default"]
    assert sorted(g) == sorted(ROPE_KEYS)
    assert (g["scheme"], g["applies_to"], g["pairing"]) == ("rope", "qk", "half-split")
    assert (g["rotated"], g["query_temperature"], g["context"]) == (["q", "k"], None, 131072)
    assert len(g["inv_freq"]) == len(g["axes"]) == len(g["increments"]) == 64
    assert g["increments"][0] == "28be60db9391"
    assert g["inv_freq"][0] == 1.0


def test_every_scheme_has_the_keys_of_the_contract(capsys):
    alibi = inspected(capsys, "bloom-560m")["geometries"]["default"]
    assert sorted(alibi) == sorted(ALIBI_KEYS)
    assert (alibi["applies_to"], alibi["scaled_before_bias"]) == ("scores", True)
    whisper = inspected(capsys, "whisper-tiny")["geometries"]
    common = {"scheme", "applies_to", "fingerprint", "width", "offset"}
    assert set(whisper["encoder"]) == common | {"layout", "inv_freq", "scale"}
    assert set(whisper["decoder"]) == common | {"rows"}
    assert whisper["encoder"]["applies_to"] == "embeddings"


def test_null_layers_have_no_rotation(tmp_path, capsys):
    config = {"model_type": "smollm3", "hidden_size": 2048, "num_attention_heads": 16}
    config |= {"num_key_value_heads": 4, "num_hidden_layers": 8}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    assert inspected(capsys, str(path))["layers"] == (["default"] * 3 + [None]) * 2
    still = inspected(capsys, str(path), "--layer", "3")["geometries"]["nope"]
    assert (still["rotary_dim"], still["heads"]) == (0, 16)


def test_a_summary_is_the_default(capsys):
    assert run(inspect, "gemma-3-4b-it") == 0
    text = capsys.readouterr().out
    for expected in (
        "full_attention",
        "sliding_attention",
        "vision",
        "5, 11, 17, 23, 29",
        "factor 8",
    ):
        assert expected in text


def test_list_names_every_preset(capsys):
    assert run(inspect, "--list") == 0
    assert capsys.readouterr().out.split() == preset_names()


def test_options_change_the_geometry(capsys):
    scaling = '{"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}'
    g = inspected(capsys, "qwen2.5-7b-instruct", "--scaling", scaling, "--tp", "3/4")
    default = g["geometries"]["default"]
    assert (default["rope_type"], default["heads"], default["kv_heads"]) == ("yarn", 7, 1)
    plain = inspected(capsys, "llama-3.1-8b", "--scaling", "null")["geometries"]["default"]
    assert plain["rope_type"] == "default"
    long = inspected(capsys, "phi-4-mini-instruct", "--context", "4097")["geometries"]["default"]
    assert long["rope_type"] == "longrope"
    assert long["context"] == 131072
    (name,) = inspected(capsys, "gemma-3-4b-it", "--geometry", "sliding_attention")["geometries"]
    assert name == "sliding_attention"


def test_compare_finds_equal_spellings_equal(tmp_path, capsys):
    path = tmp_path / "config.json"
    new = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32}
    new |= {"num_key_value_heads": 8, "finetuned": True, "max_position_embeddings": 131072}
    new["rope_parameters"] = {
        "rope_theta": 500000,
        "rope_type": "llama3",
        "factor": 8,
        "low_freq_factor": 1,
        "high_freq_factor": 4,
        "original_max_position_embeddings": 8192,
    }
    path.write_text(json.dumps(new))
    assert run(inspect, "--compare", "llama-3.1-8b", str(path)) == 0
    assert run(inspect, "--compare", "deepseek-v3", "deepseek-v2-lite", "deepseek-v3") == 0
    assert "the same geometry" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("a", "b", "key", "left", "right"),
    [
        ("llama-3.1-8b", "llama-3.2-1b", "default.rope_scaling_resolved.factor", "8", "32"),
        ("llama-3.1-8b", "mistral-7b-v0.3", "default.rope_type", "llama3", "default"),
        (
            "mistral-7b-v0.1",
            "mistral-7b-v0.3",
            "default.rope_scaling_resolved.rope_theta",
            "10000",
            "1000000",
        ),
        ("llama-2-7b", "tinyllama-1.1b-chat-v1.0", "default.head_dim", "128", "64"),
        ("mpt-7b", "mpt-7b-storywriter", "default.effective_slopes[0]", "0.84", "0.7"),
        ("gpt2", "opt-125m", "default.rows", "1024", "2050"),
        ("gpt2", "bloom-560m", "default.scheme", "learned", "alibi"),
        ("llama-2-7b", "gemma-3-1b-it", "geometries", "default", "full_attention"),
    ],
)
def test_compare_names_the_first_difference_with_both_values(a, b, key, left, right, capsys):
    assert run(inspect, "--compare", a, b) == 1
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert out.startswith(f"{key} differs: {a} has ")
    first, second = out.split(f", {b} has ")
    assert left in first
    assert right in second


def test_compare_takes_written_tables(tmp_path, capsys):
    for suffix in (".json", ".h", ".hex"):
        path = tmp_path / f"table{suffix}"
        assert run(table, "llama-3.1-8b", "-o", str(path)) == 0
        assert geometry_of("llama-3.1-8b").fingerprint in capsys.readouterr().out
        assert run(inspect, "--compare", "llama-3.1-8b", str(path)) == 0
        assert run(inspect, "--compare", str(path), "llama-3.2-1b") == 1
        assert "default." in capsys.readouterr().out


def test_a_hex_table_is_one_word_a_line_in_load_order(tmp_path):
    path = tmp_path / "table.hex"
    run(table, "gemma-3-1b-it", "--geometry", "full_attention", "-o", str(path))
    geometry = geometry_of("gemma-3-1b-it", name="full_attention")
    words = [int(line, 16) for line in path.read_text().splitlines()]
    assert words == image_of(geometry).tolist()
    assert path.stat().st_mode & stat.S_IRUSR


def test_a_c_table_is_an_array_with_its_length(tmp_path):
    path = tmp_path / "table.h"
    run(table, "bloom-560m", "-o", str(path))
    text = path.read_text()
    assert "static const uint32_t ropeway_table[35]" in text
    assert geometry_of("bloom-560m").fingerprint in text


@pytest.mark.parametrize("suffix", [".json", ".h", ".hex"])
def test_a_damaged_table_is_refused(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    run(table, "llama-3.1-8b", "-o", str(path))
    text = path.read_text()
    word = "28be60db9391"[4:]
    damages = [text[: len(text) // 2], text.replace("52570001", "52570002"), text + "xyzzyxyz\n"]
    if suffix != ".hex":
        damages.append(text.replace(f"{word}", f"{word[:-1]}0", 1))
        damages[2] = text.replace("_FINGERPRINT", "_SEAL").replace('"image"', '"picture"')
    for damage in damages:
        assert damage != text
        path.write_text(damage)
        with pytest.raises(InputError):
            geometry_of(path)


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["nonesuch"], "config"),
        ([], "config"),
        (["llama-3.1-8b", "gpt2"], "config"),
        (["--compare", "gpt2"], "compare"),
        (["llama-3.1-8b", "--context=-5"], "context"),
        (["llama-3.1-8b", "--context", "0"], "context"),
        (["llama-3.1-8b", "--context", "many"], "context"),
        (["llama-3.1-8b", "--scaling", "{"], "config"),
        (["llama-3.1-8b", "--scaling", '{"factor": 8}'], "scaling.factor"),
        (["llama-3.1-8b", "--scaling", '{"rope_type": "fope"}'], "scaling.rope_type"),
        (["llama-3.1-8b", "--tp", "4"], "tp"),
        (["llama-3.1-8b", "--tp", "4/4"], "tp"),
        (["llama-3.1-8b", "--tp", "0/0"], "tp"),
        (["llama-3.1-8b", "--layer", "32"], "layer"),
        (["llama-3.1-8b", "--geometry", "nope"], "geometry"),
        (["llama-3.1-8b", "--geometry", "default", "--layer", "0"], "layer"),
        (["phi-4-mini-instruct"], "context"),
    ],
)
def test_bad_usage_is_one_input_error(words, key):
    with pytest.raises(InputError) as refusal:
        run(inspect, *words)
    assert refusal.value.key == key


def test_table_refuses_other_suffixes_and_unwritable_places(tmp_path):
    for target in (tmp_path / "table.txt", tmp_path / "missing" / "table.hex"):
        with pytest.raises(InputError) as refusal:
            run(table, "llama-3.1-8b", "-o", str(target))
        assert refusal.value.key == "output"
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_for_a_bad_config(tmp_path):
    target = tmp_path / "table.hex"
    with pytest.raises(InputError):
        run(table, "gemma-3-1b-it", "-o", str(target))
    assert not target.exists()
    assert list(Path(tmp_path).iterdir()) == []


def test_warnings_go_to_stderr(tmp_path, capsys):
    path = tmp_path / "config.json"
    scaling = {"type": "linear", "factor": 2.0, "fcator": 1}
    config = {"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4}
    path.write_text(json.dumps(config | {"rope_scaling": scaling}))
    assert run(inspect, str(path)) == 0
    captured = capsys.readouterr()
    assert (
        captured.err == "ropeway: warning: rope_scaling.fcator = 1: linear does not read this key\n"
    )
    assert "fcator" not in captured.out


def test_other_verbs_get_their_geometry_the_same_way():
    parser = argparse.ArgumentParser()
    options.add_geometry_arguments(parser)
    args = parser.parse_args(["gemma-3-1b-it", "--layer", "5", "--tp", "1/2"])
    whole = geometry_of("gemma-3-1b-it", name="full_attention", tp=(1, 2))
    assert options.geometry_from(args) == whole
