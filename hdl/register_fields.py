# SPDX-License-Identifier: Apache-2.0
"""Fields of a register, in the two ways that most have them."""

from .registers import Access, Field

__all__ = ["packed_fields", "value_field"]


def packed_fields(access: Access, *rows: tuple) -> tuple[Field, ...]:
    """Fields one above the other: of each its name, bits and meaning, its value if any."""
    placed: list[Field] = []
    for name, bits, meaning, *value in rows:
        lsb = placed[-1].lsb + placed[-1].bits if placed else 0
        placed.append(Field(name, bits, access, meaning, lsb, int(value[0]) if value else 0))
    return tuple(placed)


def value_field(access: Access, bits: int, meaning: str, reset: int = 0, *, signed: bool = False):
    """The only field of a register that is one number."""
    return (Field("VALUE", bits, access, meaning, reset=reset, signed=signed),)
