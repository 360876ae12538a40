# SPDX-License-Identifier: Apache-2.0
"""Malformed configs are searched for: whatever the JSON, InputError or a geometry, never else."""

import json
import math
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ropeway.golden import InputError, geometry_of, model_of, preset_names
from ropeway.golden.sources import preset
from ropeway.golden.table_files import read_table, render_table

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**31, 2**40, 10**30, -(10**30), 65, 0.1, 0.5, 1.5, 1e-300, 1e300]),
    st.sampled_from([math.nan, math.inf, -math.inf, "", "yarn", "8", "llama3", "longrope"]),
    st.sampled_from([[], {}, [[]], {"a": {}}, [1, 2], [0.5] * 64, {"type": "yarn"}, {"factor": 2}]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=5,
    ),
)
KEYS = st.sampled_from(
    [
        "model_type",
        "rope_scaling",
        "rope_parameters",
        "rope_theta",
        "rope_type",
        "type",
        "factor",
        "head_dim",
        "mrope_section",
        "original_max_position_embeddings",
        "max_position_embeddings",
        "num_attention_heads",
        "layer_types",
        "num_key_value_heads",
        "hidden_size",
        "num_hidden_layers",
        "partial_rotary_factor",
        "rotary_dim",
        "alibi",
        "short_factor",
        "long_factor",
        "attention_factor",
        "mscale",
        "mscale_all_dim",
        "beta_fast",
        "beta_slow",
        "truncate",
        "low_freq_factor",
        "high_freq_factor",
        "alpha",
        "mixed_b",
        "qk_rope_head_dim",
        "qk_nope_head_dim",
        "text_config",
        "vision_config",
        "no_rope_layers",
        "no_rope_layer_interval",
        "sliding_window",
        "sliding_window_pattern",
        "rope_interleave",
        "attn_config",
        "alibi_bias_max",
        "position_embedding_type",
        "attention_multiplier",
        "query_pre_attn_scalar",
        "llama_4_scaling_beta",
        "use_dynamic_ntk",
        "image_size",
        "patch_size",
    ]
)
SETTINGS = settings(
    max_examples=3 * settings.default.max_examples, suppress_health_check=[HealthCheck.too_slow]
)


def leaves(value, path=()):
    """The path of every entry in nested objects."""
    for key, entry in value.items():
        yield (*path, key)
        if isinstance(entry, dict):
            yield from leaves(entry, (*path, key))


def attempt(config, context: int | None = 6000):
    """The geometries as JSON, or None where the config is refused."""
    refusal = None
    try:
        return model_of(config, context=context).as_dict()
    except InputError as error:
        refusal = str(error)
    assert "\n" not in refusal
    return None


@SETTINGS
@given(name=st.sampled_from(preset_names()), junk=JUNK, data=st.data())
def test_replacing_any_value_by_junk_gives_a_geometry_or_one_clear_refusal(name, junk, data):
    config = preset(name)
    *parents, key = data.draw(st.sampled_from(sorted(leaves(config))))
    at = config
    for parent in parents:
        at = at[parent]
    at[key] = junk
    attempt(config)


@SETTINGS
@given(
    name=st.sampled_from(preset_names()),
    key=KEYS,
    junk=JUNK,
    nested=st.sampled_from(["", "rope_scaling", "text_config"]),
)
def test_adding_any_known_key_with_junk_gives_a_geometry_or_one_clear_refusal(
    name, key, junk, nested
):
    config = preset(name)
    at = config
    if nested:
        at = config[nested] = dict(config.get(nested) or {})
    at[key] = junk
    attempt(config)


@SETTINGS
@given(
    config=st.dictionaries(KEYS, JUNK, max_size=8),
    model_type=st.sampled_from(
        [
            "llama",
            "qwen",
            "gemma3",
            "gemma4",
            "llama4",
            "falcon",
            "mpt",
            "baichuan",
            "whisper",
            "opt",
            "bloom",
            "cohere2",
            "exaone4",
            "chatglm",
            "deepseek_v3",
            "deepseek_v4",
            "olmo3",
            "modernbert",
            "nomad",
        ]
    ),
)
def test_any_object_of_known_keys_gives_a_geometry_or_one_clear_refusal(config, model_type):
    attempt({"model_type": model_type, **config})


@SETTINGS
@given(
    rope_type=st.sampled_from(
        [
            "default",
            "linear",
            "dynamic",
            "alpha",
            "ntk",
            "ntk_theta",
            "ntk_by_parts",
            "yarn",
            "deepseek_yarn",
            "telechat3-yarn",
            "dynamic_yarn",
            "yarn_log",
            "theta_scale",
            "longrope",
            "llama3",
            "proportional",
            "xdrope",
            "mrope",
        ]
    ),
    values=st.dictionaries(
        st.sampled_from(
            [
                "factor",
                "alpha",
                "original_max_position_embeddings",
                "beta_fast",
                "beta_slow",
                "mscale",
                "mscale_all_dim",
                "low_freq_factor",
                "high_freq_factor",
                "mixed_b",
                "truncate",
                "attention_factor",
                "attn_factor",
                "extrapolation_factor",
                "ntk_factor",
                "partial_rotary_factor",
                "rope_theta",
                "short_factor",
                "long_factor",
                "mrope_section",
                "xdrope_section",
            ]
        ),
        JUNK
        | st.floats(0.5, 100)
        | st.integers(1, 100000)
        | st.lists(st.floats(0.5, 100), min_size=2, max_size=2),
        max_size=8,
    ),
    head_dim=st.sampled_from([2, 4, 64]),
)
def test_any_scaling_gives_finite_frequencies_or_one_clear_refusal(rope_type, values, head_dim):
    config = {
        "model_type": "llama",
        "num_attention_heads": 4,
        "hidden_size": 4 * head_dim,
        "max_position_embeddings": 4096,
        "rope_scaling": {"rope_type": rope_type, **values},
    }
    found = attempt(config)
    for geometry in (found or {"geometries": {}})["geometries"].values():
        assert all(math.isfinite(w) for w in geometry["inv_freq"])


@SETTINGS
@given(
    name=st.sampled_from(["llama-3.1-8b", "bloom-560m", "gpt2", "transformer-base"]),
    junk=JUNK,
    data=st.data(),
)
def test_replacing_any_value_of_a_written_table_gives_one_clear_refusal_or_a_geometry(
    name, junk, data
):
    content = json.loads(render_table(geometry_of(name), "model", ".json"))
    *parents, key = data.draw(st.sampled_from(sorted(leaves(content))))
    at = content
    for parent in parents:
        at = at[parent]
    at[key] = junk
    attempt(content, context=None)


@SETTINGS
@given(
    name=st.sampled_from(["llama-3.1-8b", "bloom-560m", "gpt2", "transformer-base"]),
    suffix=st.sampled_from([".h", ".hex"]),
    at=st.floats(0, 1),
    junk=st.text(alphabet="0f\n ,{}xu", max_size=3),
    gone=st.integers(0, 9),
)
def test_damaging_a_written_image_gives_one_clear_refusal_or_a_geometry(
    name, suffix, at, junk, gone
):
    text = render_table(geometry_of(name), "model", suffix)
    start = int(at * len(text))
    with suppress(InputError):
        read_table(text[:start] + junk + text[start + gone :], suffix)


LLAMA = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 4, "rope_theta": 1e4}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"rope_scaling": {"factor": 8.0}}, "rope_scaling.factor"),
        ({"rope_scaling": {"rope_type": "yearn", "factor": 8.0}}, "rope_scaling.rope_type"),
        ({"rope_scaling": {"rope_type": "fope"}}, "rope_scaling.rope_type"),
        ({"use_fope": True}, "use_fope"),
        ({"dual_chunk_attention_config": {"chunk_size": 1}}, "dual_chunk_attention_config"),
        ({"rope_scaling": "yarn"}, "rope_scaling"),
        ({"rope_scaling": {"rope_type": "linear"}}, "rope_scaling.factor"),
        ({"rope_scaling": {"rope_type": "linear", "factor": True}}, "rope_scaling.factor"),
        ({"rope_scaling": {"rope_type": "linear", "factor": "8"}}, "rope_scaling.factor"),
        ({"rope_scaling": {"rope_type": "linear", "factor": math.nan}}, "rope_scaling.factor"),
        ({"rope_scaling": {"rope_type": "linear", "factor": 0.5}}, "rope_scaling.factor"),
        ({"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, "max_position_embeddings"),
        ({"rope_type": "yarn"}, "factor"),
        ({"head_dim": 0}, "head_dim"),
        ({"head_dim": 33}, "partial_rotary_factor"),
        ({"head_dim": 100, "partial_rotary_factor": 0.25}, "partial_rotary_factor"),
        ({"rotary_dim": 3}, "rotary_dim"),
        ({"num_attention_heads": 0}, "num_attention_heads"),
        ({"num_attention_heads": None}, "num_attention_heads"),
        ({"hidden_size": 511}, "hidden_size"),
        ({"hidden_size": None}, "hidden_size"),
        ({"rope_theta": "10000"}, "rope_theta"),
        ({"rope_theta": 0}, "rope_theta"),
        ({"rope_interleave": True}, "rope_interleave"),
        ({"model_type": "nomad", "rope_theta": None}, "rope_theta"),
        ({"model_type": "t5"}, "model_type"),
        (
            {"model_type": "bert", "position_embedding_type": "relative_key"},
            "position_embedding_type",
        ),
        (
            {"rope_scaling": {"type": "su", "short_factor": [1.0] * 3, "long_factor": [1.0] * 3}},
            "rope_scaling.short_factor",
        ),
        ({"alibi": True}, "alibi"),
        ({"position_embedding_type": "nope"}, "position_embedding_type"),
        ({"max_position_embeddings": 0}, "max_position_embeddings"),
        ({"num_hidden_layers": 0}, "num_hidden_layers"),
        ({"mla_use_nope": True}, "mla_use_nope"),
        ({"rotary_dim": 32, "partial_rotary_factor": 0.75}, "partial_rotary_factor"),
        (
            {"rope_parameters": {"full_attention": {"rope_theta": 1e4}, "rope_theta": 1e4}},
            "rope_parameters.full_attention",
        ),
        (
            {
                "rope_parameters": {"full_attention": {"rope_theta": 1e4}},
                "layer_types": ["sliding_attention"],
            },
            "layer_types[0]",
        ),
        ({"num_key_value_heads": 3}, "num_key_value_heads"),
        (
            {
                "rope_scaling": {"type": "linear", "factor": 2},
                "rope_parameters": {"rope_theta": 5e5},
            },
            "rope_scaling.type",
        ),
        (
            {"rope_scaling": {"rope_type": "default", "mrope_section": [1, 2, 3]}},
            "rope_scaling.mrope_section",
        ),
        (
            {"model_type": "hunyuan_vl", "rope_scaling": {"mrope_section": [16, 16, 16, 16]}},
            "rope_scaling.mrope_section",
        ),
        ({"model_type": "baichuan", "num_hidden_layers": 24}, "num_hidden_layers"),
        ({"model_type": "mistral"}, "num_key_value_heads"),
    ],
)
def test_each_classic_mistake_is_refused_by_its_key(changes, key):
    with pytest.raises(InputError) as refusal:
        geometry_of(LLAMA | changes, context=4096)
    assert refusal.value.key == key


def test_a_null_head_dim_and_an_absent_type_are_legal():
    plain = geometry_of(LLAMA)
    assert geometry_of(LLAMA | {"head_dim": None}) == plain
    assert (
        geometry_of(LLAMA | {"rope_theta": None, "rope_parameters": {"rope_theta": 1e4}}) == plain
    )
