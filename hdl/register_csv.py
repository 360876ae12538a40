# SPDX-License-Identifier: Apache-2.0
"""Tables of registers as the CSV file that LiteX's clients read names from."""

from collections.abc import Iterable

from .registers import BUS_BYTES, Register, RegisterMap

__all__ = ["register_csv"]

CONSTANTS = {"config_csr_data_width": 32, "config_bus_address_width": 32}
SEVERAL = 64  # of an array up to which each has a name


def register_csv(maps: Iterable[RegisterMap]) -> str:
    """Rows of every register, by its name in small letters, and of what LiteX's clients ask for.

    Registers of 64 bits have a name for each half, whose low one is read first. Of an array each
    has its name, ``_0`` and so on; a larger one is a region of memory.
    """
    rows = ["# Made from the tables of registers; not to be edited."]
    registers = [register for each in maps for register in each]
    for register in registers:
        if register.count <= SEVERAL:
            for name, address in _words(register):
                rows.append(f"csr_register,{name},0x{address:08x},1,{_mode(register)}")
    rows += (f"constant,{name},{value},," for name, value in CONSTANTS.items())
    for register in registers:
        if register.count > SEVERAL:
            name, base = register.name.lower(), register.offset
            rows.append(f"memory_region,{name},0x{base:08x},{register.size},io")
    return "\n".join([*rows, ""])


def _words(register: Register) -> list[tuple[str, int]]:
    """The words of a register, with a name each."""
    name, found = register.name.lower(), []
    for number in range(register.count):
        one = f"{name}_{number}" if register.count > 1 else name
        address = register.address(number)
        if register.width == 64:
            found += [(f"{one}_low", address), (f"{one}_high", address + BUS_BYTES)]
        else:
            found.append((one, address))
    return found


def _mode(register: Register) -> str:
    return "rw" if register.readable and register.writable else "wo" if register.writable else "ro"
