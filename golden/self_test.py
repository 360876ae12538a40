# SPDX-License-Identifier: Apache-2.0
"""The self-test's stimulus and signature, as the hardware makes them at full speed.

Every lane, two elements of a beat, has a word of 32 bits of its own: a window of a sequence in
which bit n + 32 is the exclusive or of bits n, n + 2, n + 6 and n + 7 (x³² + x⁷ + x⁶ + x² + 1,
primitive). A stimulus moves on by 16 bits a beat; its word's lowest bits are the lane's first
element, its highest ones the second. A signature moves on by one bit a beat of results, and takes
their word in by exclusive or. Both are linear, so runs of beats are joined by moving signatures on.
"""

import numpy as np

from .adder_parameters import AdderParameters
from .additive import LAYOUTS, SinusoidalGeometry
from .core_parameters import CoreParameters
from .errors import InputError
from .geometry import Geometry, RopeGeometry
from .parameters import RopeParameters
from .rotation import rope
from .sinusoidal import add_sinusoidal
from .table import PhaseTable
from .words import word_type

__all__ = [
    "LEAP",
    "MOST_BEATS",
    "MOST_TOKENS",
    "POLYNOMIAL",
    "Held",
    "advanced",
    "expected_signature",
    "lane_seeds",
    "lane_words",
    "signature",
    "step",
    "stimulus",
    "token_beats",
]

POLYNOMIAL = 1 << 32 | 1 << 7 | 1 << 6 | 1 << 2 | 1
LEAP = 16  # bits that a stimulus moves on by
MOST_TOKENS, MOST_BEATS = (1 << 24) - 1, (1 << 16) - 1
GOLDEN_RATIO = 0x9E3779B9  # in 32 bits; its multiples are far apart
BLOCK_ELEMENTS = 1 << 22

Held = PhaseTable | SinusoidalGeometry
"""What a slot holds whose tokens can be tested."""


def step(words, bits: int):
    """Windows of the sequence, ``bits`` ≤ 25 further on; integers or an array of uint32."""
    fed = words >> 7 ^ words >> 6 ^ words >> 2 ^ words
    return words >> bits | (fed & (1 << bits) - 1) << 32 - bits


def advanced(words: np.ndarray, bits: int) -> np.ndarray:
    """Windows any number of bits further on: a polynomial in the step by one bit."""
    result, power = np.zeros_like(words), _power(bits)
    for digit in range(32):
        if power >> digit & 1:
            result ^= words
        words = step(words, 1)
    return result


def _power(bits: int) -> int:
    """The power ``bits`` of x, modulo the polynomial."""
    result = 1
    for digit in f"{bits:b}":
        square = sum(1 << 2 * n for n in range(32) if result >> n & 1) << int(digit)
        for high in range(63, 31, -1):
            square ^= (square >> high & 1) * POLYNOMIAL << high - 32
        result = square
    return result


def lane_seeds(lanes: int, seed: int) -> np.ndarray:
    """The words that lanes begin with, uint32 [lanes]."""
    apart = np.arange(1, lanes + 1, dtype=np.uint64) * np.uint64(GOLDEN_RATIO)
    return apart.astype(np.uint32) ^ np.uint32(seed)


def stimulus(p: CoreParameters, words: np.ndarray, tokens: int, beats: int) -> np.ndarray:
    """Tokens from where ``words`` [lanes] stand: signed, or words of floats, [tokens, elements]."""
    lanes = len(words)
    starts = words[None]
    while len(starts) < tokens:
        starts = np.concatenate([starts, advanced(starts, LEAP * beats * len(starts))])
    state = starts[:tokens]
    found = np.empty((tokens, beats, lanes, 2), np.uint32)
    spare = 32 - p.data_bits
    for beat in range(beats):
        found[:, beat, :, 0], found[:, beat, :, 1] = state << spare, state
        state = step(state, LEAP)
    signed = found.view(np.int32) >> spare
    return signed.astype(word_type(p.data_bits)).reshape(tokens, -1)


def lane_words(p: CoreParameters, elements: np.ndarray) -> np.ndarray:
    """What a signature takes in of results [tokens, elements]: uint32 [tokens, beats, lanes]."""
    mask, shift = np.uint32((1 << p.output_bits) - 1), np.uint32(32 - p.output_bits)
    pairs = elements.reshape(len(elements), -1, p.beat_elements // 2, 2)
    words = pairs[..., 1].astype(np.uint32)
    words <<= shift
    words ^= pairs[..., 0].astype(np.uint32) & mask
    return words


def signature(words: np.ndarray) -> np.ndarray:
    """The signature of ``words`` [tokens, beats, lanes], uint32 [lanes], from zero on."""
    state = np.zeros(words[:, 0].shape, np.uint32)
    beats = words.shape[1]
    for beat in range(beats):
        state = step(state, 1) ^ words[:, beat]
    while len(state) > 1:
        if len(state) % 2:  # zeros before the first change nothing
            state = np.concatenate([np.zeros_like(state[:1]), state])
        state, beats = advanced(state[::2], beats) ^ state[1::2], 2 * beats
    return state[0]


def token_beats(p: CoreParameters, geometry: Geometry | PhaseTable) -> int:
    """Beats of a token of that geometry. Raises InputError where the core cannot take any."""
    return _elements(p, _held(p, geometry)) // p.beat_elements


def expected_signature(
    p: CoreParameters,
    geometry: Geometry | PhaseTable,
    tokens: int,
    *,
    seed: int = 0,
    base: int = 0,
) -> tuple[int, ...]:
    """What a self-test is to end with, a word a lane.

    ``tokens`` have positions ``base`` and on, and pass a slot that holds ``geometry``, one of
    rotations or of sinusoids. Raises InputError where the core has no such unit, or for what a
    register cannot hold.
    """
    for name, value, low, most in (
        ("tokens", tokens, 1, MOST_TOKENS),
        ("seed", seed, 0, 0xFFFF_FFFF),
    ):
        if not low <= value <= most:
            raise InputError(name, value, f"must be from {low} to {most}")
    held = _held(p, geometry)
    elements = _elements(p, held)
    beats = elements // p.beat_elements
    words = lane_seeds(p.beat_elements // 2, seed)
    total = np.zeros_like(words)
    block = max(1, BLOCK_ELEMENTS // elements)
    for start in range(0, tokens, block):
        count = min(block, tokens - start)
        data = stimulus(p, words, count, beats)
        results = _results(p, held, data, base + start + np.arange(count))
        total = advanced(total, count * beats) ^ signature(lane_words(p, results))
        words = advanced(words, LEAP * count * beats)
    return tuple(total.tolist())


def _held(p: CoreParameters, geometry: Geometry | PhaseTable) -> Held:
    """What the slot holds; InputError where no unit takes it."""
    held = geometry.table() if isinstance(geometry, RopeGeometry) else geometry
    match held, p.rope, p.sinusoidal:
        case PhaseTable(), RopeParameters() as engine, _:
            engine.check_serves(held)
            return held
        case SinusoidalGeometry(), _, AdderParameters() as adder:
            adder.check_serves(held.width, halves=held.layout != LAYOUTS[0])
            return held
    scheme = "rope" if isinstance(held, PhaseTable) else held.scheme
    raise InputError("scheme", scheme, "must be of rotations or sinusoids that the core has")


def _elements(p: CoreParameters, held: Held) -> int:
    rows = held.pattern.heads * held.head_dim if isinstance(held, PhaseTable) else held.width
    most = MOST_BEATS * p.beat_elements
    if rows > most:
        raise InputError("elements", rows, f"of a token must be at most {most}")
    return rows


def _results(p: CoreParameters, held: Held, data: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """What the core makes of tokens [tokens, elements]."""
    half = 1 << p.position_bits - 1
    at = (positions + half) % (2 * half) - half
    match held, p.rope, p.sinusoidal:
        case PhaseTable(), RopeParameters() as engine, _:
            heads = data.reshape(len(data), held.pattern.heads, held.head_dim)
            return rope(engine, held, heads, np.tile(at[:, None], p.axes))[0].reshape(data.shape)
        case SinusoidalGeometry(), _, AdderParameters() as adder:
            return add_sinusoidal(adder, held, data, at)[0]
    raise TypeError(f"no unit takes {held!r}")
