# SPDX-License-Identifier: Apache-2.0
"""Shapes of floating-point numbers taken apart, and how a word's fields give them."""

from amaranth import *
from amaranth.lib import data

from ropeway.golden.floats import FloatFormat

from .layouts import special_layout

__all__ = ["classified", "number_layout", "parted"]


def number_layout(exponent_bits: int, significand_bits: int) -> data.StructLayout:
    """A sign, the biased exponent of the significand's top bit, and the significand."""
    fields = {"negative": 1, "exponent": exponent_bits, "significand": significand_bits}
    return data.StructLayout(fields)


def parted(floats: FloatFormat, word: Value) -> tuple[Value, Value, Value]:
    """Sign, exponent (at least 1) and significand of a word, as if its exponent were a number's."""
    fraction, field = word[: floats.fraction_bits], word[floats.fraction_bits : -1]
    return word[-1], field | ~field.any(), Cat(fraction, field.any())


def classified(floats: FloatFormat, word: Value) -> data.View:
    """Whether a word is an infinity or a NaN, and its sign."""
    fraction, top = word[: floats.fraction_bits], word[floats.fraction_bits : -1].all()
    found = Cat(top & fraction.any(), top & ~fraction.any(), word[-1])
    return data.View(special_layout(), found)
