# SPDX-License-Identifier: Apache-2.0
"""Configs of real checkpoints, in all their spellings, give the geometry they were trained with."""

from math import log

import numpy as np
import pytest

from ropeway.golden import InputError, RopeGeometry, geometry_of, model_of, preset_names
from ropeway.golden.sources import preset

from .configs import LLAMA, YARN, frequencies, rope


@pytest.mark.parametrize(
    ("name", "heads", "kv_heads", "head_dim", "rotary_dim", "pairing", "context"),
    [
        ("llama-2-7b", 32, 32, 128, 128, "half-split", 4096),
        ("llama-3.1-8b", 32, 8, 128, 128, "half-split", 131072),
        ("llama-3.2-1b", 32, 8, 64, 64, "half-split", 131072),
        ("mistral-7b-v0.1", 32, 8, 128, 128, "half-split", 32768),
        ("mistral-nemo-instruct-2407", 32, 8, 128, 128, "half-split", 1024000),
        ("qwen2.5-7b", 28, 4, 128, 128, "half-split", 131072),
        ("qwen3-30b-a3b", 32, 4, 128, 128, "half-split", 40960),
        ("phi-2", 32, 32, 80, 32, "half-split", 2048),
        ("phi-4", 40, 10, 128, 128, "half-split", 16384),
        ("gemma-2-27b", 32, 16, 128, 128, "half-split", 8192),
        ("gpt-neox-20b", 64, 64, 96, 24, "half-split", 2048),
        ("gpt-j-6b", 16, 16, 256, 64, "adjacent", 2048),
        ("deepseek-v2-lite", 16, 1, 64, 64, "adjacent", 163840),
        ("deepseek-v3", 128, 1, 64, 64, "adjacent", 163840),
        ("gpt-oss-20b", 64, 8, 64, 64, "half-split", 131072),
        ("smollm2-135m", 9, 3, 64, 64, "half-split", 8192),
        ("tinyllama-1.1b-chat-v1.0", 32, 4, 64, 64, "half-split", 2048),
    ],
)
def test_shapes_of_the_presets(name, heads, kv_heads, head_dim, rotary_dim, pairing, context):
    g = rope(name)
    found = g.heads, g.kv_heads, g.head_dim, g.rotary_dim, g.pairing, g.context
    assert found == (heads, kv_heads, head_dim, rotary_dim, pairing, context)


def test_every_preset_has_a_geometry_and_one_layer_name_a_layer():
    for name in preset_names():
        model = model_of(name, context=4096)
        assert model.geometries, name
        assert not model.warnings, (name, model.warnings)
        assert set(model.layers) <= {None, *model.geometries}
        for geometry in model.geometries.values():
            assert len(geometry.fingerprint) == 16


@pytest.mark.parametrize(
    ("name", "pair", "value"),
    [
        ("gpt-neox-20b", 1, 0.46415888),
        ("gpt-neox-20b", 11, 2.15443469e-4),
        ("llama-3.1-8b", 31, 8.567514e-4),
        ("deepseek-v3", 16, 5.5e-3),
        ("deepseek-v3", 24, 2.5e-5),
        ("deepseek-v3", 31, 3.33380358e-6),
        ("gpt-oss-20b", 9, 3.170570e-2),
        ("gpt-oss-20b", 12, 6.794959e-3),
        ("gpt-oss-20b", 16, 4.564839e-4),
        ("gpt-oss-20b", 17, 1.293187e-4),
        ("gpt-oss-20b", 31, 3.0235114e-7),
    ],
)
def test_published_frequencies(name, pair, value):
    assert frequencies(name)[pair] == pytest.approx(value, rel=1.5e-6)


@pytest.mark.parametrize(
    ("pair", "value"),
    [(16, 3.16227766e-2), (32, 6.02941176e-4), (48, 7.90569415e-6), (63, 3.10234440e-7)],
)
def test_qwen_with_its_documented_yarn(pair, value):
    g = rope("qwen2.5-7b-instruct", scaling=YARN)
    assert float(g.inv_freq[pair]) == pytest.approx(value, rel=1e-8)
    assert g.attention_factor == pytest.approx(1.1386294, abs=5e-8)
    assert g.context == 131072


def test_an_explicit_factor_wins_over_the_ratio_of_lengths():
    config = LLAMA | {
        "rope_theta": 10000.0,
        "max_position_embeddings": 8192,
        "rope_scaling": {
            "type": "yarn",
            "factor": 8.0,
            "original_max_position_embeddings": 4096,
            "finetuned": True,
        },
    }
    g = rope(config)
    assert g.attention_factor == pytest.approx(1.2079442, abs=5e-8)
    assert float(g.inv_freq[33]) == pytest.approx(4.87104932e-3, rel=1e-8)
    config["rope_scaling"] = config["rope_scaling"] | {"factor": None}
    g = rope(config)
    assert g.attention_factor == pytest.approx(1.0693147, abs=5e-8)
    assert float(g.inv_freq[33]) == pytest.approx(6.49473243e-3, rel=1e-8)


def test_rope_type_wins_over_type():
    both = {"rope_type": "linear", "type": "yarn", "factor": 2.0}
    assert rope(LLAMA | {"rope_scaling": both}).rope_type == "linear"


@pytest.mark.parametrize("scaling", [None, {}, {"rope_type": "default"}])
def test_no_scaling_has_several_spellings(scaling):
    assert rope(LLAMA | {"rope_scaling": scaling}).rope_type == "default"


def test_the_base_in_the_parameters_wins_over_the_config_and_that_over_the_class():
    inside = {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}
    assert frequencies(LLAMA | inside) == frequencies(LLAMA | {"rope_theta": 1e6})
    bare = {key: value for key, value in LLAMA.items() if key != "rope_theta"}
    assert frequencies(bare) == frequencies(LLAMA | {"rope_theta": 1e4})


@pytest.mark.parametrize(
    ("model_type", "theta"),
    [
        ("cohere", 5e5),
        ("exaone", 5e5),
        ("mllama", 5e5),
        ("mixtral", 1e6),
        ("qwen2_vl", 1e6),
        ("qwen3_vl", 5e5),
        ("smollm3", 2e6),
        ("gpt_oss", 1.5e5),
        ("helium", 1e5),
        ("apertus", 1.2e7),
        ("minimax_m2", 5e6),
        ("hy_v3", 11_158_840),
        ("fuyu", 25000),
        ("jina_v3", 20000),
        ("nomic_bert", 1000),
        ("lfm2", 1e6),
        ("solar_open", 1e6),
        ("phimoe", 1e6),
        ("bitnet", 5e5),
        ("llama", 1e4),
    ],
)
def test_class_default_bases(model_type, theta):
    config = {key: value for key, value in LLAMA.items() if key != "rope_theta"}
    g = rope(config | {"model_type": model_type, "head_dim": 128})
    assert g.rope_scaling_resolved["rope_theta"] == theta


@pytest.mark.parametrize(
    ("model_type", "rotary_dim"),
    [
        ("phi", 64),
        ("persimmon", 64),
        ("glm4", 64),
        ("nemotron", 64),
        ("glm4_moe", 64),
        ("stablelm", 32),
        ("qwen3_next", 32),
        ("gpt_neox", 32),
        ("llama", 128),
    ],
)
def test_class_default_fractions(model_type, rotary_dim):
    config = LLAMA | {"model_type": model_type, "head_dim": 128}
    assert rope(config).rotary_dim == rotary_dim


def test_moonshine_turns_most_of_its_head():
    config = {"model_type": "moonshine", "hidden_size": 288, "num_attention_heads": 8}
    assert (rope(config).rotary_dim, rope(config).pairing) == (32, "adjacent")


def test_mimo_truncates_an_odd_fraction():
    config = LLAMA | {
        "model_type": "mimo_v2_flash",
        "head_dim": 192,
        "partial_rotary_factor": 0.334,
    }
    assert rope(config).rotary_dim == 64


def test_other_spellings_of_partial_rotation():
    gpt_j = {"model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_positions": 2048}
    assert rope(gpt_j).rotary_dim == 64
    phi_msft = {"model_type": "phi-msft", "n_embd": 2560, "n_head": 32, "rotary_dim": 32}
    assert rope(phi_msft).inv_freq == rope("phi-2").inv_freq
    chatglm = {
        "model_type": "chatglm",
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "kv_channels": 128,
        "multi_query_group_num": 2,
        "rope_ratio": 500,
        "seq_length": 131072,
        "num_layers": 40,
    }
    g = rope(chatglm)
    assert (g.rotary_dim, g.kv_heads, g.pairing, g.context) == (64, 2, "adjacent", 131072)
    assert g.rope_scaling_resolved["rope_theta"] == 5_000_000


def test_the_configs_own_original_length_overrides_a_flat_dictionary_only():
    scaling = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}
    flat = rope(LLAMA | {"rope_scaling": scaling, "original_max_position_embeddings": 4096})
    assert flat.rope_scaling_resolved["original_max_position_embeddings"] == 4096
    nested = model_of(
        LLAMA
        | {
            "original_max_position_embeddings": 4096,
            "rope_parameters": {
                "full_attention": scaling,
                "sliding_attention": {"rope_type": "default"},
            },
            "layer_types": ["full_attention", "sliding_attention"] * 2,
        }
    )
    resolved = nested.geometry("full_attention")
    assert isinstance(resolved, RopeGeometry)
    assert resolved.rope_scaling_resolved["original_max_position_embeddings"] == 8192


def test_a_nested_truncate_false_is_honoured():
    yarn = {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096}
    yarn |= {"truncate": False, "rope_theta": 150000.0}
    config = LLAMA | {
        "head_dim": 64,
        "rope_parameters": {"full_attention": yarn, "sliding_attention": {"rope_theta": 1e4}},
        "layer_types": ["full_attention", "sliding_attention"] * 2,
    }
    assert frequencies(config, name="full_attention")[17] == pytest.approx(1.2932e-4, rel=1e-4)


def test_contradicting_old_and_new_parameters_are_refused_and_agreeing_ones_are_not():
    old, new = {"type": "yarn", "factor": 4.0}, {"rope_type": "default", "rope_theta": 5e5}
    with pytest.raises(InputError, match=r"rope_scaling.type = yarn: must agree with rope_param"):
        geometry_of(LLAMA | {"rope_scaling": old, "rope_parameters": new})
    same = {"rope_type": "linear", "factor": 2.0}
    both = LLAMA | {"rope_scaling": same, "rope_parameters": same | {"rope_theta": 5e5}}
    assert rope(both) == rope(LLAMA | {"rope_scaling": same})


def test_amplitude_rules():
    def m(**keys):
        return rope(LLAMA | {"rope_scaling": YARN | keys}).attention_factor

    def g(factor, k=1.0):
        return 0.1 * k * log(factor) + 1

    assert m() == pytest.approx(g(4))
    assert m(attention_factor=1.0) == 1.0
    assert m(attn_factor=1.5) == pytest.approx(1.5 * g(4))
    assert m(mscale=0.707, mscale_all_dim=0.707) == 1.0
    assert m(mscale=2.0, mscale_all_dim=1.0) == pytest.approx(g(4, 2) / g(4))
    assert m(mscale=2.0) == pytest.approx(g(4))  # a lone mscale is not read …
    assert m(mscale=2.0, mscale_all_dim=0) == pytest.approx(g(4))
    assert m(mscale=2.0, type="deepseek_yarn") == pytest.approx(
        g(4, 2)
    )  # … but DeepSeek's code does
    assert m(type="telechat3-yarn") == pytest.approx(0.07 * log(4) + 1)
    assert m(factor=1.0) == 1.0


def test_betas_of_zero_or_null_mean_their_defaults():
    plain = frequencies(LLAMA | {"rope_scaling": YARN})
    for value in (0, None):
        falsy = YARN | {"beta_fast": value, "beta_slow": value}
        assert frequencies(LLAMA | {"rope_scaling": falsy}) == plain


def test_roformer_may_turn_v_and_nanochat_turns_backwards():
    roformer = {"model_type": "roformer", "hidden_size": 768, "num_attention_heads": 12}
    assert rope(roformer | {"rotary_value": True}).rotated == ("q", "k", "v")
    assert rope(roformer).rotated == ("q", "k")
    assert rope(roformer).pairing == "adjacent"
    nanochat = {"model_type": "nanochat", "hidden_size": 768, "num_attention_heads": 6}
    forward = rope(nanochat | {"model_type": "llama"})
    pairs = zip(rope(nanochat).increments, forward.increments, strict=True)
    assert all((a + b) % (1 << 48) == 0 for a, b in pairs)


def test_longrope_turns_long_beyond_the_original_length():
    short, long = (rope("phi-3.5-mini-instruct", context=n) for n in (4096, 4097))
    lists = preset("phi-3.5-mini-instruct")["rope_scaling"]
    for g, key in ((short, "short_factor"), (long, "long_factor")):
        bases = 10000.0 ** (-np.arange(48) / 48)
        expected = bases / np.array(lists[key], dtype=np.float32)
        assert [float(w) for w in g.inv_freq] == pytest.approx(expected, rel=1e-14)
        assert g.attention_factor == pytest.approx(1.1902380714, abs=5e-11)
    assert (short.context, long.context) == (4096, 131072)
    with pytest.raises(InputError, match="context"):
        geometry_of("phi-3.5-mini-instruct")


@pytest.mark.parametrize("spelling", ["su", "yarn", "longrope"])
def test_phi_3_calls_longrope_by_other_names(spelling):
    config = preset("phi-3.5-mini-instruct")
    scaling = config["rope_scaling"] | {"type": spelling}
    same = geometry_of({**config, "rope_scaling": scaling}, context=5000)
    assert same == geometry_of(config, context=5000)


def test_phimoe_has_an_amplitude_a_list():
    lists = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64, "type": "longrope"}
    lists |= {"original_max_position_embeddings": 4096, "short_mscale": 1.1, "long_mscale": 1.3}
    config = LLAMA | {"model_type": "phimoe", "rope_scaling": lists}
    assert rope(config, context=4096).attention_factor == 1.1
    assert rope(config, context=4097).attention_factor == 1.3
    assert rope(config, context=4097).inv_freq[0] == rope(config, context=1).inv_freq[0] / 2


def test_dynamic_is_a_function_of_the_declared_context_alone():
    config = LLAMA | {"max_position_embeddings": 256}
    config["rope_scaling"] = {"rope_type": "dynamic", "factor": 2.0}
    geometry_of(config, context=512)
    assert frequencies(config, context=128) == frequencies(LLAMA)


def test_tensor_parallel_ranks_share_heads_and_copy_scarce_key_heads():
    shares = [rope("llama-3.1-8b", tp=(rank, 16)) for rank in range(16)]
    assert {(g.heads, g.kv_heads) for g in shares} == {(2, 1)}
    assert rope("llama-3.1-8b", tp=(1, 2)).kv_heads == 4
    for tp in ((0, 3), (2, 2), (0, 64)):
        with pytest.raises(InputError, match=r"^tp = "):
            geometry_of("llama-3.1-8b", tp=tp)


def test_keys_that_the_type_does_not_read_leave_a_warning():
    scaling = {"rope_type": "linear", "factor": 2.0, "fcator": 3.0, "finetuned": True}
    (warning,) = model_of(LLAMA | {"rope_scaling": scaling}).warnings
    assert warning.startswith("rope_scaling.fcator = 3.0")


def test_falcon_with_alibi_has_no_rotation_whatever_its_theta():
    config = {"model_type": "falcon", "hidden_size": 2048, "num_attention_heads": 32}
    config |= {"rope_theta": 10000.0, "rope_scaling": None, "num_hidden_layers": 2}
    assert geometry_of(config | {"alibi": True, "multi_query": False}).scheme == "alibi"
    turning = rope(config | {"alibi": False, "multi_query": True, "num_kv_heads": 32})
    assert turning.kv_heads == 1
