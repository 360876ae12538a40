# SPDX-License-Identifier: Apache-2.0
"""Error of bf16 and fp16 sums; ``python -m tests.golden.float_sum_accuracy`` prints it.

Exact is x · scale + row of the words as they are; the sum must be the one nearest to it, which a
float64 rounded to odd decides. Beside it stands what rounding after every operation loses on the
same terms, as eager PyTorch does it: x · scale rounded, the row cast to the format, their sum
rounded. The yardstick is an ulp of the largest of the sum and its two terms, since rounded terms
that cancel leave nothing of a smaller one.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ropeway.golden.adder import decoded_scale, scale_value, scale_word
from ropeway.golden.float_addition import add_to_floats
from ropeway.golden.floats import FORMATS, FP16, FloatFormat
from ropeway.golden.sinusoidal import ROW_FRACTION_BITS
from ropeway.golden.ulp import ulp_errors
from tests.golden.float_accuracy import corner_words, joined, kinds_of_pairs

SCALES = (1.0, 1.5, 384**0.5, 1 + 2**-17, 255.999, 32767.5)
ONE = 1 << ROW_FRACTION_BITS
COUNT = 1 << 18


class Sums(NamedTuple):
    """Embeddings and rows as words and as values, and the scale as the hardware has it."""

    embeddings: np.ndarray
    rows: np.ndarray
    row_fraction_bits: int | None = None
    scale: int | None = None

    def found(self, floats: FloatFormat) -> tuple[np.ndarray, np.ndarray]:
        """Golden's words, and which overflow."""
        scale = (1, 0)
        if self.scale is not None:
            code, exponent = decoded_scale(self.scale)
            scale = code, exponent - 17
        return add_to_floats(
            floats,
            self.embeddings,
            self.rows,
            scale=scale,
            row_fraction_bits=self.row_fraction_bits,
        )

    def terms(self, floats: FloatFormat) -> tuple[np.ndarray, np.ndarray]:
        """Embeddings · scale and rows in float64, exact."""
        factor = 1.0 if self.scale is None else scale_value(self.scale)
        fixed, rows = self.row_fraction_bits, self.rows
        row = floats.to_float64(rows) if fixed is None else rows / 2.0**fixed
        return floats.to_float64(self.embeddings) * factor, row


def to_odd(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b in float64; what is not exact has an odd last bit, and so rounds on as the exact sum.

    Source: Boldo and Melquiond, Emulation of FMA and correctly rounded sums (2008).
    """
    with np.errstate(invalid="ignore"):
        total = a + b
        back = total - a
        rest = (a - (total - back)) + (b - back)  # Knuth's TwoSum
    even = np.isfinite(total) & (rest != 0) & (total.view(np.int64) & 1 == 0)
    return np.where(even, np.nextafter(total, np.where(rest > 0, np.inf, -np.inf)), total)


def nearest(floats: FloatFormat, values: np.ndarray) -> np.ndarray:
    """The nearest words, by NumPy's own conversion where it has the format."""
    if floats is not FP16:
        return floats.from_float64(values).view(np.int16)
    with np.errstate(over="ignore"):
        words = values.astype(np.float16).view(np.int16)
    return np.where(np.isnan(values), np.int16(FP16.nan), words)


def ties(floats: FloatFormat, random: np.random.Generator, count: int) -> np.ndarray:
    """Pairs [2, count] whose second is near half of the first one's last bit."""
    fraction = random.integers(0, 1 << floats.fraction_bits, (2, count))
    fraction[1] = fraction[1] >> floats.fraction_bits - 1 << floats.fraction_bits - 1
    first = random.integers(1, (1 << floats.exponent_bits) - 1, count)
    below = random.integers(floats.fraction_bits - 1, floats.fraction_bits + 4, count)
    exponents = np.maximum(np.stack([first, first - below]), 0)
    return joined(floats, random.integers(0, 2, (2, count)), exponents, fraction)


def near_opposites(floats: FloatFormat, random: np.random.Generator, count: int) -> np.ndarray:
    """Pairs [2, count] that cancel but for a few last bits."""
    first = random.integers(0, floats.infinity, count)
    second = np.clip(first + random.integers(-9, 10, count), 0, floats.infinity - 1)
    negative = random.integers(0, 2, count) << floats.bits - 1
    return np.stack([first | negative, second | negative ^ 1 << floats.bits - 1])


def pairs(floats: FloatFormat, random: np.random.Generator, count: int) -> Iterator[tuple]:
    """Name and terms, both of them words of the format."""
    kinds = kinds_of_pairs(floats, random, count)
    kinds["ties"] = ties(floats, random, count)
    kinds["near opposites"] = near_opposites(floats, random, count)
    for name, words in kinds.items():
        yield f"x + P, {name}", Sums(*words.astype(np.uint16).view(np.int16))


def rows_of(random: np.random.Generator, count: int) -> np.ndarray:
    """Sines in units of 2^-16, a quarter of them near zero or one."""
    rows = np.rint(ONE * np.sin(random.uniform(-np.pi, np.pi, count))).astype(np.int64)
    near = random.choice([0, ONE, -ONE], count)
    near += np.where(near > 0, -1, np.where(near < 0, 1, 0)) * random.integers(0, 40, count)
    near += np.where(near == 0, random.integers(-40, 41, count), 0)
    return np.where(random.random(count) < 0.25, near, rows)


def waves(floats: FloatFormat, random: np.random.Generator, count: int) -> Iterator[tuple]:
    """Name and terms of words and sines, for every scale."""
    for number, factor in enumerate(SCALES):
        scale = scale_word(factor) if number else None
        rows = rows_of(random, count)
        kinds = {
            name: words[0]
            for name, words in kinds_of_pairs(floats, random, count).items()
            if name in ("any words", "activations", "corners", "near subnormal")
        }
        opposite = floats.from_float64(-rows / ONE / factor).astype(np.int64)
        kinds["near opposites"] = opposite + random.integers(-3, 4, count)
        binade = (floats.bias + random.integers(-24, 2, count)).clip(0)
        fraction = random.integers(0, 1 << floats.fraction_bits, count)
        kinds["like sizes"] = joined(floats, random.integers(0, 2, count), binade, fraction)
        for name, words in kinds.items():
            x = words.astype(np.uint16).view(np.int16)
            yield f"x · {factor:.7g} + PE, {name}", Sums(x, rows, ROW_FRACTION_BITS, scale)


def corners(floats: FloatFormat) -> Iterator[tuple]:
    """Every corner beside every other, infinities, NaNs and zeros among them."""
    top, sign = floats.infinity, 1 << floats.bits - 1
    odd = np.array([top, top + 1, floats.nan, floats.nan + 1, sign - 1])
    words = np.concatenate([corner_words(floats), odd, odd | sign]).astype(np.uint16)
    words = words.view(np.int16)
    yield "x + P, corners", Sums(*(part.ravel() for part in np.meshgrid(words, words)))
    rows = np.array([0, 1, -1, 2, 3, -3, ONE, -ONE, ONE - 1, 1 - ONE, ONE // 2, 40_000])
    for number, factor in enumerate(SCALES):
        x, row = (part.ravel() for part in np.meshgrid(words, rows))
        scale = scale_word(factor) if number else None
        yield f"x · {factor:.7g} + PE, corners", Sums(x, row, ROW_FRACTION_BITS, scale)


def op_by_op(floats: FloatFormat, sums: Sums) -> np.ndarray:
    """Words that rounding after every operation gives; binary32 inside."""

    def cast(value):
        return floats.to_float64(floats.from_float64(value)).astype(np.float32)

    factor = np.float32(1.0 if sums.scale is None else scale_value(sums.scale))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        x = cast(floats.to_float64(sums.embeddings).astype(np.float32) * factor)
        return floats.from_float64(cast(sums.terms(floats)[1]) + x)


def worst(floats: FloatFormat, sums: Sums) -> np.ndarray:
    """The adder's largest and mean error, and those of finite words op by op, in ulp."""
    one, other = sums.terms(floats)
    exact = one + other
    size = np.maximum(np.abs(exact), np.maximum(np.abs(one), np.abs(other)))
    own = ulp_errors(floats, floats.to_float64(sums.found(floats)[0]), exact, size)
    rounded = op_by_op(floats, sums)
    finite = floats.is_finite(rounded)
    eager = ulp_errors(floats, floats.to_float64(rounded[finite]), exact[finite], size[finite])
    return np.array([own.max(), own.mean(), eager.max(), eager.mean()])


def main():
    """Print the figures of every kind of terms; 10 million sums and more a format."""
    print(f"{'':36} {'adder: worst':>13} {'mean':>7} {'op by op: worst':>16} {'mean':>7}   [ulp]")
    for floats in FORMATS.values():
        random, total, wrong = np.random.default_rng(0), 0, 0
        print(floats.name)
        for source in (pairs, waves):
            for name, sums in source(floats, random, COUNT):
                right = nearest(floats, to_odd(*sums.terms(floats)))
                wrong += np.count_nonzero(sums.found(floats)[0] != right)
                total += len(right)
                most = worst(floats, sums)
                print(f"  {name:34} {most[0]:13.4f} {most[1]:7.4f} {most[2]:16.2f} {most[3]:7.4f}")
        print(f"{floats.name}: {total:,} sums, {wrong} not the nearest")


if __name__ == "__main__":
    main()
