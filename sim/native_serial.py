# SPDX-License-Identifier: Apache-2.0
"""A serial line on two ports of a compiled model, at the speed of the model."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_uint8, c_uint64, c_void_p
from dataclasses import dataclass

from .native import NativeModel

__all__ = ["NO_LIMIT", "SerialLine", "SerialRun"]

NO_LIMIT = (1 << 64) - 1
ROOM = 1 << 16  # bytes of an answer that one run gives


@dataclass(frozen=True)
class SerialRun:
    """What a run did: ``clocks`` passed, ``taken`` bytes are at least begun, ``data`` came."""

    clocks: int
    taken: int
    data: bytes


class SerialLine:
    """Sends bytes to a model's input ``rx`` and takes those of its output ``tx``.

    Bits last ``clocks_per_bit``, which need be no whole number: 8 of data, no parity, 1 stop bit.
    The model may not be restarted while the line is there.
    """

    def __init__(
        self, model: NativeModel, clocks_per_bit: float, *, rx: str = "rx", tx: str = "tx"
    ):
        self._model = model
        self._run = model.function(
            "serial_run",
            c_uint64,
            *(c_void_p, c_void_p, c_uint64, c_uint64),
            *(c_char_p, c_uint64, POINTER(c_uint64)),
            *(POINTER(c_uint8), c_uint64, POINTER(c_uint64)),
        )
        self._delete = model.function("serial_delete", None, c_void_p)
        new = model.function("serial_new", c_void_p, c_void_p, c_int32, c_int32, c_double)
        self._line = new(model.handle, model.number(rx), model.number(tx), clocks_per_bit)
        self._found = (c_uint8 * ROOM)()

    def __del__(self):
        if hasattr(self, "_line"):
            self._delete(self._line)

    def run(self, data: bytes = b"", *, clocks: int, quiet: int = NO_LIMIT) -> SerialRun:
        """Let ``clocks`` pass, or fewer where all is sent and no bit has moved for ``quiet``."""
        taken, given = c_uint64(), c_uint64()
        passed = self._run(
            *(self._model.handle, self._line, clocks, quiet),
            *(data, len(data), byref(taken)),
            *(self._found, ROOM, byref(given)),
        )
        found = ctypes.string_at(self._found, given.value)
        return SerialRun(passed, taken.value, found)
