# SPDX-License-Identifier: Apache-2.0
"""The rotary geometries of a language model's config: one a kind of layer."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .axes import axes_of
from .errors import InputError
from .families import FULL, Family, LocalGlobal
from .fields import Fields
from .geometry import RopeGeometry
from .layers import DEFAULT
from .rope_readers import Request
from .rope_types import GEOMETRY_KEYS, resolve, rope_type_of
from .schedules import at_full_precision
from .scores import pairing_of, query_temperature, softmax_scale
from .shapes import head_shape, rotary_dim, rotary_fraction, trained_context

__all__ = ["Options", "rope_geometries"]

THETA = ("rope_theta", "rotary_emb_base", "rotary_base")
CHATGLM_THETA = 10000
PER_LAYER = {"rope_theta": "rope_theta", "partial_rotary_factor": "partial_rotary_factors"}
LOOSE = {
    "rope_type": "rope_type",
    "scaling_factor": "factor",
    "original_max_position_embeddings": "original_max_position_embeddings",
    "extrapolation_factor": "extrapolation_factor",
    "beta_fast": "beta_fast",
    "beta_slow": "beta_slow",
}
PARAMETERS = ("rope_parameters", "rope_scaling")


@dataclass(frozen=True)
class Options:
    """What a user declares beside the file: the total context, a scaling instead of its own."""

    context: int | None = None
    scaling: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Parameters:
    """The rope parameters of one kind of layer, and where its L0 may stand, the first one first."""

    fields: Fields
    theta: Decimal
    original_in: tuple[Fields, ...]


def rope_geometries(
    config: Fields, family: Family, options: Options, warnings: list[str]
) -> dict[str, RopeGeometry | None]:
    """The geometry of each kind of layer, None for NoPE; "default" where all are alike."""
    found = layer_parameters(config, family, options.scaling)
    return {
        label: each and _geometry(config, family, label, each, options.context, warnings)
        for label, each in found.items()
    }


def layer_parameters(
    config: Fields, family: Family, scaling: Mapping[str, Any] | None
) -> dict[str, Parameters | None]:
    """The rope parameters of each kind of layer, in old and new spellings.

    The config's own L0 goes before that of flat parameters, as in transformers, but not before
    that of one layer type's or of a user's ``scaling``.
    """
    written = written_parameters(config, family)
    labelled = _per_layer(config, written) or _by_label(written, family.local_global)
    if scaling is not None:
        labelled = _with_scaling(labelled, family, scaling)

    def parameters(label: str, fields: Fields) -> Parameters:
        if scaling is not None:
            original_in = (fields, config)
        else:
            original_in = (fields,) if _is_nested(written) else (config, fields)
        return Parameters(fields, _theta(fields, config, family, label), original_in)

    return {label: fields and parameters(label, fields) for label, fields in labelled.items()}


def written_parameters(config: Fields, family: Family) -> Fields:
    """``rope_parameters`` or its old name ``rope_scaling``; both only where they agree.

    Grok writes its parameters among the config's own keys, Qwen 1 its scaling as a flag.
    """
    if family.name == "qwen" and config.flag("use_dynamic_ntk"):
        return Fields({"rope_type": "qwen_dynamic"}, config.path)
    new, old = (config.child(key) for key in PARAMETERS)
    if config.has("rope_type") and not (new.values or old.values):
        loose = {key: config.values[name] for name, key in LOOSE.items() if config.has(name)}
        return Fields(loose, config.path)
    target = new.child(FULL) if _is_nested(new) and not _is_nested(old) else new
    if not new.values or not old.values:
        return new if new.values else old
    for key in old:
        if target.values.get(key) != old.values[key]:
            raise InputError(old.name(key), old.values[key], f"must agree with {new.path}")
    return new


def _is_nested(fields: Fields) -> bool:
    """Whether the object holds one set of parameters a label."""
    values = list(fields.values.values())
    return any(isinstance(value, Mapping) for value in values) and all(
        value is None or isinstance(value, Mapping) for value in values
    )


def _per_layer(config: Fields, written: Fields) -> dict[str, Fields | None]:
    """Parameters by layer type where the config lists them by layer (Step-3.7), else nothing."""
    listed = {
        key: config.items(source)
        for key, source in PER_LAYER.items()
        if isinstance(config.values.get(source), list)
    }
    if not listed:
        return {}
    labelled: dict[str, dict[str, Any]] = {}
    for at, label in enumerate(config.texts("layer_types")):
        for key, values in listed.items():
            if at >= len(values):
                raise InputError(config.name(PER_LAYER[key]), len(values), "must have every layer")
            if labelled.setdefault(label, {}).setdefault(key, values[at]) != values[at]:
                rule = f"must be the same in every {label} layer"
                raise InputError(f"{config.name(PER_LAYER[key])}[{at}]", values[at], rule)
    return {
        label: Fields({**values, **(written.values if label == FULL else {})}, written.path)
        for label, values in labelled.items()
    }


def _by_label(written: Fields, bases: LocalGlobal | None) -> dict[str, Fields | None]:
    if _is_nested(written):
        nulls = {label: None for label, value in written.values.items() if value is None}
        labelled = {label: written.child(label) for label in written}
        if bases:
            labelled = {
                label: _with_defaults(fields, bases.defaults.get(label, {}))
                for label, fields in labelled.items()
            }
        return {**labelled, **nulls}
    if bases is None:
        return {DEFAULT: written}
    return {
        label: _with_defaults(
            written if label in bases.scaled else Fields({}, written.path),
            bases.defaults.get(label, {}),
        )
        for label in bases.labels
    }


def _with_defaults(fields: Fields, defaults: Mapping[str, object]) -> Fields:
    return Fields({**defaults, **fields.values}, fields.path)


def _with_scaling(
    labelled: dict[str, Fields | None], family: Family, scaling: Mapping[str, Any]
) -> dict[str, Fields | None]:
    """``scaling`` instead of the file's; bases, fractions and axes stay unless it gives its own."""
    given = Fields(scaling, "scaling")
    if _is_nested(given):
        new = {label: given.child(label) for label in given}
    else:
        scaled = family.local_global.scaled if family.local_global else tuple(labelled)
        new = dict.fromkeys(set(scaled) & labelled.keys() or labelled, given)
    for label in new:
        if label not in labelled:
            raise InputError(given.name(label), scaling[label], f"must be one of {list(labelled)}")

    def replaced(label: str, fields: Fields | None) -> Fields | None:
        if label not in new or fields is None:
            return fields
        kept = {key: fields.values[key] for key in fields if key in GEOMETRY_KEYS}
        return Fields({**kept, **new[label].values}, new[label].path)

    return {label: replaced(label, fields) for label, fields in labelled.items()}


@at_full_precision
def _theta(fields: Fields, config: Fields, family: Family, label: str) -> Decimal:
    """The base: the parameters' own, before the config's, before the class's."""
    if config.has("rope_ratio"):
        return config.number("rope_ratio", above=True, most=1e6) * CHATGLM_THETA
    keys, default = THETA, family.theta
    bases = family.local_global
    if bases and label in bases.labels:
        at = list(bases.labels).index(label)
        keys, default = (bases.theta_keys[at],), bases.theta[at]
    if fields.has(*THETA):
        return fields.number(*THETA, least=1, above=True)
    return config.number(*keys, default=default, least=1, above=True)


def _geometry(
    config: Fields,
    family: Family,
    label: str,
    parameters: Parameters,
    context: int | None,
    warnings: list[str],
) -> RopeGeometry:
    fields, shape = parameters.fields, head_shape(config, family, label)
    proportional = rope_type_of(fields)[1] == "proportional"
    width = (
        shape.head_dim
        if proportional or shape.is_slice
        else rotary_dim(fields, config, family, shape.head_dim)
    )
    request = Request(
        fields=fields,
        theta=parameters.theta,
        dim=width,
        partial=rotary_fraction(fields, config, family)[1] if proportional else 1.0,
        trained=trained_context(config, family),
        context=context,
        original_in=parameters.original_in,
        warnings=warnings,
    )
    resolved = resolve(request)
    trailing = "trailing-slice" in family.traits
    backwards = "turns-backwards" in family.traits
    turns_v = trailing or config.flag("rotary_value")
    return RopeGeometry(
        rope_type=resolved.rope_type,
        rope_scaling_resolved=resolved.as_dict(parameters.theta),
        head_dim=shape.head_dim,
        heads=shape.heads,
        kv_heads=shape.kv_heads,
        inv_freq=tuple(-w if backwards else w for w in resolved.schedule.inv_freq),
        softmax_scale=softmax_scale(config, family, fields, shape),
        pairing=pairing_of(config, family, fields),
        rotary_offset=shape.head_dim - width if trailing else 0,
        rotated=("q", "k", "v") if turns_v else ("q", "k"),
        attention_factor=float(resolved.schedule.attention_factor),
        query_temperature=query_temperature(config, family, fields),
        context=resolved.context(request.trained),
        axes=axes_of(fields, family, width // 2),
    )
