# SPDX-License-Identifier: Apache-2.0
"""Results kept by the content that they were made of: the same question is asked once."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

__all__ = ["Cache", "content_key"]


def content_key(parts: Iterable[object]) -> str:
    """A hash of everything that decides a result."""
    digest = hashlib.sha256()
    for part in parts:
        text = str(part).encode()
        digest.update(f"{len(text)} ".encode() + text)
    return digest.hexdigest()


class Cache:
    """Files in ``folder``, each named by its key and written whole or not at all."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, key: str) -> bytes | None:
        """What is kept under a key; None where nothing is."""
        try:
            return (self.folder / key).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, key: str, content: bytes):
        """Keep ``content``."""
        written = self.folder / f"{key}.{os.getpid()}"
        written.write_bytes(content)
        written.replace(self.folder / key)
