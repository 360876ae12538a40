# SPDX-License-Identifier: Apache-2.0
"""Two axes of patches in one head, as each family lays them out."""

import numpy as np
import pytest

from ropeway.golden import RopeGeometry, model_of

from .configs import LLAMA, rope


def vision(model_type, part, name="vision"):
    text = LLAMA | {"model_type": "llama"}
    g = model_of({"model_type": model_type, "text_config": text, "vision_config": part}).geometry(
        name
    )
    assert isinstance(g, RopeGeometry)
    return g


def test_qwen_vision_restarts_its_ladder_for_the_width():
    g = vision("qwen2_vl", {"embed_dim": 1280, "hidden_size": 3584, "num_heads": 16})
    phi = [10000 ** (-2 * k / 40) for k in range(20)]
    assert [float(w) for w in g.inv_freq] == pytest.approx(phi * 2)
    assert g.axes == (0,) * 20 + (1,) * 20
    assert (g.head_dim, g.pairing) == (80, "half-split")


def test_pixtral_splits_one_ladder():
    g = rope("mistral-small-3.2-24b-instruct-2506", name="vision")
    phi = [10000 ** (-2 * i / 64) for i in range(32)]
    assert [float(w) for w in g.inv_freq] == pytest.approx(phi[::2] + phi[1::2])
    assert g.axes == (0,) * 16 + (1,) * 16


def test_llama_4_vision_is_adjacent():
    g = vision("llama4", {"hidden_size": 1408, "num_attention_heads": 16, "rope_theta": 10000.0})
    phi = [10000 ** (-2 * k / 44) for k in range(22)]
    assert [float(w) for w in g.inv_freq] == pytest.approx(phi * 2)
    assert g.pairing == "adjacent"


def test_gemma_4_vision_is_two_blocks_a_head():
    part = {"model_type": "gemma4_vision", "hidden_size": 768, "num_attention_heads": 12}
    height = vision("gemma4", part, "vision_height")
    width = vision("gemma4", part, "vision_width")
    assert (height.rotary_offset, width.rotary_offset, height.rotary_dim) == (0, 32, 32)
    assert (set(height.axes), set(width.axes)) == ({0}, {1})
    assert float(height.inv_freq[1]) == pytest.approx(100 ** (-2 / 32))


def test_dinov3_patch_centres_are_integers_over_the_grid():
    config = {"model_type": "dinov3_vit", "hidden_size": 384, "num_attention_heads": 6}
    g = rope(config | {"image_size": 224, "patch_size": 16})
    patch, grid = 3, 14
    angle = 2 * np.pi * (2 * (patch + 0.5) / grid - 1) * 100 ** (-np.arange(16) / 16)
    ours = (2 * patch + 1 - grid) * np.array([float(w) for w in g.inv_freq])
    assert ours == pytest.approx(np.tile(angle, 2))
    assert g.axes == (0,) * 16 + (1,) * 16


def test_an_unknown_vision_part_leaves_a_warning():
    model = model_of(LLAMA | {"vision_config": {"model_type": "eyes"}})
    assert list(model.geometries) == ["default"]
    assert "eyes" in model.warnings[0]
