# SPDX-License-Identifier: Apache-2.0
"""Arrays in and out of ``.npz`` archives, where nothing is ever unpickled."""

import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from .errors import InputError

__all__ = ["read_arrays", "whole_numbers", "write_arrays"]

NUMBERS = "iuf"


def read_arrays(path: str | Path, known: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays of integers or floats in the archive, by name.

    Raises InputError for a file that is no whole archive, a name outside ``known``, another type.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise InputError("input", str(path), "must be a whole .npz archive")
            file.seek(0)
            return _read(file, known)
    except InputError:
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise InputError("input", str(path), f"cannot be read: {reason}") from None
    except Exception as error:  # broken bytes raise a dozen kinds, in zipfile, zlib and NumPy
        raise InputError("input", str(path), f"must be a whole .npz archive: {error}") from None


def _read(file: IO[bytes], known: Sequence[str]) -> dict[str, np.ndarray]:
    arrays = {}
    with np.load(file, allow_pickle=False) as archive:
        for name in archive.files:
            if name not in known:
                raise InputError("array", name, f"must be one of {', '.join(known)}")
            array = archive[name]
            kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            if not isinstance(array, np.ndarray) or array.dtype.kind not in NUMBERS:
                raise InputError(name, str(kind), "must be an array of integers or floats")
            arrays[name] = array
    return arrays


def write_arrays(file: IO[bytes], arrays: Mapping[str, np.ndarray]):
    """Write an archive that ``read_arrays`` and ``numpy.load`` take."""
    np.savez(file, **arrays)  # type: ignore[arg-type]


def whole_numbers(name: str, array: np.ndarray) -> np.ndarray:
    """``array`` where all of it is integers, of whatever type; InputError where it is not."""
    if array.dtype.kind == "f":
        broken = ~np.isfinite(array) | (array != np.floor(array))
        if broken.any():
            raise InputError(name, float(array[broken][0]), "must be integers")
    return array
