# SPDX-License-Identifier: Apache-2.0
"""What goes with a rotation and decides scores: pairing, softmax scale, the temperature of Q."""

from .errors import InputError
from .families import Family
from .fields import Fields
from .geometry import QueryTemperature
from .rope_readers import ORIGINAL
from .rope_types import rope_type_of
from .schedules import at_full_precision
from .shapes import HeadShape
from .table import Pairing
from .yarn import yarn_gain

__all__ = ["pairing_of", "query_temperature", "softmax_scale"]

INTERLEAVE = ("rope_interleave", "rope_interleaved")
BETA = "llama_4_scaling_beta"


def pairing_of(config: Fields, family: Family, parameters: Fields) -> Pairing:
    """The family's pairing, or what the file says where the family leaves it open.

    Raises InputError where the file contradicts the family.
    """
    where = next((fields for fields in (parameters, config) if fields.has(*INTERLEAVE)), None)
    if where is None:
        return family.pairing
    stated = Pairing.ADJACENT if where.flag(*INTERLEAVE) else Pairing.HALF_SPLIT
    is_open = not family.known or "interleave-key" in family.traits
    if stated != family.pairing and not is_open:
        name, value = where.find(*INTERLEAVE)
        raise InputError(name, value, f"{family.name} pairs are {family.pairing}")
    return stated


@at_full_precision
def softmax_scale(config: Fields, family: Family, parameters: Fields, shape: HeadShape) -> float:
    """The factor on scores: 1/√dim unless the config names another.

    With multi-head latent attention YaRN's gain enters here, squared, since it must act on the
    part of the query that does not turn as well (DeepSeek-V2's ``mscale_all_dim``).
    """
    if "unscaled-scores" in family.traits:
        return 1.0
    if config.has("attention_multiplier"):
        return float(config.number("attention_multiplier", above=True))
    default = family.sizes.get("query_pre_attn_scalar", shape.score_dim)
    scale = config.number("query_pre_attn_scalar", default=default, above=True).sqrt() ** -1
    if shape.is_slice and rope_type_of(parameters)[1] != "default":
        gain = parameters.number("mscale_all_dim", default=0, most=1e6)
        if gain:
            scale *= yarn_gain(parameters.number("factor", least=1), gain) ** 2
    return float(scale)


def query_temperature(
    config: Fields, family: Family, parameters: Fields
) -> QueryTemperature | None:
    """The factor on Q by position that Llama 4, Mistral's newer models and Qwen 1 apply."""
    where = next((fields for fields in (parameters, config) if fields.has(BETA)), None)
    if where is not None:
        length = (parameters if parameters.has(ORIGINAL) else config).count(ORIGINAL)
        return QueryTemperature("floor-log", length, float(where.number(BETA)))
    if family.name == "llama4" and config.values.get("attn_temperature_tuning", True):
        length = config.count("floor_scale", default=8192)
        beta = float(config.number("attn_scale", default=0.1))
        return QueryTemperature("floor-log", length, beta, offset=1, layers="nope")
    if family.name == "qwen" and config.flag("use_logn_attn"):
        return QueryTemperature("log-n", config.count("seq_length", least=2))
    return None
