# SPDX-License-Identifier: Apache-2.0
"""A table of registers as a data sheet in Markdown, a C header and SystemRDL."""

from .registers import Access, Field, Register, RegisterMap

__all__ = ["c_header", "markdown", "systemrdl"]

# Of SystemRDL: what software does, what hardware does, and more.
PROPERTIES = {
    Access.RO: ("r", "w", ""),
    Access.RW: ("rw", "r", ""),
    Access.W1C: ("rw", "r", "onwrite = woclr; hwset; "),
    Access.WO: ("w", "r", ""),
    Access.COUNTER: ("r", "na", "counter; "),
    Access.CONST: ("r", "na", ""),
    Access.POP: ("r", "w", "onread = ruser; "),
}

UNKEPT = (Access.RO, Access.WO, Access.POP)  # by the registers themselves


def markdown(registers: RegisterMap) -> str:
    """Two tables: every register, and every field of them."""
    heads = ("address", "register", "bits", "what it is")
    rows = [(_addresses(r), f"`{r.name}`", str(r.width), r.description) for r in registers]
    fields = [
        (f"`{r.name}`", f"`{f.name}`", _bits(f), str(f.access), _reset(f), _meaning(f))
        for r in registers
        for f in r.fields
    ]
    field_heads = ("register", "field", "bits", "access", "reset", "meaning")
    return f"{_table(heads, rows)}\n{_table(field_heads, fields)}"


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _addresses(register: Register) -> str:
    if register.count == 1:
        return f"0x{register.offset:04x}"
    return f"0x{register.offset:04x} + {register.stride}·i, i < {register.count}"


def _bits(field: Field) -> str:
    last = field.lsb + field.bits - 1
    return str(last) if field.bits == 1 else f"{last}:{field.lsb}"


def _reset(field: Field) -> str:
    if field.access in UNKEPT:
        return ""
    return f"0x{field.reset:x}" if field.reset > 9 else str(field.reset)


def _meaning(field: Field) -> str:
    return f"{field.description[:-1]}; signed." if field.signed else field.description


def c_header(registers: RegisterMap) -> str:
    """Offsets, counts and strides of registers; shifts, masks and resets of fields.

    A register of 64 bits is at its offset, low half first, and 4 bytes above.
    """
    guard = f"{registers.name}_H"
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        f"/* {registers.description} Made from their table; not to be edited. */",
        f"#ifndef {guard}",
        f"#define {guard}",
    ]
    for register in registers:
        lines += ["", f"/* {register.description} */"]
        lines += (f"#define {name} {value}" for name, value in _constants(registers, register))
    return "\n".join([*lines, "", f"#endif /* {guard} */", ""])


def _constants(registers: RegisterMap, register: Register) -> list[tuple[str, str]]:
    """What the header defines of a register."""
    name, suffix = f"{registers.name}_{register.name}", "u" if register.width == 32 else "ull"
    found = [(f"{name}_OFFSET", f"0x{register.offset:04x}u")]
    if register.count > 1:
        found.append((f"{name}_COUNT", f"{register.count}u"))
        found.append((f"{name}_STRIDE", f"{register.stride}u"))
    for field in register.fields:
        stem = name if field.name == "VALUE" else f"{name}_{field.name}"
        found.append((f"{stem}_SHIFT", f"{field.lsb}u"))
        found.append((f"{stem}_MASK", f"0x{field.mask:x}{suffix}"))
        # What else is constant differs from core to core.
        if field.access is Access.RW or register.name.endswith("IDENT"):
            found.append((f"{stem}_RESET", f"0x{field.encode(field.reset) >> field.lsb:x}{suffix}"))
    return found


def systemrdl(registers: RegisterMap) -> str:
    """An ``addrmap`` of SystemRDL 2.0, in which all software can do is said.

    Registers of 64 bits are read in two accesses.
    """
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "// Made from the table of registers; not to be edited.",
        f"addrmap {registers.name.lower()} {{",
        f'  name = "{registers.name}"; desc = "{registers.description}";',
        "  littleendian; lsb0; default accesswidth = 32;",
    ]
    for register in registers:
        array = f"[{register.count}]" if register.count > 1 else ""
        stride = f" += 0x{register.stride:x}" if array else ""
        lines += [
            "  external reg {" if register.pops else "  reg {",  # for its reads do more
            f'    desc = "{register.description}"; regwidth = {register.width};',
            *(_rdl_field(field) for field in register.fields),
            f"  }} {register.name}{array} @ 0x{register.offset:x}{stride};",
        ]
    return "\n".join([*lines, "};", ""])


def _rdl_field(field: Field) -> str:
    software, hardware, more = PROPERTIES[field.access]
    value = field.encode(field.reset) >> field.lsb
    place = f"[{field.lsb + field.bits - 1}:{field.lsb}]"
    # What hardware says or takes at once has no reset of its own.
    reset = "" if field.access in UNKEPT else f" = {field.bits}'h{value:x}"
    return (
        f'    field {{ desc = "{_meaning(field)}"; sw = {software}; hw = {hardware}; {more}}}'
        f" {field.name}{place}{reset};"
    )
