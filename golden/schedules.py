# SPDX-License-Identifier: Apache-2.0
"""The frequency schedules of RoPE, in 60-digit decimal arithmetic; ``yarn`` has its own.

Each schedule is a function of ``theta`` (the base), ``dim`` (the rotary dimension, even) and
keywords named as the keys of ``rope_parameters``, and gives a ``Schedule``. Numbers are
``Decimal``; ω is a pair's frequency in radians a position, ω_i = θ^(-2i/dim) where nothing scales
it. The functions trust their arguments: ``rope_types`` checks them. ``decimal`` gives the same
digits on every machine, which libm's ``pow`` does not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from functools import wraps
from typing import ParamSpec, TypeVar

__all__ = [
    "TURN",
    "TWO_PI",
    "Schedule",
    "at_full_precision",
    "default",
    "dynamic",
    "increment",
    "ladder",
    "linear",
    "llama3",
    "longrope",
    "ntk",
    "ntk_theta",
    "proportional",
    "qwen_dynamic",
]

CONTEXT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
TWO_PI = Decimal("6.28318530717958647692528676655900576839433879875021164194988918461563281")
ONE = Decimal(1)
TURN = 1 << 48

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Schedule:
    """What a schedule decides: ω of each pair and the amplitude on both cosine and sine."""

    inv_freq: tuple[Decimal, ...]
    attention_factor: Decimal = ONE


def at_full_precision(function: Callable[P, R]) -> Callable[P, R]:
    """Run ``function`` in the decimal context of this module."""

    @wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with localcontext(CONTEXT):
            return function(*args, **kwargs)

    return wrapper


@at_full_precision
def increment(inv_freq: Decimal) -> int:
    """The nearest 2^-48 turn to one position's turn of a pair, without whole turns."""
    return round(inv_freq / TWO_PI * TURN) % TURN


@at_full_precision
def ladder(theta: Decimal, dim: int, pairs: int | None = None) -> tuple[Decimal, ...]:
    """θ^(-2i/dim) for i = 0 … ``pairs`` - 1 (default dim/2)."""
    step = theta.ln() * -2 / dim
    return tuple((step * i).exp() for i in range(dim // 2 if pairs is None else pairs))


def default(theta: Decimal, dim: int) -> Schedule:
    """ω_i, unscaled. Source: Su et al., RoFormer (arXiv 2104.09864), section 3.2.2."""
    return Schedule(ladder(theta, dim))


@at_full_precision
def linear(theta: Decimal, dim: int, *, factor: Decimal) -> Schedule:
    """ω_i/s: position interpolation. Source: Chen et al. (arXiv 2306.15595)."""
    return Schedule(tuple(w / factor for w in ladder(theta, dim)))


@at_full_precision
def ntk_theta(theta: Decimal, dim: int, *, factor: Decimal) -> Schedule:
    """The base raised to θ·s^(dim/(dim-2)), so that the slowest pair slows down by exactly s.

    Source: bloc97's "NTK-aware scaled RoPE"; with ``alpha`` for s it is HunYuan's.
    """
    return Schedule(ladder(theta * factor ** (Decimal(dim) / (dim - 2)), dim))


def dynamic(
    theta: Decimal, dim: int, *, factor: Decimal, max_position_embeddings: int, context: int
) -> Schedule:
    """NTK-aware with s growing with the declared context n: θ·(s·n/L - (s - 1))^(dim/(dim-2)).

    Unchanged for n ≤ L. Source: transformers, ``_compute_dynamic_ntk_parameters``, there with the
    longest n met so far; here n is declared, and the same n always gives the same frequencies.
    """
    stretch = dynamic_stretch(factor, Decimal(max_position_embeddings), Decimal(context))
    return ntk_theta(theta, dim, factor=stretch)


@at_full_precision
def dynamic_stretch(factor: Decimal, trained: Decimal, context: Decimal) -> Decimal:
    """s·n/L - (s - 1) with n no less than L."""
    return factor * max(context, trained) / trained - (factor - 1)


def qwen_dynamic(theta: Decimal, dim: int, *, seq_length: int, context: int) -> Schedule:
    """Qwen-1's steps: α = max(1, 2^ceil(log2(n/L0) + 1) - 1) in place of the NTK factor.

    Source: ``QWenModel.get_ntk_alpha``; n is the length at prefill.
    """
    doublings = 0
    while seq_length << doublings < context:
        doublings += 1
    alpha = (1 << doublings + 1) - 1 if context > seq_length else 1
    return ntk_theta(theta, dim, factor=Decimal(alpha))


@at_full_precision
def ntk(theta: Decimal, dim: int, *, factor: Decimal, mixed_b: Decimal | None = None) -> Schedule:
    """The fixed NTK of Su Jianlin and vLLM: ω_i·s^(-2(i+1)/dim), or mixed by ``mixed_b``.

    Mixed: ω_i·exp(-a·(i+1)^b), a = ln s/(dim/2)^b. Source: kexue.fm/archives/9706.
    """
    b = ONE if mixed_b is None else mixed_b
    a = factor.ln() / (Decimal(dim) / 2) ** b
    return Schedule(
        tuple(w * (-a * Decimal(i + 1) ** b).exp() for i, w in enumerate(ladder(theta, dim)))
    )


@at_full_precision
def llama3(
    theta: Decimal,
    dim: int,
    *,
    factor: Decimal,
    low_freq_factor: Decimal,
    high_freq_factor: Decimal,
    original_max_position_embeddings: int,
) -> Schedule:
    """Llama 3.1's bands: fast pairs stay, slow ones are divided by s, between them by frequency.

    With equal band edges (Llama-4 Scout) it is a hard switch. Source: transformers,
    ``_compute_llama3_parameters``.
    """

    def scaled(w: Decimal) -> Decimal:
        turns = original_max_position_embeddings * w / TWO_PI
        if turns > high_freq_factor:
            return w
        if turns < low_freq_factor:
            return w / factor
        band = high_freq_factor - low_freq_factor
        smooth = (turns - low_freq_factor) / band if band else ONE
        return w * ((1 - smooth) / factor + smooth)

    return Schedule(tuple(map(scaled, ladder(theta, dim))))


@at_full_precision
def longrope(
    theta: Decimal,
    dim: int,
    *,
    short_factor: Sequence[Decimal],
    long_factor: Sequence[Decimal],
    factor: Decimal,
    original_max_position_embeddings: int,
    context: int,
    attention_factor: Decimal | None = None,
    short_mscale: Decimal | None = None,
    long_mscale: Decimal | None = None,
) -> Schedule:
    """ω_i divided by a searched factor a pair, from the long list where the context passes L0.

    The amplitude is the given one, else PhiMoE's of the list in use, else √(1 + ln s/ln L0).
    Source: Ding et al. (arXiv 2402.13753); transformers, ``_compute_longrope_parameters``.
    """
    long = context > original_max_position_embeddings
    divisors = long_factor if long else short_factor
    amplitude = attention_factor
    if amplitude is None:
        amplitude = long_mscale if long else short_mscale
    if amplitude is None and factor > 1:
        amplitude = (1 + factor.ln() / Decimal(original_max_position_embeddings).ln()).sqrt()
    bases = ladder(theta, dim)
    frequencies = tuple(w / f for w, f in zip(bases, divisors, strict=True))
    return Schedule(frequencies, ONE if amplitude is None else amplitude)


@at_full_precision
def proportional(
    theta: Decimal, dim: int, *, partial_rotary_factor: float, factor: Decimal = ONE
) -> Schedule:
    """p-RoPE: the leading pairs of the whole head turn, the others stand still.

    Source: Gemma 4, transformers' ``_compute_proportional_rope_parameters``.
    """
    turning = int(partial_rotary_factor * dim // 2)
    bases = (w / factor for w in ladder(theta, dim, turning))
    return Schedule((*bases, *[Decimal(0)] * (dim // 2 - turning)))
