# SPDX-License-Identifier: Apache-2.0
"""Files written whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from ropeway.golden import InputError

__all__ = ["write_whole"]


def write_whole(path: str | Path, content: bytes | Callable[[IO[bytes]], None]):
    """Put ``content``, or what it writes, at ``path`` in one step; InputError where that fails."""
    path = Path(path)
    if path.exists() and not path.is_file():
        raise InputError("output", str(path), "is there already and is no file")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                if callable(content):
                    content(file)
                else:
                    file.write(content)
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise InputError("output", str(path), f"cannot be written: {reason}") from None


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
