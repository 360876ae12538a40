# SPDX-License-Identifier: Apache-2.0
"""Configs that several tests vary, and geometries that are known to turn."""

from typing import Any

from ropeway.golden import Model, RopeGeometry, geometry_of

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 4,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
}
SMALL_LLAMA_4: dict[str, Any] = {
    "model_type": "llama4_text",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 4,
    "rope_theta": 500000.0,
    "head_dim": 16,
    "max_position_embeddings": 1 << 20,
    "no_rope_layers": [1, 1, 1, 0],
    "attn_temperature_tuning": True,
    "floor_scale": 100,
    "attn_scale": 0.1,
}
YARN: dict[str, Any] = {
    "type": "yarn",
    "factor": 4.0,
    "original_max_position_embeddings": 32768,
}


def rope(config, **options) -> RopeGeometry:
    """``geometry_of``, where that is a rotation."""
    geometry = geometry_of(config, **options)
    assert isinstance(geometry, RopeGeometry)
    return geometry


def rope_in(model: Model, name: str | None = None, layer: int | None = None) -> RopeGeometry:
    """One geometry of ``model``, where that is a rotation."""
    geometry = model.geometry(name, layer)
    assert isinstance(geometry, RopeGeometry)
    return geometry


def frequencies(config, **options) -> list[float]:
    """The frequencies of ``geometry_of`` as float64."""
    return [float(w) for w in rope(config, **options).inv_freq]
