# SPDX-License-Identifier: Apache-2.0
"""Which layer uses which geometry: layer types, their class patterns and NoPE schedules."""

from collections.abc import Collection

from .errors import InputError
from .families import FULL, SLIDING, Family
from .fields import Fields
from .shapes import LAYERS

__all__ = ["DEFAULT", "layer_names"]

DEFAULT = "default"
MOST_LAYERS = 4096
# Layers without attention heads to turn.
NO_ATTENTION = frozenset({"linear_attention", "mamba", "mamba2", "conv", "recurrent", "mlp", "moe"})
# DeepSeek-V4 keys its parameters by branch; its older files give each layer's compression instead.
BRANCH = {
    SLIDING: "main",
    "compressed_sparse_attention": "compress",
    "heavily_compressed_attention": "compress",
}
COMPRESSION = {0: SLIDING, 4: "compressed_sparse_attention", 128: "heavily_compressed_attention"}


def layer_names(config: Fields, family: Family, labels: Collection[str]) -> tuple[str | None, ...]:
    """The label of each layer's geometry, None where nothing turns; empty if the count is open.

    ``labels`` are those that have parameters. Raises InputError for a layer type that has none.
    """
    default = family.sizes.get("num_hidden_layers", 0)
    count = config.count(*LAYERS) if config.has(*LAYERS) else default
    if count > MOST_LAYERS:
        raise InputError(config.find(*LAYERS)[0], count, f"must be at most {MOST_LAYERS}")
    types = layer_types(config, family, count)
    turns = turning(config, family, types)
    only = DEFAULT if DEFAULT in labels else None

    def name(at: int, label: str) -> str | None:
        if not turns[at] or label in NO_ATTENTION:
            return None
        label = label if label in labels else BRANCH.get(label, label)
        if label not in labels and only is None:
            rule = f"must be one of {', '.join(labels)}"
            raise InputError(f"{config.name('layer_types')}[{at}]", label, rule)
        return label if label in labels else only

    return tuple(name(at, label) for at, label in enumerate(types))


def layer_types(config: Fields, family: Family, count: int) -> tuple[str, ...]:
    """The type of each layer: the file's list, or the pattern of the family."""
    bases = family.local_global
    if config.has("layer_types"):
        names = config.texts("layer_types")
    elif config.has("compress_ratios"):
        ratios = config.counts("compress_ratios")
        names = tuple(COMPRESSION.get(ratio, str(ratio)) for ratio in ratios)
    elif bases is not None:
        period = config.count(bases.period_key, default=bases.period)
        is_global = [(i + bases.phase) % period == 0 for i in range(count)]
        names = tuple(bases.labels[0 if each else 1] for each in is_global)
    elif _turns_only_sliding(config, family):
        names = _sliding_pattern(config, count)
    elif config.has("full_attention_interval"):
        interval = config.count("full_attention_interval")
        names = tuple(FULL if (i + 1) % interval == 0 else "linear_attention" for i in range(count))
    else:
        names = (FULL,) * count
    extra = config.count("num_nextn_predict_layers", default=0, least=0)
    if count and not count <= len(names) <= count + extra:
        raise InputError(config.name("layer_types"), f"{len(names)} layers", f"must be {count}")
    return names[: count or None]


def _turns_only_sliding(config: Fields, family: Family) -> bool:
    """Whether global layers have no rotation: not so where EXAONE has no window at all."""
    default = family.sizes.get("sliding_window", 0)
    window = config.count("sliding_window", default=default, least=0)
    return "sliding-only" in family.traits and window > 0


def _sliding_pattern(config: Fields, count: int) -> tuple[str, ...]:
    """Every n-th layer is global; EXAONE writes the pattern in letters, LLLG."""
    pattern = config.values.get("sliding_window_pattern")
    if isinstance(pattern, str) and pattern and set(pattern) <= {"L", "G"}:
        return tuple(FULL if pattern[i % len(pattern)] == "G" else SLIDING for i in range(count))
    period = config.count("sliding_window_pattern", default=4)
    return tuple(SLIDING if (i + 1) % period else FULL for i in range(count))


def turning(config: Fields, family: Family, types: tuple[str, ...]) -> list[bool]:
    """Whether each layer turns: in ``no_rope_layers`` 1 means that it does, despite the name."""
    if "no-rope-list" in family.traits:
        if config.has("no_rope_layers") and config.items("no_rope_layers"):
            flags = config.counts("no_rope_layers")
            if len(flags) != len(types) or max(flags) > 1:
                rule = f"must be {len(types)} entries of 0 or 1"
                raise InputError(config.name("no_rope_layers"), list(flags), rule)
            return [bool(flag) for flag in flags]
        interval = config.count("no_rope_layer_interval", default=4)
        return [(i + 1) % interval != 0 for i in range(len(types))]
    if _turns_only_sliding(config, family):
        return [label == SLIDING for label in types]
    return [True] * len(types)
