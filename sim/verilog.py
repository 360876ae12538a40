# SPDX-License-Identifier: Apache-2.0
"""A component as a Verilog file, for simulators and flows of other languages."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from amaranth.back import rtlil
from amaranth.lib import wiring

from .cell_library import CellLibrary
from .yosys import run_yosys

__all__ = ["environment", "write_verilog"]

# Assignments and registers only: of `always @*`, which some simulators enter late, none is left.
# Attributes stay that tell a synthesizer of memories; those of Amaranth's own go.
SCRIPT = """\
read_rtlil {name}.il
hierarchy -check -top {name}
proc
opt_clean -purge
pmuxtree
check -assert
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr
memory_collect
attrmap {own} -remove full_case
attrmap -modattr {own}
write_verilog -norename {name}.v
"""
OWN = " ".join(
    f"-remove {name}"
    for name in ("generator", "top", "src", "amaranth.hierarchy", "amaranth.decoding")
)


@contextmanager
def environment(**values: str | None) -> Iterator[None]:
    """This process's environment with some variables set, or without those that are None."""
    before = {name: os.environ.get(name) for name in values}
    _set(values)
    try:
        yield
    finally:
        _set(before)


def _set(values: dict[str, str | None]):
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def write_verilog(
    component: wiring.Component, path: Path, name: str, library: CellLibrary | None = None
) -> Path:
    """Write a component as the Verilog-2001 module ``name``; ``path``.

    Its ports are the signature's, ``__`` between the parts of a name, and ``clk`` and ``rst``; a
    payload is one vector. The file names no source, so that the same hardware gives the same file.
    Multipliers and memories are such that any synthesizer infers them, or with a ``library`` its
    family's own blocks.

    Raises RuntimeError where there is no Yosys, and for a latch, a loop without a register or a
    wire of two drivers.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        text = rtlil.convert(component, name=name, platform=library, emit_src=False)
        (folder / f"{name}.il").write_text(text)
        script = SCRIPT.format(name=name, own=OWN)
        run_yosys((library.declaring() if library else "") + script, folder)
        _, _, body = (folder / f"{name}.v").read_text().partition("*/\n")  # Yosys names its build
    path.write_text(body.lstrip())
    return path
