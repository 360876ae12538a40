# SPDX-License-Identifier: Apache-2.0
"""Pairings, softmax scales and the temperatures of Q that stand beside a rotation."""

from math import sqrt

import pytest

from ropeway.golden import model_of
from ropeway.golden.sources import preset

from .configs import LLAMA, YARN, rope, rope_in


def replaced(name, **changes):
    return {**preset(name), **changes}


def test_softmax_scales():
    assert rope("deepseek-v3").softmax_scale == pytest.approx(0.135233779, abs=5e-10)
    assert rope("deepseek-v2-lite").softmax_scale == pytest.approx(0.114721387, abs=5e-10)
    assert rope("llama-3.1-8b").softmax_scale == pytest.approx(1 / sqrt(128))
    assert rope("gemma-2-27b").softmax_scale == pytest.approx(1 / sqrt(144))
    granite = LLAMA | {"model_type": "granite", "attention_multiplier": 0.0078125}
    assert rope(granite).softmax_scale == 0.0078125


@pytest.mark.parametrize(
    ("stated", "pairing"), [(None, "adjacent"), (True, "adjacent"), (False, "half-split")]
)
def test_deepseek_v3_pairs_as_rope_interleave_says(stated, pairing):
    assert rope(replaced("deepseek-v3", rope_interleave=stated)).pairing == pairing


@pytest.mark.parametrize(
    ("position", "factor"),
    [(8190, 1.0), (8191, 1.0693147), (16383, 1.1098612), (131071, 1.2833213)],
)
def test_llama_4_temperature(position, factor):
    config = LLAMA | {"model_type": "llama4_text", "num_hidden_layers": 4}
    still = rope_in(model_of(config), layer=3)
    assert still.query_temperature is not None
    assert still.query_temperature.layers == "nope"
    assert still.query_temperature.at(position) == pytest.approx(factor, abs=5e-8)


@pytest.mark.parametrize(("position", "factor"), [(16383, 1.0), (16384, 1.0693147)])
def test_ministral_3_temperature(position, factor):
    parameters = YARN | {"original_max_position_embeddings": 16384, "llama_4_scaling_beta": 0.1}
    g = rope(LLAMA | {"model_type": "ministral3", "rope_parameters": parameters})
    assert g.query_temperature is not None
    assert g.query_temperature.at(position) == pytest.approx(factor, abs=5e-8)


@pytest.mark.parametrize(("count", "factor"), [(2048, 1.0), (4096, 1.0909091), (8192, 1.1818182)])
def test_qwen_1_temperature_and_steps(count, factor):
    config = {
        "model_type": "qwen",
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "kv_channels": 128,
        "seq_length": 2048,
        "max_position_embeddings": 8192,
        "rotary_emb_base": 10000,
        "rotary_pct": 1.0,
        "use_dynamic_ntk": True,
        "use_logn_attn": True,
    }
    g = rope(config, context=count)
    assert g.rope_type == "qwen_dynamic"
    assert g.query_temperature is not None
    assert g.query_temperature.at(count - 1) == pytest.approx(factor, abs=5e-8)
    plain = rope(config | {"use_dynamic_ntk": False}).inv_freq
    assert (g.inv_freq == plain) == (count == 2048)
