# SPDX-License-Identifier: Apache-2.0
"""The parameters of an ALiBi unit: one object that golden model and hardware both take."""

from dataclasses import dataclass

from .errors import InputError, check_types

__all__ = ["AlibiParameters"]

SLOPE_BITS = 48
SCALE_FRACTION_BITS = 17
LANES = (1, 2, 4, 8, 16)


@dataclass(frozen=True, kw_only=True)
class AlibiParameters:
    """What is fixed when an ALiBi unit is built; slopes are loaded into it.

    ``lanes`` keys a clock; ``data_bits`` is a score's width and ``fraction_bits`` the weight of its
    last bit, 2^-fraction_bits (default: data_bits − 8); slopes of up to ``max_heads`` heads are
    held; positions are signed, of ``position_bits``. ``scaled`` gives every lane a multiplier for a
    score scale before the bias.

    Raises InputError, naming the parameter, for anything out of range.
    """

    lanes: int = 4
    data_bits: int = 16
    fraction_bits: int = -1
    max_heads: int = 128
    position_bits: int = 26
    scaled: bool = False

    def __post_init__(self):
        def require(name: str, holds: bool, rule: str):
            if not holds:
                raise InputError(name, getattr(self, name), rule)

        check_types(self)
        require("lanes", self.lanes in LANES, f"must be one of {LANES}")
        widest = 18 if self.scaled else 32
        if not 8 <= self.data_bits <= widest:
            raise InputError("bits", self.data_bits, f"must be from 8 to {widest}")
        if self.fraction_bits == -1:
            object.__setattr__(self, "fraction_bits", self.data_bits - 8)
        finest = SLOPE_BITS - SCALE_FRACTION_BITS - 13 if self.scaled else 32
        require("fraction_bits", 0 <= self.fraction_bits <= finest, f"must be from 0 to {finest}")
        require("max_heads", 1 <= self.max_heads <= 1024, "must be from 1 to 1024")
        require("position_bits", 8 <= self.position_bits <= 26, "must be from 8 to 26")

    @property
    def bias_bits(self) -> int:
        """A signed bias in units of 2^-48: a slope times a difference of two positions."""
        return SLOPE_BITS + self.position_bits + 2

    @property
    def dropped_bits(self) -> int:
        """Bits of a bias below a score's last one."""
        return SLOPE_BITS - self.fraction_bits
