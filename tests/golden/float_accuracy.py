# SPDX-License-Identifier: Apache-2.0
"""Error of rotated bf16 and fp16 pairs; ``python -m tests.golden.float_accuracy`` prints it.

The yardstick is an ulp of the binade of the exact result's larger component, the subnormal spacing
where that is below the normal range. Exact is float64 of the 24-bit phase and the quantised
amplitude. Beside it stands what rounding after every operation loses on the same pairs, as eager
PyTorch does it: cos and sin cast to the format, then two products and a sum, each rounded.
"""

from collections.abc import Iterator

import numpy as np

from ropeway.golden.float_rotation import rotate_floats
from ropeway.golden.floats import FORMATS, FloatFormat
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.sincos import PHASE_BITS, row
from ropeway.golden.table import LARGEST_UNSCALED_CODE, amplitude_code
from tests.golden.accuracy import single_pair

# (code, scale): amplitudes of 1, of checkpoints, and both ends of either range.
AMPLITUDES = (
    (-131072, 0),
    (0, 0),
    amplitude_code(1.1902380714),
    amplitude_code(1.3465736),
    (LARGEST_UNSCALED_CODE, 0),
    amplitude_code(1.4143),
    amplitude_code(2.0),
    amplitude_code(2.8284),
)
BOUNDS = {"bf16": 0.51, "fp16": 0.55}
COUNT = 1 << 18


def joined(floats: FloatFormat, negative, exponent, fraction) -> np.ndarray:
    """Words of their parts; exponents held within those of finite words."""
    exponent = np.clip(exponent, 0, (1 << floats.exponent_bits) - 2)
    return negative << floats.bits - 1 | exponent << floats.fraction_bits | fraction


def kinds_of_pairs(floats: FloatFormat, random: np.random.Generator, count: int) -> dict:
    """Finite pairs [2, count] that make rounding hard, by name."""
    fraction = random.integers(0, 1 << floats.fraction_bits, (2, count))
    negative = random.integers(0, 2, (2, count))
    top = (1 << floats.exponent_bits) - 1
    anywhere = random.integers(0, top, count)
    apart = random.integers(-floats.fraction_bits - 8, floats.fraction_bits + 9, count)
    corners = corner_words(floats)
    return {
        "one binade": joined(floats, negative, anywhere[None], fraction),
        "mixed exponents": joined(
            floats, negative, np.stack([anywhere, anywhere + apart]), fraction
        ),
        "near subnormal": joined(floats, negative, random.integers(0, 4, (2, count)), fraction),
        "any words": joined(floats, negative, random.integers(0, top, (2, count)), fraction),
        "activations": floats.from_float64(random.standard_normal((2, count)) * 3).astype(np.int64),
        "corners": random.choice(corners, (2, count)),
    }


def corner_words(floats: FloatFormat) -> np.ndarray:
    """Finite words at the ends of binades, of the range and of the subnormals."""
    one, step = floats.bias << floats.fraction_bits, 1 << floats.fraction_bits
    edges = np.array([0, step, 2 * step, one, one + step, floats.infinity])
    words = np.unique(np.clip(edges[:, None] + [-2, -1, 0, 1, 2], 0, floats.infinity - 1))
    return np.concatenate([words, words | 1 << floats.bits - 1])


def cancelling(floats, random, cos, sin) -> np.ndarray:
    """Pairs [2, count] whose first result nearly vanishes: x·cos ≈ y·sin."""
    size = np.exp2(random.integers(-3, 4, cos.size).astype(float))
    y = random.uniform(1, 2, cos.size) * size
    with np.errstate(divide="ignore"):
        x = np.clip(y * sin / np.where(cos == 0, 1, cos), -1000, 1000)
    return floats.from_float64(np.stack([x, y])).astype(np.int64)


def batches(floats: FloatFormat, amplitude, count: int, seed: int) -> Iterator[tuple]:
    """Name, pairs, coefficients and exact cos and sin of every kind of pairs."""
    random = np.random.default_rng(seed)
    p = RopeParameters(format=floats.name)
    scale = 2.0 ** amplitude[1] * (1 + amplitude[0] * 2.0**-18)
    quarters = np.arange(4) << PHASE_BITS - 2
    corners = (quarters[:, None] + [-1, 0, 1, 1 << PHASE_BITS - 3]).ravel() % (1 << PHASE_BITS)
    for name in [*kinds_of_pairs(floats, random, 1), "cancelling"]:
        phases = random.integers(0, 1 << PHASE_BITS, count)
        phases[: count // 8] = random.choice(corners, count // 8)
        angle = phases * (2 * np.pi / (1 << PHASE_BITS))
        cos, sin = scale * np.cos(angle), scale * np.sin(angle)
        if name == "cancelling":
            pairs = cancelling(floats, random, cos, sin)
        else:
            pairs = kinds_of_pairs(floats, random, count)[name]
        yield name, pairs, row(p, single_pair(*amplitude), phases[:, None]), cos, sin


def exact(floats: FloatFormat, pairs: np.ndarray, cos, sin) -> np.ndarray:
    """The turned pairs [2, count] in float64."""
    x, y = floats.to_float64(pairs)
    return np.stack([x * cos - y * sin, x * sin + y * cos])


def errors(floats: FloatFormat, found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Of words [2, count], in ulp; infinity counts as the end of the largest binade."""
    end = 2.0 ** (floats.bias + 1)
    values = np.clip(floats.to_float64(found), -end, end)
    wanted = np.clip(wanted, -end, end)
    largest = np.minimum(np.abs(wanted).max(axis=0), np.nextafter(end, 0))
    exponent = np.maximum(np.frexp(largest)[1] - 1, 1 - floats.bias)
    return np.abs(values - wanted) / np.exp2(exponent - float(floats.fraction_bits))


def op_by_op(floats: FloatFormat, pairs: np.ndarray, cos, sin) -> np.ndarray:
    """Words [2, count] that rounding after every operation gives; binary32 inside."""

    def cast(value):
        return floats.to_float64(floats.from_float64(value)).astype(np.float32)

    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        x, y = floats.to_float64(pairs).astype(np.float32)
        cos, sin = cast(cos.astype(np.float32)), cast(sin.astype(np.float32))
        turned = cast(cast(x * cos) + cast(-y * sin)), cast(cast(y * cos) + cast(x * sin))
        return np.stack([floats.from_float64(part) for part in turned])


def worst(floats: FloatFormat, amplitude, count: int, seed: int) -> dict[str, tuple]:
    """By kind of pairs: the engine's largest and mean error, and those of finite words op by op."""
    found = {}
    for name, pairs, coefficients, cos, sin in batches(floats, amplitude, count, seed):
        first, second = pairs[:, :, None, None]
        words, _ = rotate_floats(floats, coefficients, first, second)
        wanted = exact(floats, pairs, cos, sin)
        own = errors(floats, np.stack(words)[:, :, 0, 0], wanted)
        rounded = op_by_op(floats, pairs, cos, sin)
        eager = errors(floats, rounded, wanted)[floats.is_finite(rounded)]
        found[name] = own.max(), own.mean(), eager.max(), eager.mean()
    return found


def main():
    """Print every kind's figures over all amplitudes; 10 million pairs and more a floats."""
    print(f"{'':24} {'engine: worst':>14} {'mean':>7} {'op by op: worst':>16} {'mean':>7}   [ulp]")
    for floats in FORMATS.values():
        each = [worst(floats, code, COUNT, seed) for seed, code in enumerate(AMPLITUDES)]
        print(f"{floats.name}: {len(each) * len(each[0]) * COUNT:,} pairs")
        for name in each[0]:
            table = np.array([found[name] for found in each])
            most, mean = table.max(axis=0), table.mean(axis=0)
            print(f"  {name:22} {most[0]:14.4f} {mean[1]:7.4f} {most[2]:16.2f} {mean[3]:7.4f}")


if __name__ == "__main__":
    main()
