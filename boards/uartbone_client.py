# SPDX-License-Identifier: Apache-2.0
"""Accesses to a board's registers over its serial port, each batch of them checked by both CRCs."""

import time
from collections.abc import Sequence
from zlib import crc32

import numpy as np
import serial

from ropeway.golden.errors import InputError
from ropeway.hdl.host_registers import FLAGS, HOST_IDENTIFICATION
from ropeway.hdl.registers import BUS_BYTES, RegisterMap
from ropeway.hdl.uartbone import Command

__all__ = ["Batch", "LinkError", "UartboneClient"]

MOST_WORDS = 255  # of a burst, in one byte
BITS_A_BYTE = 10  # on the line
SILENCE = 0.1  # seconds after which the bridge gives a request up
MARGIN = 1.5  # times that, so that it surely has
ATTEMPTS = 3  # at finding the board again
LONGEST_NOISE = 2.0  # seconds of bytes that nobody asked for
LONGEST_WRITE = 5.0  # seconds that a batch may take beside the line's patience
SLICE = 0.02  # seconds that a read waits before the time is looked at


class LinkError(Exception):
    """The link, or the board, did not do what it was asked; the text says what happened."""


class Batch:
    """Accesses in their order, to be made and checked together.

    Words lie at byte addresses, one behind the other or, ``fixed``, all at one. Bursts are of at
    most ``burst`` words.
    """

    def __init__(self, burst: int = MOST_WORDS):
        self._burst, self.data, self.answers = burst, bytearray(), 0

    def write(self, address: int, words: Sequence[int] | np.ndarray, *, fixed: bool = False):
        """Write words."""
        given = np.asarray(words, dtype=np.uint32)
        command = Command.WRITE_FIXED if fixed else Command.WRITE
        for start in range(0, len(given), self._burst):
            part = given[start : start + self._burst]
            self._begin(command, len(part), address + (0 if fixed else BUS_BYTES * start))
            self.data += part.astype(">u4").tobytes()

    def read(self, address: int, count: int = 1, *, fixed: bool = False) -> slice:
        """Read words; where they will be among all that the batch answers."""
        command = Command.READ_FIXED if fixed else Command.READ
        for start in range(0, count, self._burst):
            some = min(self._burst, count - start)
            self._begin(command, some, address + (0 if fixed else BUS_BYTES * start))
        self.answers += count
        return slice(self.answers - count, self.answers)

    def _begin(self, command: Command, count: int, address: int):
        self.data += bytes([command, count]) + (address // BUS_BYTES).to_bytes(4, "big")


class UartboneClient:
    """A board behind a serial port, of which ``host`` are the registers beside its core's.

    ``port`` is what pyserial's ``serial_for_url`` takes. A bridge gives a request up after
    ``silence`` seconds; an answer's next byte may be ``patience`` seconds late. Once the board is
    found every byte either way is in a CRC that the board computes too, and that each batch is
    checked by; nothing of a batch that fails is ever given out.

    Raises InputError where the port cannot be opened.
    """

    def __init__(
        self,
        port: str,
        host: RegisterMap,
        *,
        baud: int,
        silence: float = SILENCE,
        patience: float = 1.0,
    ):
        self.port, self._host = port, host
        self._baud, self._silence, self._patience = baud, silence, patience
        self._asked = self._told = 0
        self.burst = max(1, min(MOST_WORDS, int(silence / 2 * baud) // (BITS_A_BYTE * BUS_BYTES)))
        try:
            self._serial = serial.serial_for_url(
                port, baudrate=baud, timeout=SLICE, write_timeout=patience + LONGEST_WRITE
            )
        except (OSError, ValueError) as error:
            raise InputError("port", port, f"cannot be opened: {_reason(error)}") from None

    def close(self):
        """Close the port."""
        self._serial.close()

    def batch(self) -> Batch:
        """An empty batch, of bursts that the bridge does not take for silence."""
        return Batch(self.burst)

    def exchange(self, batch: Batch, *, flags: bool = True) -> np.ndarray:
        """Make a batch's accesses; the words that were read, uint32.

        Raises LinkError where a byte was lost, changed or added either way, and for a flag of the
        board's unless ``flags`` do not matter. What has been done of the batch is not known then.
        """
        check = batch.read(self._host["HOST_FLAGS"].address(), 3)
        request = bytes(batch.data)
        answer = self._converse(request, BUS_BYTES * batch.answers)
        words = np.frombuffer(answer, dtype=">u4").astype(np.uint32)
        raised, asked, told = words[check].tolist()
        self._asked = crc32(request, self._asked)
        checked = crc32(answer[:-BUS_BYTES], self._told)
        self._told = crc32(answer[-BUS_BYTES:], checked)
        if asked != self._asked:
            raise LinkError("the board was asked something else: bytes to it were lost or changed")
        if told != checked:
            raise LinkError("the board told something else: bytes from it were lost or changed")
        if raised and flags:
            raise LinkError(self._flagged(raised))
        return words[: check.start]

    def synchronise(self):
        """Find the board, whatever was on the line: wait until it listens, and begin CRCs anew.

        Opens the port again where it was lost. Raises LinkError where the board is not found, or
        is none of Ropeway's.
        """
        reason: LinkError | None = None
        for _ in range(ATTEMPTS):
            try:
                self._reopen()
                self._drain()
                found = self._begin()
            except LinkError as error:
                reason = error
                continue
            if found != HOST_IDENTIFICATION:
                raise LinkError(f"{self.port} is no Ropeway board: it identifies as 0x{found:08x}")
            return
        raise LinkError(f"no board is found at {self.port}: {reason}")

    def _begin(self) -> int:
        """Begin the CRCs, and clear the board's flags; its identification."""
        clear = self.batch()
        clear.write(self._host["CRC_CLEAR"].address(), [1])
        self._send(bytes(clear.data))
        self._asked = self._told = 0
        first = self.batch()
        first.write(self._host["HOST_FLAGS"].address(), [(1 << len(FLAGS)) - 1])
        first.read(self._host["BOARD_IDENT"].address())
        return int(self.exchange(first)[0])

    def _converse(self, request: bytes, count: int) -> bytes:
        """Send bytes, and await so many, as long as any come."""
        self._send(request)
        seconds = len(request) * BITS_A_BYTE / self._baud + self._patience
        answer = b""
        while len(answer) < count and (more := self._receive(count - len(answer), seconds)):
            answer, seconds = answer + more, self._patience
        if len(answer) < count:
            raise LinkError(f"{len(answer)} of {count} bytes were answered, and then none")
        return answer

    def _receive(self, count: int, seconds: float) -> bytes:
        """Up to so many bytes that come together, none where none come in time."""
        answer, end = b"", time.monotonic() + seconds
        try:
            while not answer and time.monotonic() < end:
                answer = self._serial.read(count)
        except OSError as error:  # pyserial's own are such
            raise self._lost(error) from None
        return answer

    def _send(self, data: bytes):
        try:
            self._serial.write(data)
        except OSError as error:
            raise self._lost(error) from None

    def _lost(self, error: Exception) -> LinkError:
        self._serial.close()
        return LinkError(f"{self.port} is gone: {_reason(error)}")

    def _reopen(self):
        if self._serial.is_open:
            return
        try:
            self._serial.open()
        except (OSError, ValueError) as error:
            time.sleep(self._silence)  # for whoever is putting it back
            raise self._lost(error) from None

    def _drain(self):
        """Take what comes until the line is silent for so long that the bridge has given up."""
        end = time.monotonic() + LONGEST_NOISE
        while self._receive(1 << 12, MARGIN * self._silence):
            if time.monotonic() > end:
                raise LinkError(f"{self.port} does not fall silent")

    def _flagged(self, raised: int) -> str:
        told = (what for bit, what in enumerate(FLAGS.values()) if raised >> bit & 1)
        return " ".join(told)


def _reason(error: Exception) -> str:
    """What an error says of its cause; pyserial quotes the system's within its own."""
    return (getattr(error, "strerror", None) or str(error)).rpartition("] ")[2]
