# SPDX-License-Identifier: Apache-2.0
"""How each parameter of a rope scaling is read, and the rules it obeys."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from .errors import InputError
from .fields import Fields
from .schedules import ONE, at_full_precision
from .yarn import yarn_gain

__all__ = [
    "ORIGINAL",
    "Reader",
    "Request",
    "amplitude",
    "band_edge",
    "beta_fast",
    "beta_slow",
    "declared",
    "deepseek_amplitude",
    "divisors",
    "factor",
    "factor_or_ratio",
    "optional",
    "original",
    "positive",
    "stated_original",
    "trained",
    "yarn_factor",
]

ORIGINAL = "original_max_position_embeddings"
# A turn of the fastest pair, 2π positions, has to fit the original context.
LEAST_ORIGINAL = 7


@dataclass(frozen=True)
class Request:
    """What a schedule may depend on.

    ``fields`` is the scaling's object; ``dim`` the rotary dimension (for p-RoPE the head's, of
    which ``partial`` turns); ``trained`` the config's L (0: not stated), ``context`` the declared
    length or None; ``original_in`` are the objects that may hold L0, the first one first.
    """

    fields: Fields
    theta: Decimal
    dim: int
    partial: float = 1.0
    trained: int = 0
    context: int | None = None
    original_in: tuple[Fields, ...] = ()
    warnings: list[str] = field(default_factory=list)

    def warn(self, key: str, value: object, note: str):
        """Leave a line for the user."""
        self.warnings.append(str(InputError(self.fields.name(key), value, note)))


Reader = Callable[[Request], Any]


def positive(key: str, *, default: float | None = None, most: float = 1e6) -> Reader:
    """A number above 0 that has to be there, or has a default."""
    return lambda request: request.fields.number(key, default=default, above=True, most=most)


def optional(reader: Reader, key: str) -> Reader:
    """``reader`` where the key is there, else the schedule's own default."""
    return lambda request: reader(request) if request.fields.has(key) else None


def factor(request: Request) -> Decimal:
    """The stretch s ≥ 1."""
    return request.fields.number("factor", least=1, most=1e6)


@at_full_precision
def factor_or_ratio(request: Request) -> Decimal:
    """The stretch s, L/L0 where it is null or absent."""
    if request.fields.has("factor"):
        return factor(request)
    ratio = trained(request) / Decimal(original(request))
    if ratio < 1:
        raise InputError(request.fields.name("factor"), None, "must be given where L0 exceeds L")
    return ratio


def yarn_factor(request: Request) -> Decimal:
    """The stretch s, where null L/L0; the key has to be there."""
    present = "factor" in request.fields.values and original_stated(request)
    return factor_or_ratio(request) if present else factor(request)


def trained(request: Request) -> int:
    """L: the config's own length."""
    if not request.trained:
        raise InputError("max_position_embeddings", None, "must be given")
    return request.trained


def declared(request: Request) -> int:
    """n: the declared total context."""
    if request.context is None:
        raise InputError(
            "context", None, "must be declared for this scaling: --context N, in tokens"
        )
    return request.context


def original(request: Request) -> int:
    """L0; where it is not stated, L with a warning."""
    source = next((fields for fields in request.original_in if fields.has(ORIGINAL)), None)
    if source is not None:
        return source.count(ORIGINAL, least=LEAST_ORIGINAL)
    length = trained(request)
    request.warn(ORIGINAL, None, f"not given, max_position_embeddings = {length} is taken")
    return length


def original_stated(request: Request) -> bool:
    """Whether L0 is stated anywhere it counts."""
    return any(fields.has(ORIGINAL) for fields in request.original_in)


def stated_original(request: Request) -> int:
    """L0, which has to be stated."""
    return original(request) if original_stated(request) else request.fields.count(ORIGINAL)


def beta_slow(request: Request) -> Decimal:
    """The turns over L0 of the pair that is fully interpolated; 0, like null, means 1."""
    return request.fields.number("beta_slow", default=1, most=1e6) or ONE


def beta_fast(request: Request) -> Decimal:
    """The turns over L0 of the first pair that is touched; 0, like null, means 32."""
    value = request.fields.number("beta_fast", default=32, most=1e6) or Decimal(32)
    if value < beta_slow(request):
        rule = f"must be no less than beta_slow = {beta_slow(request)}"
        raise InputError(request.fields.name("beta_fast"), float(value), rule)
    return value


def band_edge(request: Request) -> Decimal:
    """Llama 3's high_freq_factor, no less than the low one."""
    low = positive("low_freq_factor")(request)
    return request.fields.number("high_freq_factor", least=float(low), most=1e6)


def divisors(key: str) -> Reader:
    """One factor a pair, rounded to float32 as every engine does before it divides."""

    def read(request: Request) -> tuple[Decimal, ...]:
        values = request.fields.numbers(key, least=1e-3, most=1e6)
        if 2 * len(values) != request.dim:
            rule = f"must hold {request.dim // 2} factors, one a pair"
            raise InputError(request.fields.name(key), f"{len(values)} factors", rule)
        return tuple(Decimal(float32(float(value))) for value in values)

    return read


def float32(value: float) -> float:
    """The nearest float32."""
    return struct.unpack("f", struct.pack("f", value))[0]


@at_full_precision
def amplitude(request: Request, slope: Decimal = Decimal("0.1")) -> Decimal:
    """YaRN's m: given whole, else by mscale over mscale_all_dim, else by s; times ``attn_factor``.

    ``attn_factor`` is the older engines' key. Source: transformers, ``_compute_yarn_parameters``.
    """
    if request.fields.has("attention_factor"):
        return positive("attention_factor")(request)
    read = request.fields.number
    s, m, m_all = yarn_factor(request), read("mscale", default=0), read("mscale_all_dim", default=0)
    gain = (
        yarn_gain(s, m, slope) / yarn_gain(s, m_all, slope)
        if m and m_all
        else yarn_gain(s, ONE, slope)
    )
    return gain * read("attn_factor", default=1, above=True)


@at_full_precision
def deepseek_amplitude(request: Request) -> Decimal:
    """The remote code's m: g(s, mscale, by default 1)/g(s, mscale_all_dim, by default 0)."""
    if request.fields.has("attention_factor"):
        return positive("attention_factor")(request)
    read, s = request.fields.number, yarn_factor(request)
    return yarn_gain(s, read("mscale", default=1)) / yarn_gain(s, read("mscale_all_dim", default=0))
