# SPDX-License-Identifier: Apache-2.0
"""YaRN, its forerunner and its variants: schedules that treat fast and slow pairs differently.

A ramp ρ over the pairs, 0 where a pair turns often within the original context and 1 where it
hardly turns once, blends the frequency ω_i with ω_i/s. Conventions are those of ``schedules``.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext

from .schedules import CONTEXT, ONE, TWO_PI, Schedule, at_full_precision, ladder, ntk_theta

__all__ = [
    "dynamic_yarn",
    "ntk_by_parts",
    "theta_scale",
    "yarn",
    "yarn_gain",
    "yarn_log",
    "yarn_range",
]


@at_full_precision
def yarn_gain(factor: Decimal, mscale: Decimal = ONE, slope: Decimal = Decimal("0.1")) -> Decimal:
    """YaRN's gain g(s, k) = 0.1·k·ln s + 1, and 1 for s ≤ 1 (arXiv 2309.00071, eq. 22)."""
    return slope * mscale * factor.ln() + 1 if factor > 1 else ONE


@at_full_precision
def correction_range(
    theta: Decimal, dim: int, length: int, rotations: tuple[Decimal, Decimal], *, truncate: bool
) -> tuple[Decimal, Decimal]:
    """The pairs that make ``rotations`` (more, fewer) turns over ``length`` positions."""

    def pair(turns: Decimal) -> Decimal:
        return dim * (length / (turns * TWO_PI)).ln() / (2 * theta.ln())

    low, high = map(pair, rotations)
    if truncate:
        low = low.to_integral_value(ROUND_FLOOR)
        high = high.to_integral_value(ROUND_CEILING)
    low, high = max(low, Decimal(0)), min(high, Decimal(dim - 1))
    return low, high + Decimal("0.001") if low == high else high


@at_full_precision
def ramp(span: tuple[Decimal, Decimal], pairs: int) -> tuple[Decimal, ...]:
    """0 up to ``span``'s low pair, 1 from its high pair, linear between."""
    low, high = span
    return tuple(min(max((i - low) / (high - low), Decimal(0)), ONE) for i in range(pairs))


def yarn_range(
    theta: Decimal,
    dim: int,
    *,
    original_max_position_embeddings: int,
    beta_fast: Decimal = Decimal(32),
    beta_slow: Decimal = ONE,
    truncate: bool = True,
) -> tuple[Decimal, Decimal]:
    """The ends of YaRN's ramp: untouched up to the low pair, divided by s from the high one."""
    rotations = beta_fast, beta_slow
    return correction_range(
        theta, dim, original_max_position_embeddings, rotations, truncate=truncate
    )


@at_full_precision
def yarn(
    theta: Decimal,
    dim: int,
    *,
    factor: Decimal,
    original_max_position_embeddings: int,
    beta_fast: Decimal = Decimal(32),
    beta_slow: Decimal = ONE,
    truncate: bool = True,
    extrapolation_factor: Decimal = ONE,
    attention_factor: Decimal,
) -> Schedule:
    """NTK-by-parts with one ramp and an amplitude (arXiv 2309.00071, section 3.4).

    Source of the details: transformers, ``_compute_yarn_parameters``; the clamp at dim - 1 is
    meant.
    """
    span = yarn_range(
        theta,
        dim,
        original_max_position_embeddings=original_max_position_embeddings,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
        truncate=truncate,
    )
    bases = ladder(theta, dim)
    kept = (extrapolation_factor * (1 - rho) for rho in ramp(span, len(bases)))
    blended = tuple(w / factor * (1 - k) + w * k for w, k in zip(bases, kept, strict=True))
    return Schedule(blended, attention_factor)


def dynamic_yarn(
    theta: Decimal,
    dim: int,
    *,
    original_max_position_embeddings: int,
    context: int,
    beta_fast: Decimal = Decimal(32),
    beta_slow: Decimal = ONE,
) -> Schedule:
    """YaRN with s = n/L0 at the declared context n (jquesnelle/yarn, ``DynamicYaRNScaled``)."""
    with localcontext(CONTEXT):
        factor = max(Decimal(context) / original_max_position_embeddings, ONE)
    return yarn(
        theta,
        dim,
        factor=factor,
        original_max_position_embeddings=original_max_position_embeddings,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
        attention_factor=yarn_gain(factor),
    )


@at_full_precision
def yarn_log(
    theta: Decimal,
    dim: int,
    *,
    factor: Decimal,
    original_max_position_embeddings: int,
    beta_fast: Decimal = Decimal(32),
    beta_slow: Decimal = ONE,
) -> Schedule:
    """Grok's YaRN: the ramp blends logarithms, ω_i·s^(-ρ_i), and the amplitude stays 1."""
    span = yarn_range(
        theta,
        dim,
        original_max_position_embeddings=original_max_position_embeddings,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
    )
    bases, log_factor = ladder(theta, dim), factor.ln()
    rhos = ramp(span, len(bases))
    return Schedule(
        tuple(w * (-rho * log_factor).exp() for w, rho in zip(bases, rhos, strict=True))
    )


@at_full_precision
def theta_scale(
    theta: Decimal, dim: int, *, factor: Decimal, original_max_position_embeddings: int
) -> Schedule:
    """Grok's base: θ^(ln(L0·s/2π)/ln(L0/2π))."""
    turns = original_max_position_embeddings / TWO_PI
    return Schedule(ladder(theta ** ((turns * factor).ln() / turns.ln()), dim))


@at_full_precision
def ntk_by_parts(
    theta: Decimal,
    dim: int,
    *,
    factor: Decimal,
    original_max_position_embeddings: int,
    ntk_factor: Decimal = ONE,
    extrapolation_factor: Decimal = ONE,
) -> Schedule:
    """YaRN's forerunner: one ramp from NTK to linear, one from unscaled to that.

    Source: jquesnelle/yarn, ``LlamaPartNTKScaledRotaryEmbedding``, with its constants.
    """

    def kept(rotations: tuple[str, str], weight: Decimal) -> list[Decimal]:
        more, fewer = map(Decimal, rotations)
        length = original_max_position_embeddings
        span = correction_range(theta, dim, length, (more, fewer), truncate=True)
        return [weight * (1 - rho) for rho in ramp(span, dim // 2)]

    bases = ladder(theta, dim)
    stretched = ntk_theta(theta, dim, factor=factor).inv_freq
    to_ntk, to_base = kept(("1.25", "0.75"), ntk_factor), kept(("16", "2"), extrapolation_factor)
    parts = zip(bases, stretched, to_ntk, to_base, strict=True)
    return Schedule(tuple((w / factor * (1 - n) + v * n) * (1 - b) + w * b for w, v, n, b in parts))
