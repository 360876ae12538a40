# SPDX-License-Identifier: Apache-2.0
"""The parameters of an adder of embeddings: one object that golden model and hardware both take."""

from dataclasses import dataclass

from .errors import InputError, check_types
from .floats import FIXED, FORMATS, FloatFormat, check_format
from .generators import PIPELINED, check_generator, generator_interval

__all__ = ["AdderParameters"]

LANES = (1, 2, 4, 8, 16)
ROWS = 4  # of the ring between a generator of rows and the adder


@dataclass(frozen=True, kw_only=True)
class AdderParameters:
    """What is fixed when an adder is built; geometries are loaded into it.

    A beat is ``2·lanes`` elements of ``data_bits``. ``format`` is what they hold: "fixed", and an
    element's last bit is 2^-``fraction_bits`` (default: data_bits − 4), or with 16 bits "bf16" or
    "fp16". Rows are up to ``max_width`` elements, positions signed and of
    ``position_bits``. ``scaled`` gives every element a multiplier for the embedding's scale.
    ``generator`` is the form of what makes sinusoidal rows: "pipelined" (seven multipliers a lane,
    a beat a clock), "shared" (three, 3 clocks a beat) or "serial" (none, 15 clocks at 26 bits).

    Raises InputError, naming the parameter, for anything out of range.
    """

    lanes: int = 4
    data_bits: int = 16
    format: str = FIXED
    fraction_bits: int = 99
    max_width: int = 1024
    position_bits: int = 26
    scaled: bool = False
    generator: str = PIPELINED

    def __post_init__(self):
        def require(name: str, holds: bool, rule: str):
            if not holds:
                raise InputError(name, getattr(self, name), rule)

        check_types(self)
        require("lanes", self.lanes in LANES, f"must be one of {LANES}")
        if not 8 <= self.data_bits <= 18:
            raise InputError("bits", self.data_bits, "must be from 8 to 18")
        check_format(self.format, self.data_bits)
        if self.fraction_bits == 99:
            object.__setattr__(self, "fraction_bits", 0 if self.floating else self.data_bits - 4)
        require("fraction_bits", -14 <= self.fraction_bits <= 16, "must be from -14 to 16")
        holds = self.floating is None or self.fraction_bits == 0
        require("fraction_bits", holds, f"is not to be given where the format is {self.format}")
        holds = self.max_width % (2 * self.beat_elements) == 0 and 0 < self.max_width <= 65536
        rule = f"must be a multiple of {2 * self.beat_elements}, at most 65536"
        require("max_width", holds, rule)
        require("position_bits", 8 <= self.position_bits <= 26, "must be from 8 to 26")
        check_generator(self.generator)

    @property
    def floating(self) -> FloatFormat | None:
        """The floating-point format of the elements; None where they are fixed-point."""
        return FORMATS.get(self.format)

    @property
    def beat_elements(self) -> int:
        """Elements in one beat."""
        return 2 * self.lanes

    @property
    def max_beats(self) -> int:
        """Beats in the widest row."""
        return self.max_width // self.beat_elements

    @property
    def max_frequencies(self) -> int:
        """Frequencies of the widest row."""
        return self.max_width // 2

    @property
    def generator_interval(self) -> int:
        """Clocks a generator of rows takes for a frequency."""
        return generator_interval(self.generator, self.position_bits)

    def check_serves(self, width: int, *, halves: bool = False):
        """Raise InputError where this adder cannot stream rows of ``width``, naming the rule.

        A beat divides the width, and each of its ``halves`` where sines and cosines are apart.
        """
        unit = self.beat_elements * (2 if halves else 1)
        if width % unit or not 0 < width <= self.max_width:
            rule = f"must be a multiple of {unit}, at most {self.max_width}, for {self.lanes} lanes"
            raise InputError("width", width, rule)

    def check_depth(self, beats: int):
        """Raise InputError where no block RAM holds a table of ``beats``, naming the rule."""
        if not 0 < beats <= 65536:
            raise InputError("depth", beats, "must be from 1 to 65536")

    def check_bus(self, bits: int, address_bits: int = 32):
        """Raise InputError where a memory bus of ``bits`` cannot give beats, naming the rule."""
        if not 12 <= address_bits <= 64:
            raise InputError("address_bits", address_bits, "must be from 12 to 64")
        beat = self.data_bits * self.beat_elements
        if bits not in (8 << n for n in range(8)) or bits % beat or (bits // beat).bit_count() != 1:
            rule = f"must be a power of two up to 1024, a power of two times a beat's {beat} bits"
            raise InputError("bus_bits", bits, rule)
