# SPDX-License-Identifier: Apache-2.0
"""Which layer turns by which geometry, and which does not turn."""

import pytest

from ropeway.golden import InputError, geometry_of, model_of

from .configs import LLAMA, rope, rope_in


def test_gemma_3_has_a_local_and_a_scaled_global_base():
    model = model_of("gemma-3-4b-it")
    full, local = rope_in(model, "full_attention"), rope_in(model, "sliding_attention")
    assert full.rope_scaling_resolved == {"rope_type": "linear", "rope_theta": 1000000, "factor": 8}
    assert local.rope_scaling_resolved == {"rope_type": "default", "rope_theta": 10000}
    assert (full.heads, full.kv_heads, full.head_dim) == (8, 4, 256)
    assert [at for at, name in enumerate(model.layers) if name == "full_attention"] == [
        5,
        11,
        17,
        23,
        29,
    ]
    assert model.geometries["vision"].scheme == "learned"
    assert model_of("gemma-3-1b-it").geometry(layer=5) != model.geometry(layer=5)


def test_old_and_new_spellings_of_gemma_3_agree():
    text = {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 12}
    old = model_of(text | {"rope_scaling": {"rope_type": "linear", "factor": 8.0}})
    new = model_of(
        text
        | {
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            }
        }
    )
    assert {k: g.fingerprint for k, g in old.geometries.items()} == {
        k: g.fingerprint for k, g in new.geometries.items()
    }
    assert old.layers == new.layers


def test_modernbert_has_a_global_layer_in_three():
    config = {"model_type": "modernbert", "hidden_size": 768, "num_attention_heads": 12}
    model = model_of(config | {"num_hidden_layers": 7, "global_rope_theta": 160000.0})
    assert [name == "full_attention" for name in model.layers] == [True, False, False] * 2 + [True]
    full, local = rope_in(model, "full_attention"), rope_in(model, "sliding_attention")
    assert full.rope_scaling_resolved["rope_theta"] == 160000
    assert local.rope_scaling_resolved["rope_theta"] == 10000


def test_olmo_3_scales_full_layers_only():
    config = LLAMA | {"model_type": "olmo3", "num_hidden_layers": 8}
    scaling = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 8192}
    model = model_of(config | {"rope_scaling": scaling | {"attention_factor": 1.2079441541679836}})
    full, local = rope_in(model, "full_attention"), rope_in(model, "sliding_attention")
    assert full.attention_factor == pytest.approx(1.2079442, abs=5e-8)
    assert local.rope_type == "default"
    assert model.layers[3] == "full_attention"
    assert local.rope_scaling_resolved["rope_theta"] == 500000


def test_gemma_4_layers_differ_in_shape():
    config = {"model_type": "gemma4_text", "hidden_size": 2304, "num_hidden_layers": 6}
    model = model_of(config | {"num_global_key_value_heads": 2})
    full, local = rope_in(model, "full_attention"), rope_in(model, "sliding_attention")
    assert (full.head_dim, full.rotary_dim, full.kv_heads) == (512, 512, 2)
    assert (local.head_dim, local.rotary_dim, local.kv_heads) == (256, 256, 4)
    assert full.rope_type == "proportional"
    assert full.increments[64:] == (0,) * 192
    assert full.increments[63] != 0


def test_a_null_label_is_a_layer_without_rotation():
    model = model_of(
        LLAMA
        | {
            "rope_parameters": {"full_attention": None, "sliding_attention": {"rope_theta": 1e4}},
            "layer_types": ["sliding_attention", "full_attention"] * 2,
        }
    )
    assert model.layers == ("default", None) * 2
    still = rope_in(model, layer=1)
    assert still.table().bypass
    assert (still.heads, still.head_dim) == (32, 128)


def test_no_rope_layers_follow_their_values_despite_the_name():
    smollm = LLAMA | {"model_type": "smollm3", "num_hidden_layers": 36, "num_attention_heads": 32}
    still = list(range(3, 36, 4))
    listed = model_of(smollm | {"no_rope_layers": [1, 1, 1, 0] * 9})
    assert [at for at, name in enumerate(listed.layers) if name is None] == still
    assert model_of(smollm).layers == listed.layers
    llama4 = LLAMA | {"model_type": "llama4_text", "head_dim": 128, "num_hidden_layers": 8}
    model = model_of(llama4 | {"no_rope_layers": []})
    assert [at for at, name in enumerate(model.layers) if name is None] == [3, 7]
    assert rope(llama4).pairing == "adjacent"


def test_cohere_2_and_exaone_4_turn_sliding_layers_only():
    config = LLAMA | {"num_hidden_layers": 8, "sliding_window": 4096}
    for model_type in ("cohere2", "exaone4"):
        model = model_of(config | {"model_type": model_type})
        assert model.layers == (("default",) * 3 + (None,)) * 2
    lettered = model_of(config | {"model_type": "exaone4", "sliding_window_pattern": "LLLG"})
    assert lettered.layers == (("default",) * 3 + (None,)) * 2
    without = model_of(config | {"model_type": "exaone4", "sliding_window": None})
    assert without.layers == ("default",) * 8


def test_step_lists_bases_and_fractions_layer_by_layer():
    config = LLAMA | {
        "model_type": "step3p7",
        "head_dim": 128,
        "layer_types": ["full_attention", "sliding_attention"] * 2,
        "rope_theta": [5e6, 1e4] * 2,
        "partial_rotary_factors": [0.5, 1.0] * 2,
    }
    model = model_of(config)
    full, local = rope_in(model, "full_attention"), rope_in(model, "sliding_attention")
    assert (full.rotary_dim, local.rotary_dim) == (64, 128)
    with pytest.raises(InputError, match="same in every"):
        model_of(config | {"rope_theta": [5e6, 1e4, 1e4, 1e4]})


def test_deepseek_v4_turns_the_trailing_slice_of_q_k_and_v():
    model = model_of(
        {
            "model_type": "deepseek_v4",
            "hidden_size": 4096,
            "num_attention_heads": 64,
            "head_dim": 512,
            "qk_rope_head_dim": 64,
            "num_hidden_layers": 4,
            "compress_ratios": [0, 128, 4, 4],
        }
    )
    main = rope_in(model, "main")
    assert (main.rotary_offset, main.rotary_dim, main.rotated) == (448, 64, ("q", "k", "v"))
    assert (main.pairing, main.kv_heads) == ("adjacent", 1)
    assert model.layers == ("main", "compress", "compress", "compress")
    assert main.table().pattern.rotated == (True, True, True)


def test_several_geometries_ask_for_a_choice():
    with pytest.raises(InputError, match="full_attention, sliding_attention"):
        geometry_of("gemma-3-1b-it")
    with pytest.raises(InputError, match="0 to 25"):
        geometry_of("gemma-3-1b-it", layer=26)
