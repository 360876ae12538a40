# SPDX-License-Identifier: Apache-2.0
"""What a UARTBone makes of bytes, by its description alone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from struct import pack
from zlib import crc32

__all__ = ["UartboneModel", "read_request", "write_request"]

SPACE = 1 << 16
COMMANDS = {1: (True, True), 2: (False, True), 3: (True, False), 4: (False, False)}


def write_request(address: int, words: list[int], *, fixed: bool = False) -> bytes:
    """A request to write words from a byte address on."""
    return pack(f">BBI{len(words)}I", 3 if fixed else 1, len(words), address // 4, *words)


def read_request(address: int, count: int, *, fixed: bool = False) -> bytes:
    """A request to read words from a byte address on."""
    return pack(">BBI", 4 if fixed else 2, count, address // 4)


@dataclass
class UartboneModel:
    """``access(address, write, word)`` gives whether it was one, and the word read.

    Addresses beyond the space are ``SPACE`` and what was lost of them. ``request_crc`` may be read,
    and ``clear`` called, within an access.
    """

    access: Callable[[int, bool, int], tuple[bool, int]]
    answers: bytearray = field(default_factory=bytearray)
    request_crc: int = 0
    answer_crc: int = 0
    given_up: int = 0
    refused: int = 0
    _taken: bytearray = field(default_factory=bytearray)
    _astray: bool = False

    def clear(self):
        """Begin both CRCs anew."""
        self.request_crc = self.answer_crc = 0

    def silence(self):
        """Nothing comes for as long as it waits."""
        self.given_up += bool(self._taken) or self._astray
        self._taken.clear()
        self._astray = False

    def broken(self):
        """A byte comes that is not to be believed."""
        self._astray = True
        self._taken.clear()

    def byte(self, byte: int):
        """A byte comes."""
        if self._astray:
            return
        self._taken.append(byte)
        self.request_crc = crc32(bytes([byte]), self.request_crc)
        if len(self._taken) < 6:
            return
        command, count = self._taken[:2]
        words, goes_on = COMMANDS.get(command, (False, False)), 0
        writes, steps = words
        start = int.from_bytes(self._taken[2:6], "big")
        if command not in COMMANDS or count == 0:
            self._taken.clear()
        elif not writes:
            for goes_on in range(count):
                word = self._made(start, goes_on if steps else 0, write=False)
                self.answers += word.to_bytes(4, "big")
                self.answer_crc = crc32(word.to_bytes(4, "big"), self.answer_crc)
            self._taken.clear()
        elif len(self._taken) > 6 and (len(self._taken) - 6) % 4 == 0:
            number = (len(self._taken) - 6) // 4 - 1
            word = int.from_bytes(self._taken[-4:], "big")
            self._made(start, number if steps else 0, write=True, word=word)
            if number + 1 == count:
                self._taken.clear()

    def _made(self, start: int, number: int, *, write: bool, word: int = 0) -> int:
        address = 4 * (start + number)
        beyond = start * 4 >= SPACE or address >= SPACE
        done, read = self.access(address % SPACE | (SPACE if beyond else 0), write, word)
        self.refused += not done
        return read
