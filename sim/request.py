# SPDX-License-Identifier: Apache-2.0
"""What is asked of an engine: which one, and words of what kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ropeway.golden.codec import Codec, FixedCodec, FloatCodec
from ropeway.golden.errors import InputError
from ropeway.golden.floats import FIXED, FORMATS, FloatFormat
from ropeway.golden.words import check_finite

__all__ = ["ENGINES", "Request"]

ENGINES = ("exact", "golden", "sim", "verilator")
NATURAL_BITS = {("i", 1): 8, ("i", 2): 16}
FLOAT_BITS = 16


@dataclass(frozen=True, kw_only=True)
class Request:
    """An engine, and the words it is to work on; what is None is chosen by the arrays.

    ``format`` is "fixed", "bf16" or "fp16"; ``lsb`` the value of a fixed-point word's last bit;
    ``output_bits`` the width of results that are to be narrower. Raises InputError, naming the
    option, for what no engine takes.
    """

    engine: str = "golden"
    bits: int | None = None
    lanes: int | None = None
    lsb: float | None = None
    format: str = FIXED
    output_bits: int | None = None

    def __post_init__(self):
        for name, value, known in (
            ("engine", self.engine, ENGINES),
            ("format", self.format, (FIXED, *FORMATS)),
        ):
            if value not in known:
                raise InputError(name, value, f"must be one of {', '.join(known)}")
        if self.lsb is not None and not 0 < self.lsb < np.inf:
            raise InputError("scale", self.lsb, "must be a finite number above 0")
        if self.floating is None:
            return
        if self.bits not in (None, self.floating.bits):
            rule = f"must be {self.floating.bits} where the format is {self.format}"
            raise InputError("bits", self.bits, rule)
        for name, value in (("scale", self.lsb), ("output-bits", self.output_bits)):
            if value is not None:
                raise InputError(name, value, f"is for fixed-point words, not {self.format}")

    @property
    def floating(self) -> FloatFormat | None:
        """The floating-point format of the words; None where they are fixed-point."""
        return FORMATS.get(self.format)

    def only_for(self, scheme: str, **options: Any):
        """Raise InputError where one of ``options`` is not what a scheme is left with."""
        for option, sole in options.items():
            value = getattr(self, option)
            if value != sole:
                raise InputError(option.replace("_", "-"), value, f"is not for {scheme}")

    def check(self, arrays: Mapping[str, np.ndarray]):
        """Raise InputError for a number that fixed-point words cannot hold."""
        for name, array in arrays.items():
            if array.dtype.kind == "f" and self.floating is None:
                check_finite(name, array)

    def bits_of(self, arrays: Mapping[str, np.ndarray]) -> int:
        """The width of words; InputError where it is not given and a type asks for none."""
        if self.bits is not None:
            return self.bits
        if self.floating:
            return self.floating.bits
        widths = []
        for name, array in arrays.items():
            width = NATURAL_BITS.get((array.dtype.kind, array.dtype.itemsize))
            if array.dtype.kind == "f":
                width = FLOAT_BITS
            if width is None:
                raise InputError("bits", None, f"must be given for {name}, which is {array.dtype}")
            widths.append(width)
        return max(widths)

    def narrowed(self, bits: int) -> int:
        """By how much results are narrower than words of ``bits``; InputError where they cannot."""
        if self.output_bits is None:
            return 0
        if not 8 <= self.output_bits <= bits:
            raise InputError("output-bits", self.output_bits, f"must be from 8 to {bits}")
        return bits - self.output_bits

    def codec(self, name: str, array: np.ndarray, bits: int, lsb: float | None) -> Codec:
        """How an array becomes words and comes back; ``lsb`` is for floats in fixed point."""
        if self.floating:
            return FloatCodec(name, array.dtype, self.floating)
        unit = lsb if array.dtype.kind == "f" else None
        return FixedCodec(name, array.dtype, bits, unit, self.narrowed(bits))
