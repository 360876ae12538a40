# SPDX-License-Identifier: Apache-2.0
"""Every ``rope_type``: the keys it reads, the rules they obey and the schedule they give."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from . import rope_readers as read
from . import schedules, yarn
from .errors import InputError
from .fields import Fields
from .rope_readers import ORIGINAL, Reader, Request
from .schedules import Schedule

__all__ = ["GEOMETRY_KEYS", "ROPE_TYPES", "Resolved", "resolve", "rope_type_of"]

# Keys beside a scaling that describe the geometry it scales, and outlive another scaling.
GEOMETRY_KEYS = {
    "rope_theta",
    "partial_rotary_factor",
    "mrope_section",
    "mrope_interleaved",
    "mrope_interleaved_glm",
    "xdrope_section",
    "llama_4_scaling_beta",
}
# Written beside a scaling by published files, and no part of it.
METADATA_KEYS = {
    "type",
    "rope_type",
    "finetuned",
    "use_mrope",
    "rope_interleave",
    "rope_interleaved",
}
LARGEST_POSITION = (1 << 32) - 1
TYPED_KEYS = {
    "factor",
    "alpha",
    "short_factor",
    "long_factor",
    "low_freq_factor",
    "high_freq_factor",
}
REFUSED = {
    "fope": "mixes sinusoids into each angle, which is no rotation",
    "dual_chunk": "gives a query several positions at once",
}


@dataclass(frozen=True)
class Resolved:
    """A schedule with the type and parameters that gave it."""

    rope_type: str
    parameters: Mapping[str, Any]
    schedule: Schedule

    def as_dict(self, theta: Decimal) -> dict[str, Any]:
        """The parameters that decided, the defaults among them, as JSON values."""
        values = {"rope_theta": theta, **self.parameters}
        return {"rope_type": self.rope_type} | {k: _plain(v) for k, v in values.items()}

    def context(self, trained: int) -> int:
        """The tokens the frequencies are good for, given L: they may follow the declared context.

        Longrope's short list serves L0; YaRN's stretch serves s·L0 where that exceeds L.
        """
        declared, original = (self.parameters.get(key, 0) for key in ("context", ORIGINAL))
        if self.rope_type == "longrope":
            return trained or declared if declared > original else original
        if ROPE_TYPES[self.rope_type].stretches:
            stretched = int(original * self.parameters["factor"])
            return max(trained, min(stretched, LARGEST_POSITION))
        return max(declared, trained)


def _plain(value: Any) -> Any:
    """A decimal as the int or float it stands for, a tuple as a list."""
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


@dataclass(frozen=True)
class RopeType:
    """A schedule, how each of its parameters is read, and keys whose presence means another type.

    A reader that gives None leaves the parameter to the schedule's own default. ``stretches`` says
    that positions up to factor · L0 are within the trained context; ``name`` is what the type is
    called where another's key led to it.
    """

    schedule: Callable[..., Schedule]
    readers: Mapping[str, Reader] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)
    least_dim: int = 2
    stretches: bool = False
    name: str = ""


ORIGINAL_STATED: dict[str, Reader] = {ORIGINAL: read.stated_original}
FACTOR: dict[str, Reader] = {"factor": read.factor}
BETAS: dict[str, Reader] = {"beta_fast": read.beta_fast, "beta_slow": read.beta_slow}
YARN: dict[str, Reader] = {
    "factor": read.yarn_factor,
    ORIGINAL: read.original,
    **BETAS,
    "truncate": lambda request: request.fields.flag("truncate", default=True),
    "extrapolation_factor": read.positive("extrapolation_factor", default=1),
    "attention_factor": read.amplitude,
}
TELECHAT_SLOPE = Decimal("0.07")

ROPE_TYPES: dict[str, RopeType] = {
    "default": RopeType(schedules.default),
    "mrope": RopeType(schedules.default),
    "xdrope": RopeType(schedules.default, instead={"alpha": "alpha"}),
    "linear": RopeType(schedules.linear, FACTOR),
    "dynamic": RopeType(
        schedules.dynamic,
        {**FACTOR, "max_position_embeddings": read.trained, "context": read.declared},
        instead={"alpha": "alpha"},
        least_dim=4,
    ),
    "alpha": RopeType(
        lambda theta, dim, alpha: schedules.ntk_theta(theta, dim, factor=alpha),
        {"alpha": lambda request: request.fields.number("alpha", least=1, most=1e9)},
        least_dim=4,
    ),
    "qwen_dynamic": RopeType(
        schedules.qwen_dynamic,
        {"seq_length": read.trained, "context": read.declared},
        least_dim=4,
    ),
    "ntk": RopeType(
        schedules.ntk,
        {**FACTOR, "mixed_b": read.optional(read.positive("mixed_b", most=10), "mixed_b")},
    ),
    "ntk_theta": RopeType(schedules.ntk_theta, FACTOR, least_dim=4),
    "ntk_by_parts": RopeType(
        yarn.ntk_by_parts,
        {
            **FACTOR,
            **ORIGINAL_STATED,
            "ntk_factor": read.positive("ntk_factor", default=1),
            "extrapolation_factor": read.positive("extrapolation_factor", default=1),
        },
        least_dim=4,
    ),
    "yarn": RopeType(yarn.yarn, YARN, instead={"short_factor": "longrope"}, stretches=True),
    "deepseek_yarn": RopeType(
        yarn.yarn,
        {**YARN, "truncate": lambda _: True, "attention_factor": read.deepseek_amplitude},
        stretches=True,
    ),
    "telechat3-yarn": RopeType(
        yarn.yarn,
        {**YARN, "attention_factor": lambda request: read.amplitude(request, TELECHAT_SLOPE)},
        stretches=True,
    ),
    "dynamic_yarn": RopeType(
        yarn.dynamic_yarn, {**ORIGINAL_STATED, "context": read.declared, **BETAS}
    ),
    "yarn_log": RopeType(yarn.yarn_log, {**FACTOR, **ORIGINAL_STATED, **BETAS}),
    "theta_scale": RopeType(yarn.theta_scale, {**FACTOR, **ORIGINAL_STATED}),
    "longrope": RopeType(
        schedules.longrope,
        {
            "short_factor": read.divisors("short_factor"),
            "long_factor": read.divisors("long_factor"),
            "factor": read.factor_or_ratio,
            ORIGINAL: read.original,
            "context": read.declared,
            **{
                key: read.optional(read.positive(key), key)
                for key in ("attention_factor", "short_mscale", "long_mscale")
            },
        },
        name="longrope",
    ),
    "llama3": RopeType(
        schedules.llama3,
        {
            **FACTOR,
            "low_freq_factor": read.positive("low_freq_factor"),
            "high_freq_factor": read.band_edge,
            **ORIGINAL_STATED,
        },
    ),
    "proportional": RopeType(
        schedules.proportional,
        {
            "partial_rotary_factor": lambda request: request.partial,
            "factor": read.positive("factor", default=1),
        },
    ),
}
ALIASES = {
    "su": "longrope",
    "ntk-by-parts": "ntk_by_parts",
    "dynamic-yarn": "dynamic_yarn",
    "telechat3_yarn": "telechat3-yarn",
    "ntk_alpha": "alpha",
    "ntk-alpha": "alpha",
}


def rope_type_of(fields: Fields) -> tuple[str, str]:
    """The name of the key that holds the type, and the type; "default" where none stands."""
    for key in ("rope_type", "type"):
        if fields.has(key):
            return fields.name(key), fields.text(key)
    for key in fields:
        if key in TYPED_KEYS:
            raise InputError(fields.name(key), fields.values[key], "needs a rope_type beside it")
    return fields.name("rope_type"), "default"


def resolve(request: Request) -> Resolved:
    """Read a scaling and compute its schedule.

    Raises InputError for a type or a value that is not known, and where a type needs the declared
    context and there is none. Keys that the type does not read leave a warning.
    """
    name, given = rope_type_of(request.fields)
    canonical = ALIASES.get(given, given)
    if canonical in REFUSED:
        raise InputError(name, given, REFUSED[canonical])
    if canonical not in ROPE_TYPES:
        raise InputError(name, given, f"must be one of {', '.join(ROPE_TYPES)}")
    kind = ROPE_TYPES[canonical]
    for key, other in kind.instead.items():
        kind = ROPE_TYPES[other] if request.fields.has(key) else kind
    canonical = kind.name or canonical
    if request.dim < kind.least_dim:
        rule = f"{canonical} needs a rotary dimension of at least {kind.least_dim}"
        raise InputError(name, given, rule)
    values = {key: reader(request) for key, reader in kind.readers.items()}
    arguments = {key: value for key, value in values.items() if value is not None}
    _warn_of_unread(request, canonical, {*arguments, "mscale", "mscale_all_dim", "attn_factor"})
    schedule = kind.schedule(request.theta, request.dim, **arguments)
    return Resolved(canonical, arguments, schedule)


def _warn_of_unread(request: Request, rope_type: str, known: set[str]):
    for key in request.fields:
        if key in known | GEOMETRY_KEYS | METADATA_KEYS:
            continue
        value = request.fields.values[key]
        if isinstance(value, Mapping):
            rule = "one layer type's parameters stand beside other layer types' only"
            raise InputError(request.fields.name(key), dict(value), rule)
        request.warn(key, value, f"{rope_type} does not read this key")
