# SPDX-License-Identifier: Apache-2.0
"""The parameters of a RoPE engine: one object that golden model and hardware both take."""

from dataclasses import dataclass

from .errors import InputError, check_types
from .floats import FIXED, FORMATS, FloatFormat, check_format
from .generators import PIPELINED, SERIAL, check_generator, generator_interval
from .table import PhaseTable

__all__ = ["RopeParameters", "serving_lanes"]

LANES = (1, 2, 4, 8, 16, 32, 64)
FLOAT_OPERAND_BITS = 18


@dataclass(frozen=True, kw_only=True)
class RopeParameters:
    """What is fixed when an engine is built; everything else is loaded into it.

    ``lanes`` pairs turn a clock; ``data_bits`` is an element's width, and ``format`` what it holds:
    "fixed", or with 16 bits "bf16" or "fp16"; ``output_bits`` a result's width, where that is
    narrower than fixed-point data (default: as wide); ``coefficient_bits`` the
    width of the row's unsigned words (one integer bit, so amplitudes to √2 fit; 16 for devices
    whose multipliers are 16×16); ``multipliers`` 3 or 4 a pair (default: 3 where data fit).
    ``max_head_dim``, ``slots``, ``position_bits``, ``axes`` (positions a token) size memories.
    ``rows`` rotation rows are kept, so that the generator runs ahead of the rotator; up to
    ``tokens`` positions are accepted before the first is finished. ``generator`` is the form of
    what makes rows: "pipelined" (nine multipliers, a pair a clock), "shared" (four, 3 clocks a
    pair) or "serial" (none, 15 clocks a pair at 26 bits of position). ``temperature`` lets a token
    scale its queries.

    Raises InputError, naming the parameter, for anything out of range.
    """

    lanes: int = 4
    data_bits: int = 16
    format: str = FIXED
    output_bits: int = 0
    coefficient_bits: int = 18
    multipliers: int = 0
    max_head_dim: int = 256
    slots: int = 4
    position_bits: int = 26
    axes: int = 1
    rows: int = 4
    tokens: int = 16
    generator: str = PIPELINED
    temperature: bool = False

    def __post_init__(self):
        def require(name: str, holds: bool, rule: str):
            if not holds:
                raise InputError(name, getattr(self, name), rule)

        check_types(self)
        require("lanes", self.lanes in LANES, f"must be one of {LANES}")
        if not 8 <= self.data_bits <= 18:
            raise InputError("bits", self.data_bits, "must be from 8 to 18")
        self._check_format(require)
        require("coefficient_bits", self.coefficient_bits in (16, 18), "must be 16 or 18")
        if self.multipliers == 0:
            object.__setattr__(self, "multipliers", 3 if self.three_multipliers_fit else 4)
        require("multipliers", self.multipliers in (3, 4), "must be 3 or 4")
        if self.multipliers == 3 and not self.three_multipliers_fit:
            raise InputError(
                "multipliers", 3, "needs fixed data of at most 16 bits and 18-bit coefficients"
            )
        require("slots", self.slots in (1, 2, 4, 8, 16), "must be 1, 2, 4, 8 or 16")
        require("position_bits", 8 <= self.position_bits <= 32, "must be from 8 to 32")
        require("axes", 1 <= self.axes <= 4, "must be from 1 to 4")
        require("rows", self.rows in (2, 4, 8), "must be 2, 4 or 8")
        require("tokens", self.tokens in (16, 32), "must be 16 or 32")
        check_generator(self.generator)
        holds = self.max_head_dim % self.beat_elements == 0 and 2 <= self.max_head_dim <= 4096
        require("max_head_dim", holds, f"must be a multiple of {self.beat_elements}, at most 4096")

    def _check_format(self, require):
        check_format(self.format, self.data_bits)
        if self.output_bits == 0:
            object.__setattr__(self, "output_bits", self.data_bits)
        low = self.data_bits if self.floating else 8
        rule = f"must be from {low} to {self.data_bits}"
        require("output_bits", low <= self.output_bits <= self.data_bits, rule)

    @property
    def floating(self) -> FloatFormat | None:
        """The floating-point format of the elements; None where they are fixed-point."""
        return FORMATS.get(self.format)

    @property
    def narrowed_bits(self) -> int:
        """Bits by which results are narrower than data."""
        return self.data_bits - self.output_bits

    @property
    def operand_bits(self) -> int:
        """Width of the signed numbers that coefficients multiply."""
        return FLOAT_OPERAND_BITS if self.floating else self.data_bits

    @property
    def three_multipliers_fit(self) -> bool:
        """Whether x + y of a pair fits the multiplier beside an 18-bit coefficient."""
        return self.operand_bits <= 16 and self.coefficient_bits == 18

    @property
    def relayed(self) -> bool:
        """Whether registers stand between the parts: what is wide or pipelined is to be fast."""
        return self.lanes > 1 or self.generator == PIPELINED

    @property
    def distant(self) -> bool:
        """Whether lanes are so many that what all of them are told takes a clock on its way."""
        return self.lanes >= 8

    @property
    def forwarded(self) -> bool:
        """Whether a row's entry is used before its memory could give it."""
        return self.lanes > 1 and self.generator != SERIAL

    @property
    def beat_elements(self) -> int:
        """Elements in one beat."""
        return 2 * self.lanes

    @property
    def fraction_bits(self) -> int:
        """Fraction bits of a row's coefficients where the scale bit is clear."""
        return self.coefficient_bits - 1

    @property
    def max_pairs(self) -> int:
        """Pairs in the largest head."""
        return self.max_head_dim // 2

    @property
    def max_head_beats(self) -> int:
        """Beats in the largest head; equally the entries of the longest row."""
        return self.max_head_dim // self.beat_elements

    @property
    def generator_interval(self) -> int:
        """Clocks the generator of rows takes for a pair."""
        return generator_interval(self.generator, self.position_bits)

    def check_serves(self, table: PhaseTable):
        """Raise InputError where this engine cannot stream the table's geometry, naming who can.

        Served if and only if 2·lanes divides head_dim and the rotary offset, and lanes divides
        rotary_dim/2, within the sizes the engine was built with.
        """
        if table.head_dim > self.max_head_dim:
            raise InputError("head_dim", table.head_dim, f"must be at most {self.max_head_dim}")
        if table.axes and max(table.axes) >= self.axes:
            raise InputError("axes", max(table.axes) + 1, f"this engine has {self.axes}")
        able = serving_lanes(table)
        if self.lanes not in able:
            raise InputError(
                "lanes",
                self.lanes,
                f"head_dim {table.head_dim}, rotary dimension {table.rotary_dim} and offset"
                f" {table.rotary_offset} are served by {', '.join(map(str, able)) or 'none'}",
            )

    def clocks_per_token(self, table: PhaseTable, *, tempered: bool = False) -> int:
        """Clocks a token takes in steady state: the slower of its beats and its row.

        Naming takes a clock a token, a kind of heads and a head. Tokens of fewer than ten clocks by
        this law that have rows of their own may take up to ten: a row's memory returns only so
        soon. A ``tempered`` token makes a row for its queries and one for its other heads, in every
        group.
        """
        pattern = table.pattern
        beats = pattern.heads * table.head_dim // self.beat_elements
        row = 0 if table.bypass else table.pairs * self.generator_interval
        if tempered and pattern.queries_turn:
            row *= pattern.repeat * (1 + pattern.others_turn)
        kinds = len(pattern.counts)
        last = max(kind for kind, count in enumerate(pattern.counts) if count) + 1
        naming = 1 + (pattern.repeat - 1) * kinds + last + pattern.heads
        return max(beats, row, naming)


def serving_lanes(table: PhaseTable) -> tuple[int, ...]:
    """The lane counts that stream a table's geometry at one beat a clock."""
    return tuple(
        lanes
        for lanes in LANES
        if table.head_dim % (2 * lanes) == 0
        and table.pairs % lanes == 0
        and table.rotary_offset % (2 * lanes) == 0
    )
