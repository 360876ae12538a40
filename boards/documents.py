# SPDX-License-Identifier: Apache-2.0
"""Writes the documents that are made of the design: `make documents`."""

import re
from pathlib import Path

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters, MemoryTable
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.host_registers import host_registers
from ropeway.hdl.register_csv import register_csv
from ropeway.hdl.register_texts import c_header, markdown, systemrdl

from .datasheet import filled

__all__ = ["DOCS", "FULL", "HOSTED", "documents"]

DOCS = Path(__file__).resolve().parent.parent / "docs"

FULL = CoreParameters(
    rope=RopeParameters(temperature=True),
    sinusoidal=AdderParameters(scaled=True),
    learned=AdderParameters(),
    table=MemoryTable(address_bits=64),
    alibi=AlibiParameters(scaled=True),
)
"""A core with every unit and register (but that of a learned table in block RAM)."""

HOSTED = HostedParameters(
    core=CoreParameters(rope=RopeParameters(), bus="registers"), clock_hz=12_000_000
)
"""A core behind a serial port, with every register of that."""

SECTION = re.compile(r"(<!-- begin registers[^\n]*-->\n).*?(<!-- end registers -->)", re.DOTALL)


def documents() -> dict[Path, str]:
    """Each document's path and its text."""
    registers = core_registers(FULL)
    host = host_registers(HOSTED)
    data_sheet = DOCS / "datasheet.md"
    tables = {DOCS / "registers.md": registers, DOCS / "board.md": host}
    return {
        **{sheet: _with_tables(sheet, markdown(shown)) for sheet, shown in tables.items()},
        data_sheet: filled(data_sheet.read_text(), FULL),
        DOCS / "ropeway.h": c_header(registers),
        DOCS / "ropeway.rdl": systemrdl(registers),
        DOCS / "ropeway_host.h": c_header(host),
        DOCS / "ropeway_host.rdl": systemrdl(host),
        DOCS / "ropeway.csv": register_csv([core_registers(HOSTED.core), host]),
    }


def _with_tables(sheet: Path, tables: str) -> str:
    """A page with its section of registers made anew."""
    return SECTION.sub(lambda found: f"{found[1]}{tables}{found[2]}", sheet.read_text())


def main():
    """Write every document."""
    for path, text in documents().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
