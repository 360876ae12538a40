# SPDX-License-Identifier: Apache-2.0
"""A table with every kind of register, what accesses to it come to, and who makes them."""

from dataclasses import dataclass, field

import numpy as np

from ropeway.hdl.register_bus import Answer
from ropeway.hdl.registers import Access, Field, Register, RegisterMap


def one(access: Access, bits: int = 32, **more) -> tuple[Field, ...]:
    return (Field("VALUE", bits, access, "A number.", **more),)


SAMPLE = RegisterMap(
    "SAMPLE",
    "Every kind of register.",
    (
        Register("IDENT", 0x0, one(Access.CONST, reset=0xDEAD_BEEF), "A constant."),
        Register("SHOWN", 0x4, one(Access.RO, 20, signed=True), "What is shown."),
        Register(
            "MODES",
            0x8,
            (
                Field("LOW", 5, Access.RW, "Within a byte.", 1, 0x15),
                Field("WIDE", 17, Access.RW, "Over bytes.", 6, -3, signed=True),
                Field("TOP", 1, Access.RW, "The highest.", 31, 1),
                # what is not a field lies between
            ),
            "What is kept.",
        ),
        Register(
            "FLAGS",
            0x10,
            (
                Field("ONE", 1, Access.W1C, "A flag."),
                Field("TWO", 1, Access.W1C, "Another.", 9),
                Field("KEPT", 4, Access.RW, "Beside flags.", 16, 5),
            ),
            "What happened.",
        ),
        Register(
            "ORDER",
            0x14,
            (Field("A", 8, Access.WO, "One."), Field("B", 12, Access.WO, "Two.", 20)),
            "What is to be done.",
            refuses=True,
        ),
        Register("BEATS", 0x20, one(Access.COUNTER, 48), "A counter.", width=64),
        Register("CLOCKS", 0x28, one(Access.COUNTER, 7), "A small one."),
        Register("LOOKED_UP", 0x40, one(Access.RO, 32), "An array.", count=5),
        Register("DIGEST", 0x80, one(Access.RO, 64), "A wide one.", count=8, width=64),
        Register("WINDOW", 0x400, one(Access.WO), "Words.", count=256, refuses=True),
    ),
    address_bits=12,
)


@dataclass
class RegisterModel:
    """What a map's registers come to by the accesses alone; ``shown`` are those that hardware says.

    ``shown`` is by (register, number); ``refused`` the registers that refuse now. ``orders`` are
    the writes that reached the hardware: register, number, word.
    """

    map: RegisterMap
    shown: dict[tuple[str, int], int] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    orders: list[tuple[str, int, int]] = field(default_factory=list)
    _kept: dict[str, int] = field(default_factory=dict)
    _high: int = 0

    def access(self, address: int, write: bool, word: int = 0, strobe: int = 0xF):
        """An access; its code, and the word read."""
        found = self.map.at(address)
        if found is None:
            return Answer.DECERR, 0
        register, number = found
        if not (register.writable if write else register.readable):
            return Answer.SLVERR, 0
        if not write:
            return Answer.OKAY, self._read(register, number)
        if register.whole and (strobe != 0xF or register.name in self.refused):
            return Answer.SLVERR, 0
        self._write(register, number, word, strobe)
        return Answer.OKAY, 0

    def _read(self, register: Register, number: int) -> int:
        if register.width == 64:
            if number % 2:
                return self._high
            value = self.shown.get((register.name, number // 2), 0)
            self._high = value >> 32
            return value & 0xFFFF_FFFF
        value = self._kept.get(register.name, register.reset)
        return value | self.shown.get((register.name, number), 0)

    def _write(self, register: Register, number: int, word: int, strobe: int):
        mask = sum(0xFF << 8 * lane for lane in range(4) if strobe >> lane & 1)
        kept = self._kept.get(register.name, register.reset)
        for each in register.fields:
            if each.access is Access.RW:
                bits = each.mask & mask
                kept = kept & ~bits | word & bits
        self._kept[register.name] = kept
        if any(each.access is Access.WO for each in register.fields):
            self.orders.append((register.name, number, word))


def looked_up(name: str, number: int) -> int:
    """What hardware says of one of the sample's arrays."""
    if name == "LOOKED_UP":
        return 0x0101_0101 * (number + 1)
    return 0x0123_4567_89AB_CDEF * (number + 3) & (1 << 64) - 1


def sample_model() -> RegisterModel:
    """The sample's model, with what its hardware says."""
    shown = {("SHOWN", 0): -5 & 0xF_FFFF}
    for name in ("LOOKED_UP", "DIGEST"):
        shown |= {(name, n): looked_up(name, n) for n in range(SAMPLE[name].count)}
    return RegisterModel(SAMPLE, shown)


def random_access(random: np.random.Generator, registers: RegisterMap) -> tuple[int, int, int, int]:
    """An address, whether it is written, a word and strobes; errors of every kind among them."""
    every = list(registers)
    register = every[random.integers(len(every))]
    address = register.offset + 4 * int(random.integers(register.size // 4))
    kind = random.random()
    if kind < 0.1:
        address += int(random.integers(1, 4))
    elif kind < 0.2:
        address = int(random.integers(0, 1 << registers.address_bits))
    strobe = 0xF if random.random() < 0.6 else int(random.integers(16))
    return address, int(random.integers(2)), int(random.integers(1 << 32)), strobe
