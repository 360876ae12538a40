# SPDX-License-Identifier: Apache-2.0
"""Registers as a table: names, places, kinds of access and meanings, checked for agreement."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from ropeway.golden.errors import InputError

__all__ = ["BUS_BYTES", "Access", "Field", "Register", "RegisterMap"]

BUS_BYTES = 4  # of an access
NAME = re.compile(r"[A-Z][A-Z0-9_]*")
ADDED = ("", "_EVENT", "_CLEAR", "_WRITTEN", "_REFUSED", "_NUMBER")  # to names, by what needs more


class Access(StrEnum):
    """What software can do with a field, and where its value comes from.

    ``RO`` shows what the hardware says; ``RW`` is kept for it; ``W1C`` is set by an event and
    cleared by writing 1, of which the event wins in the same clock; ``WO`` is data given for one
    clock; ``COUNTER`` counts events and wraps; ``CONST`` never changes; ``POP`` shows what the
    hardware says and takes it away.
    """

    RO = "ro"
    RW = "rw"
    W1C = "w1c"
    WO = "wo"
    COUNTER = "counter"
    CONST = "const"
    POP = "pop"

    @property
    def readable(self) -> bool:
        """Whether reading it tells anything."""
        return self is not Access.WO

    @property
    def writable(self) -> bool:
        """Whether writing it does anything."""
        return self in (Access.RW, Access.W1C, Access.WO)


def _require(holds: bool, key: str, value: object, rule: str):
    if not holds:
        raise InputError(key, value, rule)


@dataclass(frozen=True)
class Field:
    """``bits`` of a register from bit ``lsb`` on; ``reset`` is also the value of what is constant.

    ``signed`` values are two's complement. Names are of capitals, digits and underscores.

    Raises InputError where they do not agree.
    """

    name: str
    bits: int
    access: Access
    description: str
    lsb: int = 0
    reset: int = 0
    signed: bool = False

    def __post_init__(self):
        _check_text(self.name, self.description)
        _require(1 <= self.bits <= 64, f"{self.name}.bits", self.bits, "must be from 1 to 64")
        _require(self.lsb >= 0, f"{self.name}.lsb", self.lsb, "must not be negative")
        low, high = self.limits
        rule = f"must be from {low} to {high}"
        _require(low <= self.reset <= high, f"{self.name}.reset", self.reset, rule)
        plain = self.access in (Access.RW, Access.CONST) or self.reset == 0
        _require(plain, f"{self.name}.reset", self.reset, f"must be 0 of what is {self.access}")
        single = self.access is not Access.W1C or self.bits == 1
        _require(single, f"{self.name}.bits", self.bits, "must be 1 of what is w1c")

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest value."""
        half = 1 << self.bits - 1
        return (-half, half - 1) if self.signed else (0, 2 * half - 1)

    @property
    def mask(self) -> int:
        """Its bits within its register."""
        return ((1 << self.bits) - 1) << self.lsb

    def encode(self, value: int) -> int:
        """A value in its place. Raises InputError where it does not fit."""
        low, high = self.limits
        _require(low <= value <= high, self.name, value, f"must be from {low} to {high}")
        return value << self.lsb & self.mask

    def decode(self, word: int) -> int:
        """Its value in a register's."""
        value = (word & self.mask) >> self.lsb
        return value - (1 << self.bits) if self.signed and value >> self.bits - 1 else value


@dataclass(frozen=True)
class Register:
    """``fields`` at a byte ``offset``; an array where its ``count`` is above 1.

    ``width`` is 32 bits, or 64 of what is only read: reading the low half keeps the high half,
    which is given when the word above is read next. An array is looked up by number, so it has no
    values of its own. With ``refuses`` the hardware may refuse a write.

    Raises InputError where they do not agree.
    """

    name: str
    offset: int
    fields: tuple[Field, ...]
    description: str
    count: int = 1
    width: int = 32
    refuses: bool = False

    def __post_init__(self):
        _check_text(self.name, self.description)
        _require(self.width in (32, 64), f"{self.name}.width", self.width, "must be 32 or 64")
        _require(self.count >= 1, f"{self.name}.count", self.count, "must be at least 1")
        _require(bool(self.fields), f"{self.name}.fields", 0, "must be at least one")
        names = [field.name for field in self.fields]
        _require(len(set(names)) == len(names), f"{self.name}.fields", names, "must be unique")
        self._check_bits()
        self._check_access()
        span = 1 << (self.size - 1).bit_length()
        aligned = self.offset >= 0 and self.offset % span == 0
        _require(aligned, f"{self.name}.offset", self.offset, f"must be a multiple of {span}")

    def _check_bits(self):
        used = 0
        for field in self.fields:
            key = f"{self.name}.{field.name}"
            end, rule = field.lsb + field.bits, f"must end within {self.width} bits"
            _require(end <= self.width, key, end, rule)
            above = field.lsb >= used.bit_length()
            _require(above, key, field.lsb, "must be above the field before it")
            used |= field.mask

    def _check_access(self):
        key, kinds = f"{self.name}.access", {field.access for field in self.fields}
        shown = ", ".join(sorted(kinds))
        if self.width == 64:
            _require(not self.writable, key, shown, "must be read-only in 64 bits")
        if self.count > 1:
            alike = kinds in ({Access.RO}, {Access.WO})
            _require(alike, key, shown, "must be ro or wo alone in an array")
        if Access.POP in kinds:
            alone = kinds == {Access.POP} and self.width == 32
            _require(alone, key, shown, "must be pop alone, in 32 bits, where reading takes")
        if self.refuses:
            _require(kinds == {Access.WO}, key, shown, "must be wo of what refuses")

    @property
    def stride(self) -> int:
        """Bytes from one of an array to the next."""
        return self.width // 8

    @property
    def size(self) -> int:
        """Bytes in all."""
        return self.stride * self.count

    @property
    def readable(self) -> bool:
        """Whether any field is."""
        return any(field.access.readable for field in self.fields)

    @property
    def writable(self) -> bool:
        """Whether any field is."""
        return any(field.access.writable for field in self.fields)

    @property
    def pops(self) -> bool:
        """Whether reading it takes what was read."""
        return any(field.access is Access.POP for field in self.fields)

    @property
    def whole(self) -> bool:
        """Whether it is written with all bytes or not at all: where writing does more than keep."""
        return any(field.access in (Access.W1C, Access.WO) for field in self.fields)

    @property
    def reset(self) -> int:
        """Its value after a reset, as far as the table says."""
        return sum(field.encode(field.reset) for field in self.fields)

    def field(self, name: str) -> Field:
        """The field of a name. Raises KeyError."""
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(f"{self.name} has no field {name}")

    def full_name(self, field: Field) -> str:
        """A field's name beside those of all registers: its register's alone of a VALUE."""
        return self.name if field.name == "VALUE" else f"{self.name}_{field.name}"

    def address(self, number: int = 0) -> int:
        """The byte address of one of an array. Raises InputError where there is none."""
        holds = 0 <= number < self.count
        _require(holds, self.name, number, f"must be from 0 to {self.count - 1}")
        return self.offset + number * self.stride

    def encode(self, **values: int) -> int:
        """A word of some fields, by their names in small letters; the others are 0."""
        return sum(self.field(name.upper()).encode(value) for name, value in values.items())

    def decode(self, word: int) -> dict[str, int]:
        """The fields of a word, by their names in small letters."""
        return {field.name.lower(): field.decode(word) for field in self.fields}


@dataclass(frozen=True)
class RegisterMap:
    """``registers`` in the order of their addresses, within ``address_bits`` of byte address.

    Raises InputError where they do not agree.
    """

    name: str
    description: str
    registers: tuple[Register, ...]
    address_bits: int = 16

    def __post_init__(self):
        _check_text(self.name, self.description)
        _require(bool(self.registers), "registers", 0, "must be at least one")
        end, taken = 0, set()
        for register in self.registers:
            names = {register.name, *map(register.full_name, register.fields)}
            names = {name + added for name in names for added in ADDED}
            twice = ", ".join(sorted(names & taken))
            _require(not twice, f"{register.name}.name", twice, "must be of one register alone")
            free = register.offset >= end
            _require(free, f"{register.name}.offset", register.offset, f"must be at least {end}")
            end, taken = register.offset + register.size, taken | names
        rule = f"must end within {self.address_bits} bits of address"
        _require(end <= 1 << self.address_bits, "registers", end, rule)

    def __getitem__(self, name: str) -> Register:
        """The register of a name. Raises KeyError."""
        for register in self.registers:
            if register.name == name:
                return register
        raise KeyError(f"there is no register {name}")

    def __contains__(self, name: str) -> bool:
        return any(register.name == name for register in self.registers)

    def __iter__(self) -> Iterator[Register]:
        return iter(self.registers)

    def at(self, address: int) -> tuple[Register, int] | None:
        """The register at a byte address, and the word's number within it from its offset."""
        for register in self.registers:
            if register.offset <= address < register.offset + register.size:
                return register, (address - register.offset) // BUS_BYTES
        return None


def _check_text(name: str, description: str):
    rule = "must be capitals, digits and underscores"
    _require(NAME.fullmatch(name) is not None, "name", name, rule)
    ends = description.endswith(".") and "\n" not in description and '"' not in description
    _require(ends, f"{name}.description", description, "must be a sentence on one line")
