# SPDX-License-Identifier: Apache-2.0
"""The shape of attention heads, from the sizes in a config."""

from dataclasses import dataclass

from .errors import InputError
from .families import FULL, Family
from .fields import Fields

__all__ = [
    "HEADS",
    "HIDDEN",
    "KV_HEADS",
    "LAYERS",
    "HeadShape",
    "head_shape",
    "rotary_dim",
    "rotary_fraction",
    "trained_context",
]

HIDDEN = ("hidden_size", "n_embd", "n_embed", "d_model", "embed_dim")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
KV_HEADS = (
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "kv_n_heads",
    "num_attention_groups",
    "multi_query_group_num",
)
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
CONTEXT = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx")
ROTARY_DIM = ("rotary_dim", "qk_rope_head_dim")
ROTARY_FRACTION = ("partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_emb_fraction")
LARGEST_HEAD = 65535


@dataclass(frozen=True)
class HeadShape:
    """The heads of the vector that carries the rotation.

    ``score_dim`` is the size of the whole query that the softmax scale goes by; it exceeds
    ``head_dim`` where the rope slice is a vector of its own (multi-head latent attention).
    """

    heads: int
    kv_heads: int
    head_dim: int
    score_dim: int
    is_slice: bool = False


def head_shape(config: Fields, family: Family, label: str) -> HeadShape:
    """The heads of the layers called ``label``.

    Gemma 4's full layers have a shape of their own. Raises InputError for a size that neither the
    file nor the class default gives.
    """
    heads = config.count(*HEADS, default=family.sizes.get("num_attention_heads"))
    if config.has("qk_rope_head_dim") and "trailing-slice" not in family.traits:
        width = config.count("qk_rope_head_dim")
        whole = width + config.count("qk_nope_head_dim", least=0)
        return HeadShape(heads, 1, width, whole, is_slice=True)
    kv_heads, head_dim = _kv_heads(config, family, heads), _head_dim(config, family, heads)
    if label == FULL and "global_head_dim" in family.sizes:
        head_dim = config.count("global_head_dim", default=family.sizes["global_head_dim"])
        kv_heads = config.count("num_global_key_value_heads", default=kv_heads)
    if heads % kv_heads:
        raise InputError(config.find(*KV_HEADS)[0], kv_heads, f"must divide {heads} heads")
    return HeadShape(heads, kv_heads, head_dim, head_dim)


def trained_context(config: Fields, family: Family) -> int:
    """L, in tokens; 0 where the file does not say."""
    keys = ("seq_length",) if family.name == "qwen" and config.has("seq_length") else CONTEXT
    stated = next((key for key in keys if config.has(key)), keys[0])
    return config.count(stated) if config.has(stated) else family.sizes.get(stated, 0)


def rotary_dim(parameters: Fields, config: Fields, family: Family, head_dim: int) -> int:
    """Elements of a head that turn; even, from 2 to ``head_dim``.

    A count or a fraction, of ``parameters`` before ``config``'s before the class's;
    truncated as transformers does. Raises InputError for an odd width.
    """
    if config.has(*ROTARY_DIM) or "rotary_dim" in family.sizes:
        name = config.find(*ROTARY_DIM)[0]
        width = config.count(*ROTARY_DIM, default=family.sizes.get("rotary_dim"))
        fraction_name, fraction = rotary_fraction(parameters, config, family)
        if int(head_dim * fraction) not in (head_dim, width):
            raise InputError(fraction_name, fraction, f"must agree with {name} = {width}")
    else:
        name, fraction = rotary_fraction(parameters, config, family)
        width = int(head_dim * fraction)
    if not 2 <= width <= head_dim or width % 2:
        raise InputError(name, width, f"the rotary dimension must be even, from 2 to {head_dim}")
    return width


def rotary_fraction(parameters: Fields, config: Fields, family: Family) -> tuple[str, float]:
    """The key that decides the fraction of a head that turns, and the fraction."""
    where = parameters if parameters.has("partial_rotary_factor") else config
    name, _ = where.find(*ROTARY_FRACTION)
    return name, float(where.number(*ROTARY_FRACTION, default=family.partial, most=1, above=True))


def _kv_heads(config: Fields, family: Family, heads: int) -> int:
    if family.name == "falcon" and not config.flag("new_decoder_architecture"):
        return 1 if config.flag("multi_query", default=True) else heads
    stated = any(key in config.values for key in KV_HEADS)
    default = family.sizes.get("num_key_value_heads")
    if default is None and (stated or "states-kv-heads" not in family.traits):
        default = heads
    return config.count(*KV_HEADS, default=default)


def _head_dim(config: Fields, family: Family, heads: int) -> int:
    default = family.sizes.get("head_dim")
    if default is None and not config.has("head_dim", "kv_channels"):
        hidden = config.count(*HIDDEN)
        if hidden % heads:
            rule = f"must be a multiple of {heads} heads where no head_dim is given"
            raise InputError(config.find(*HIDDEN)[0], hidden, rule)
        default = hidden // heads
    head_dim = config.count("head_dim", "kv_channels", default=default)
    if head_dim > LARGEST_HEAD:
        raise InputError(
            config.find("head_dim", "kv_channels")[0], head_dim, "must be at most 65535"
        )
    return head_dim
