# SPDX-License-Identifier: Apache-2.0
"""A board's bitstream, and the command that hands it to the board's loader."""

import hashlib
import json
import shlex
import shutil
from pathlib import Path

from ropeway.golden.errors import InputError

from .bitstream import RECORD
from .catalogue import Board

__all__ = ["program_command"]


def program_command(name: str, board: Board, folder: Path) -> list[str]:
    """The command that programs the board with what was built for it in ``folder``.

    Raises InputError where that is not there, whole and this board's, or its loader is not.
    """
    try:
        record = json.loads((folder / RECORD).read_text())
        file = folder / record["bitstream"]
        content = file.read_bytes()
    except FileNotFoundError as missing:
        rule = f"is not there: ropeway build {name} -o {folder}"
        raise InputError("bitstream", str(missing.filename), rule) from None
    if record["board"] != name:
        raise InputError("board", name, f"{folder} is of {record['board']}")
    if hashlib.sha256(content).hexdigest() != record["bitstream_sha256"]:
        raise InputError("bitstream", str(file), f"is not the one of {RECORD}: build it again")
    loader, *options = shlex.split(board.program)
    found = shutil.which(loader)
    if found is None:
        command = shlex.join([loader, *options, str(file)])
        raise InputError("loader", loader, f"is not on the PATH; with it, run: {command}")
    return [found, *options, str(file)]
