# SPDX-License-Identifier: Apache-2.0
"""From a checkpoint's config.json to the geometry it was trained with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .additive_config import additive_geometries
from .errors import InputError
from .families import Family, family_of
from .fields import Fields
from .geometry import Geometry, Model
from .layers import DEFAULT, layer_names
from .rope_config import Options, rope_geometries
from .sources import read_config
from .vision import vision_geometries

__all__ = ["geometry_of", "model_of"]

MOST_TOKENS = 1 << 31
Config = Mapping[str, Any] | str | Path
LANGUAGE = ("text_config", "llm_config", "language_config", "thinker_config")
ROPE_KEYS = ("rope_theta", "rope_parameters", "rope_scaling", "rotary_emb_base", "rotary_dim")
REFUSED_KEYS = {
    "use_fope": "FoPE mixes sinusoids into each angle, which is no rotation",
    "mla_use_nope": "its latent attention has no rotation",
    "dual_chunk_attention_config": "dual-chunk attention gives a query several positions at once",
}


def model_of(
    config: Config,
    *,
    context: int | None = None,
    scaling: Mapping[str, Any] | None = None,
    tp: tuple[int, int] = (0, 1),
) -> Model:
    """Every position geometry of a checkpoint.

    ``config`` is the object of a config.json, a path to one (or to its folder, or to a table
    written by ``ropeway table``), or a preset's name. ``context`` declares the total tokens, which
    dynamic NTK and longrope need; ``scaling`` replaces the file's, ``{}`` removes it; ``tp`` is
    this worker's rank and the number of workers. Raises InputError, and nothing else, for whatever
    is wrong with any of them.
    """
    check_options(context, tp)
    source = read_config(config)
    if isinstance(source, Model):
        if context is not None or scaling is not None:
            key, value = ("context", context) if scaling is None else ("scaling", scaling)
            raise InputError(key, value, "a written table has its geometry already")
        return source.rank(*tp)
    return _read(source, Options(context, scaling)).rank(*tp)


def geometry_of(
    config: Config,
    *,
    name: str | None = None,
    layer: int | None = None,
    context: int | None = None,
    scaling: Mapping[str, Any] | None = None,
    tp: tuple[int, int] = (0, 1),
) -> Geometry:
    """One geometry of ``model_of``: the one called ``name``, that of ``layer``, or the only one."""
    return model_of(config, context=context, scaling=scaling, tp=tp).geometry(name, layer)


def check_options(context: object, tp: object):
    """Raise InputError unless ``context`` is None or a count of tokens and ``tp`` two integers."""
    if context is not None and (type(context) is not int or not 1 <= context < MOST_TOKENS):
        raise InputError("context", context, f"must be an integer from 1 to {MOST_TOKENS - 1}")
    if not isinstance(tp, tuple) or [type(part) for part in tp] != [int, int]:
        raise InputError("tp", tp, "must be a rank and a number of workers")


def _read(values: Mapping[str, Any], options: Options) -> Model:
    whole, warnings = Fields(values), []
    language, model_type = language_part(whole)
    family = family_of(model_type)
    for key, reason in REFUSED_KEYS.items():
        if language.values.get(key) not in (None, False):
            raise InputError(language.name(key), language.values[key], reason)
    vision = vision_geometries(whole, warnings)
    additive = additive_geometries(language, family)
    geometries, layers = dict[str, Geometry | None](additive), ()
    if additive:
        layers = embedding_layers(language, family, list(additive))
    elif not vision or turns(language):
        if not family.known:
            warnings.append(f"model_type = {model_type}: not known; pairs are taken as half-split")
        geometries |= rope_geometries(language, family, options, warnings)
        layers = layer_names(language, family, geometries)
    held = {name: geometry for name, geometry in geometries.items() if geometry is not None}
    if not held and not vision:
        raise InputError("rope_parameters", dict(geometries), "no layer has positions")
    names = {name: DEFAULT if len(held) == 1 else name for name in held}
    named = {names[name]: geometry for name, geometry in held.items()}
    if len(vision) == 1 and not named:
        named, vision = {DEFAULT: next(iter(vision.values()))}, {}
    return Model(
        model_type=whole.text("model_type", default=model_type),
        geometries={**named, **vision},
        layers=tuple(name and names.get(name) for name in layers),
        warnings=tuple(warnings),
    )


def language_part(whole: Fields) -> tuple[Fields, str]:
    """The object that describes the language model, however deep it lies, and its model type."""
    part, model_type = whole, whole.text("model_type", default="")
    while key := next((key for key in LANGUAGE if part.has(key)), None):
        part = part.child(key)
        model_type = part.text("model_type", default=model_type)
    return part, model_type


def turns(language: Fields) -> bool:
    """Whether a part of a model, beside a vision part, has anything to say about rotation."""
    return language.path != "" or language.has(*ROPE_KEYS)


def embedding_layers(config: Fields, family: Family, names: list[str]) -> tuple[str, ...]:
    """The geometry that each layer's input carries: encoder layers before decoder layers."""
    if len(names) == 1:
        return tuple(name or names[0] for name in layer_names(config, family, names))
    counts = (config.count(f"{name}_layers", default=0, least=0) for name in names)
    return tuple(name for name, count in zip(names, counts, strict=True) for _ in range(count))
