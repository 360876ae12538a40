# SPDX-License-Identifier: Apache-2.0
"""Record what transformers' own rotary modules give, into oracle.json beside this file.

Needs torch and transformers, no downloads and no GPU::

    pip install torch transformers
    python tests/golden/record_oracle.py

The records are committed; tests/golden/test_oracle.py holds ropeway against them.
"""

# pyright: reportMissingImports=false

import inspect
import json
import sys
from copy import deepcopy
from pathlib import Path

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_MAPPING

HERE = Path(__file__).parent
PRESETS = HERE.parents[1] / "golden" / "presets.json"
TEXT = {"gemma3": "text_config", "qwen3_vl": "text_config", "mistral3": "text_config"}

LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32}
LLAMA |= {"num_key_value_heads": 8, "max_position_embeddings": 8192, "rope_theta": 500000.0}
QWEN = {"model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28}
QWEN |= {"num_key_value_heads": 4, "max_position_embeddings": 32768, "rope_theta": 1000000.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
DYNAMIC = {"rope_type": "dynamic", "factor": 2.0}
LISTS = {
    "short_factor": [1.0 + i / 64 for i in range(64)],
    "long_factor": [1.0 + i * i / 16 for i in range(64)],
    "original_max_position_embeddings": 4096,
}

# name: (config, declared context)
CONFIGS: dict[str, tuple[dict, int | None]] = {
    "default": (LLAMA, None),
    "default, head_dim beside hidden size": (LLAMA | {"head_dim": 64}, None),
    "linear 4": (LLAMA | {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, None),
    "linear, fractional": (
        LLAMA | {"rope_scaling": {"type": "linear", "factor": 1.708984375}},
        None,
    ),
    "dynamic within L": (LLAMA | {"rope_scaling": DYNAMIC}, 8000),
    "dynamic at L + 1": (LLAMA | {"rope_scaling": DYNAMIC}, 8193),
    "dynamic at 2 L": (LLAMA | {"rope_scaling": DYNAMIC}, 16384),
    "dynamic 4 at 16 L": (LLAMA | {"rope_scaling": DYNAMIC | {"factor": 4.0}}, 131072),
    "yarn": (QWEN | {"rope_scaling": YARN}, None),
    "yarn 8 from 4096": (
        LLAMA
        | {"rope_theta": 10000.0}
        | {"rope_scaling": YARN | {"factor": 8.0, "original_max_position_embeddings": 4096}},
        None,
    ),
    "yarn without truncation": (
        QWEN | {"rope_parameters": YARN | {"truncate": False, "rope_theta": 1000000.0}},
        None,
    ),
    "yarn betas": (QWEN | {"rope_scaling": YARN | {"beta_fast": 16, "beta_slow": 2}}, None),
    "yarn attention_factor": (QWEN | {"rope_scaling": YARN | {"attention_factor": 1.0}}, None),
    "yarn mscale pair": (
        QWEN | {"rope_scaling": YARN | {"mscale": 1.2, "mscale_all_dim": 0.8}},
        None,
    ),
    "yarn lone mscale": (QWEN | {"rope_scaling": YARN | {"mscale": 1.5}}, None),
    "yarn from 128": (
        LLAMA
        | {"rope_theta": 10000.0}
        | {"rope_scaling": YARN | {"original_max_position_embeddings": 128}},
        None,
    ),
    "yarn from 2^20": (
        QWEN | {"rope_scaling": YARN | {"original_max_position_embeddings": 1048576}},
        None,
    ),
    "yarn null factor": (
        QWEN | {"max_position_embeddings": 131072, "rope_scaling": YARN | {"factor": None}},
        None,
    ),
    "llama3 with equal bands": (
        LLAMA
        | {
            "rope_scaling": {
                "rope_type": "llama3",
                "factor": 16.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 1.0,
                "original_max_position_embeddings": 8192,
            }
        },
        None,
    ),
    "longrope short": (LLAMA | {"rope_scaling": {"rope_type": "longrope", **LISTS}}, 4096),
    "longrope long": (LLAMA | {"rope_scaling": {"rope_type": "longrope", **LISTS}}, 4097),
    "longrope factor": (
        LLAMA | {"rope_scaling": {"rope_type": "longrope", "factor": 32.0, **LISTS}},
        4097,
    ),
    "longrope attention_factor": (
        LLAMA | {"rope_scaling": {"rope_type": "longrope", "attention_factor": 1.5, **LISTS}},
        4097,
    ),
    "longrope nested": (
        LLAMA | {"rope_parameters": {"rope_type": "longrope", "rope_theta": 10000.0, **LISTS}},
        4097,
    ),
    "stablelm's quarter": (
        {"model_type": "stablelm", "hidden_size": 2560, "num_attention_heads": 32},
        None,
    ),
    "glm's half": (
        {"model_type": "glm4", "hidden_size": 4096, "num_attention_heads": 32}
        | {"num_key_value_heads": 2, "head_dim": 128},
        None,
    ),
    "cohere's base": (
        {"model_type": "cohere", "hidden_size": 8192, "num_attention_heads": 64},
        None,
    ),
    "smollm3's base": (
        {"model_type": "smollm3", "hidden_size": 2048, "num_attention_heads": 16}
        | {"num_key_value_heads": 4, "num_hidden_layers": 36},
        None,
    ),
    "helium's base": (
        {"model_type": "helium", "hidden_size": 2560, "num_attention_heads": 20, "head_dim": 128},
        None,
    ),
    "modernbert": (
        {"model_type": "modernbert", "hidden_size": 768, "num_attention_heads": 12}
        | {"num_hidden_layers": 22},
        None,
    ),
    "olmo3, scaled": (
        {"model_type": "olmo3", "hidden_size": 4096, "num_attention_heads": 32}
        | {"num_hidden_layers": 32, "max_position_embeddings": 65536}
        | {"rope_scaling": YARN | {"factor": 8.0, "original_max_position_embeddings": 8192}},
        None,
    ),
    "gemma4": (
        {"model_type": "gemma4_text", "hidden_size": 2304, "num_attention_heads": 8}
        | {"num_key_value_heads": 4, "head_dim": 256, "global_head_dim": 512}
        | {"num_hidden_layers": 30},
        None,
    ),
    "gemma3n": (
        {"model_type": "gemma3n_text", "hidden_size": 2048, "num_hidden_layers": 35},
        None,
    ),
    "hunyuan's alpha": (
        {"model_type": "hunyuan_v1_dense", "hidden_size": 4096, "num_attention_heads": 32}
        | {"head_dim": 128, "max_position_embeddings": 32768}
        | {"rope_scaling": {"rope_type": "dynamic", "alpha": 1000.0, "factor": 1.0}},
        None,
    ),
    "llama4": (
        {"model_type": "llama4_text", "hidden_size": 5120, "num_attention_heads": 40}
        | {"num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 48}
        | {"rope_theta": 500000.0},
        None,
    ),
    "ministral3": (
        {"model_type": "ministral3", "hidden_size": 4096, "num_attention_heads": 32}
        | {"num_key_value_heads": 8, "head_dim": 128, "max_position_embeddings": 262144}
        | {
            "rope_parameters": {
                "type": "yarn",
                "rope_theta": 1000000.0,
                "factor": 16.0,
                "original_max_position_embeddings": 16384,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
                "llama_4_scaling_beta": 0.1,
            }
        },
        None,
    ),
    "deepseek_v4": (
        {"model_type": "deepseek_v4", "hidden_size": 4096, "num_attention_heads": 64}
        | {"head_dim": 512, "num_hidden_layers": 4, "qk_rope_head_dim": 64}
        | {"rope_theta": 10000.0, "compress_rope_theta": 160000.0}
        | {"compress_ratios": [0, 128, 4, 4]}
        | {"rope_scaling": YARN | {"factor": 16.0, "original_max_position_embeddings": 65536}},
        None,
    ),
}
NOT_ROTARY = ("bloom", "mpt", "gpt2", "opt", "whisper", "transformer")
CONTEXTS = {"phi-3-mini-128k-instruct": (4096, 4097), "phi-3.5-mini-instruct": (4096, 4097)}
CONTEXTS |= {"phi-4-mini-instruct": (4096, 4097)}


def language_config(config: dict) -> dict:
    """The part of a preset that has a language model's rotary module."""
    return config[TEXT[config["model_type"]]] if config["model_type"] in TEXT else config


def rotary_of(config: dict):
    """transformers' rotary module for a config."""
    of_type = deepcopy(config)
    model_type = of_type.pop("model_type")
    made = CONFIG_MAPPING[model_type](**of_type)
    module = sys.modules[MODEL_MAPPING[type(made)].__module__]
    names = [
        n for n, c in vars(module).items() if inspect.isclass(c) and n.endswith("RotaryEmbedding")
    ]
    name = next(n for n in names if "Vision" not in n and "Audio" not in n)
    return getattr(module, name)(config=made)


def records_of(name: str, config: dict, context: int | None) -> list[dict]:
    """One record a set of frequencies in the config's module."""
    rotary = rotary_of(config)
    if context is not None:
        rotary(torch.zeros(1, 1, 8), torch.tensor([[0, context - 1]]))
    found = []
    for key, buffer in rotary.named_buffers():
        if not key.endswith("inv_freq") or "original" in key:
            continue
        label = key.removesuffix("inv_freq").rstrip("_") or None
        prefix = f"{label}_" if label else ""
        found.append(
            {
                "name": name,
                "config": config,
                "context": context,
                "geometry": label,
                "inv_freq": buffer.double().tolist(),
                "attention_factor": float(getattr(rotary, f"{prefix}attention_scaling")),
            }
        )
    return found


def main():
    """Record every configuration and say which would not load."""
    wanted = dict(CONFIGS)
    for name, config in json.loads(PRESETS.read_text()).items():
        if config["model_type"] in NOT_ROTARY:
            continue
        for context in CONTEXTS.get(name, (None,)):
            label = name if context is None else f"{name} at {context}"
            wanted[label] = (language_config(config), context)
    records = []
    for name, (config, context) in wanted.items():
        try:
            records += records_of(name, config, context)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    versions = {"transformers": transformers.__version__, "torch": torch.__version__}
    lines = ",\n".join(map(json.dumps, records))
    (HERE / "oracle.json").write_text(
        f'{{"versions": {json.dumps(versions)}, "records": [\n{lines}\n]}}\n'
    )
    print(f"{len(records)} records of {len({r['name'] for r in records})} configurations")


if __name__ == "__main__":
    main()
