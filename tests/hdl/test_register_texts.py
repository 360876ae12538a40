# SPDX-License-Identifier: Apache-2.0
"""Data sheet, C header and SystemRDL say what the table says, and are not stale."""

import re
import subprocess

import pytest
from systemrdl import RDLCompileError, RDLCompiler
from systemrdl.rdltypes import AccessType, OnReadType, OnWriteType

from ropeway.boards.documents import FULL, HOSTED, documents
from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.host_registers import host_registers
from ropeway.hdl.register_texts import c_header, markdown, systemrdl
from ropeway.hdl.registers import Access, RegisterMap
from tests.hdl.register_model import SAMPLE

MAPS = {"sample": SAMPLE, "core": core_registers(FULL), "host": host_registers(HOSTED)}
SOFTWARE = {
    Access.RO: AccessType.r,
    Access.RW: AccessType.rw,
    Access.W1C: AccessType.rw,
    Access.WO: AccessType.w,
    Access.COUNTER: AccessType.r,
    Access.CONST: AccessType.r,
    Access.POP: AccessType.r,
}


@pytest.fixture(params=MAPS)
def registers(request) -> RegisterMap:
    return MAPS[request.param]


def compiled(text: str, path):
    path.write_text(text)
    compiler = RDLCompiler()
    compiler.compile_file(str(path))
    return compiler.elaborate().top


def test_systemrdl_compiles_and_agrees_field_by_field(registers, tmp_path):
    top = compiled(systemrdl(registers), tmp_path / "map.rdl")
    nodes = list(top.registers(unroll=False))
    assert [node.inst_name for node in nodes] == [r.name for r in registers]
    for node, register in zip(nodes, registers, strict=True):
        assert node.raw_address_offset == register.offset
        assert node.get_property("regwidth") == register.width
        assert node.get_property("accesswidth") == 32
        assert node.get_property("desc") == register.description
        assert node.is_array == (register.count > 1)
        if node.is_array:
            assert node.array_dimensions == [register.count]
            assert node.array_stride == register.stride
        fields = list(node.fields())
        assert [field.inst_name for field in fields] == [f.name for f in register.fields]
        for field, wanted in zip(fields, register.fields, strict=True):
            check_field(field, wanted)


def check_field(field, wanted):
    assert (field.low, field.width) == (wanted.lsb, wanted.bits)
    assert field.get_property("sw") == SOFTWARE[wanted.access]
    reset = field.get_property("reset")
    if wanted.access in (Access.RO, Access.WO, Access.POP):
        assert reset is None
    else:
        assert reset == wanted.reset % (1 << wanted.bits)
    clears = field.get_property("onwrite") == OnWriteType.woclr
    assert clears == (wanted.access is Access.W1C)
    takes = field.get_property("onread") == OnReadType.ruser
    assert takes == (wanted.access is Access.POP)
    assert field.get_property("counter") == (wanted.access is Access.COUNTER)


def test_a_wrong_systemrdl_does_not_compile(tmp_path):
    text = systemrdl(SAMPLE).replace("WIDE[22:6]", "WIDE[22:3]")
    assert text != systemrdl(SAMPLE)
    with pytest.raises(RDLCompileError):
        compiled(text, tmp_path / "map.rdl")


def constants(registers: RegisterMap) -> dict[str, int]:
    """What a header is to define, from the table alone."""
    found = {}
    for register in registers:
        name = f"{registers.name}_{register.name}"
        found[f"{name}_OFFSET"] = register.offset
        if register.count > 1:
            found |= {f"{name}_COUNT": register.count, f"{name}_STRIDE": register.width // 8}
        for field in register.fields:
            stem = f"{registers.name}_{register.full_name(field)}"
            found |= {f"{stem}_SHIFT": field.lsb, f"{stem}_MASK": (2**field.bits - 1) << field.lsb}
            if field.access is Access.RW or stem.endswith("IDENT"):
                found[f"{stem}_RESET"] = field.reset % (1 << field.bits)
    return found


def test_the_c_header_compiles_and_its_constants_are_the_table_s(registers, tmp_path):
    wanted = constants(registers)
    (tmp_path / "map.h").write_text(c_header(registers))
    prints = "\n".join(f'printf("{n} %llu\\n", (unsigned long long)({n}));' for n in wanted)
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "map.h"\n#include "map.h"\n'
        f"int main(void) {{\n{prints}\nreturn 0;\n}}\n"
    )
    flags = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
    subprocess.run(["gcc", *flags, "-o", "main", "main.c"], cwd=tmp_path, check=True)
    lines = subprocess.run(
        [tmp_path / "main"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert {name: int(value) for name, value in map(str.split, lines)} == wanted
    defined = re.findall(r"#define (\w+) ", c_header(registers))
    assert sorted(defined) == sorted(wanted)


def test_the_data_sheet_has_every_register_and_field_once(registers):
    text = markdown(registers)
    rows = [line.split(" | ") for line in text.splitlines()]
    for register in registers:
        address = f"| 0x{register.offset:04x}"
        assert sum(row[0].split(" + ")[0] == address for row in rows) == 1
        for field in register.fields:
            names = [f"| `{register.name}`", f"`{field.name}`"]
            (found,) = [row for row in rows if row[:2] == names]
            assert found[3] == field.access
            high, low = (int(n) for n in (found[2].split(":") * 2)[:2])
            assert (high, low) == (field.lsb + field.bits - 1, field.lsb)
    assert all("|" not in cell.strip("| ") for row in rows for cell in row)


def test_no_document_is_stale():
    """Stale: run `make documents`."""
    for path, text in documents().items():
        assert path.read_text() == text, path.name
        host = path.stem in ("board", "ropeway_host")
        assert ("SELF_TEST_STATUS" if host else "TARGET_STATUS") in text.upper(), path.name
