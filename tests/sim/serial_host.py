# SPDX-License-Identifier: Apache-2.0
"""A host on the serial port of a hosted core that is compiled, clock by clock."""

from collections.abc import Iterable, Sequence
from struct import unpack

import numpy as np

from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.host_registers import host_registers
from ropeway.hdl.hosted_core import HostedCore
from ropeway.sim.native import NativeModel
from ropeway.sim.native_serial import SerialLine
from tests.hdl.uartbone_model import read_request, write_request

__all__ = ["SerialHost"]

SLICE, QUIET = 500_000, 200  # clocks that a run lasts at most, and without a bit
PATIENCE = 20  # polls


class SerialHost:
    """A program that knows registers by their names; bits are a whole number of clocks."""

    def __init__(self, p: HostedParameters, model: NativeModel | None = None):
        self.parameters, self._bit = p, p.clock_hz // p.baud
        self.model = model or NativeModel(HostedCore(p), streams=())
        self.host, self.core = host_registers(p), core_registers(p.core)
        self.power_on()

    def power_on(self) -> "SerialHost":
        """Begin as after power-on."""
        self.answers = bytearray()
        self.model.restart()
        self._line = SerialLine(self.model, self._bit)
        return self

    def _of(self, name: str):
        return self.host[name] if name in self.host else self.core[name]

    def write(self, name: str, *words: int, at: int = 0, fixed: bool = False):
        """Write words, one behind the other from one of an array on, or ``fixed`` all to one."""
        self.send(write_request(self._of(name).address(at), list(words), fixed=fixed))

    def read(self, name: str, count: int = 1, *, fixed: bool = False) -> list[int]:
        """Read words from a register on, or ``fixed`` all of one."""
        self.send(read_request(self._of(name).address(), count, fixed=fixed))
        return list(unpack(f">{count}I", self.take(4 * count)))

    def fields(self, name: str) -> dict[str, int]:
        """A register's fields."""
        return self._of(name).decode(self.read(name)[0])

    def flags(self) -> set[str]:
        """Flags that are set, which then are no more."""
        (word,) = self.read("HOST_FLAGS")
        self.write("HOST_FLAGS", word)
        return {name for name, value in self.host["HOST_FLAGS"].decode(word).items() if value}

    def send(self, data: bytes):
        """Send bytes, and keep all that is answered."""
        while True:
            done = self._line.run(data, clocks=SLICE, quiet=QUIET)
            data = data[done.taken :]
            self.answers += done.data
            if not data and done.clocks < SLICE:
                return

    def bits(self, bits: Iterable[int]):
        """Drive bits, whatever they are, and leave the line high."""
        for bit in (*bits, 1):
            self.model.poke("rx", bit)
            self.model.step(self._bit)

    def take(self, count: int) -> bytes:
        """What was answered, which must be so many bytes."""
        taken = bytes(self.answers)
        self.answers.clear()
        assert len(taken) == count
        return taken

    def wait(self, clocks: int):
        """Let time pass, in which nothing may come."""
        assert not self._line.run(clocks=clocks).data

    def silence(self):
        """Let so much pass that a request is given up."""
        self.wait(self.parameters.timeout + 100)

    def load(self, words: Sequence[int], slot: int = 0):
        """Load an image into a slot."""
        self.write("LOAD", self.core["LOAD"].encode(target=slot, words=len(words)))
        self.write("LOAD_WINDOW", *map(int, words))

    def put(self, tokens: np.ndarray, positions: Sequence[int], slot: int = 0):
        """Positions, and tokens of 16-bit elements."""
        for position in positions:
            self.write("POSITION_IN", position & 0xFFFF_FFFF, slot, fixed=True)
        self.write("PACKET_BEATS", tokens[0].size // self.parameters.core.beat_elements)
        for token in tokens:
            words = token.astype("<i2").reshape(-1).view("<u4")
            self.write("VECTOR_IN", *words.tolist(), fixed=True)

    def get(self, tokens: np.ndarray) -> np.ndarray:
        """As many results, as they come. Raises TimeoutError."""
        found, count = [], tokens.size // 2
        for _ in range(PATIENCE):
            (ready,) = self.read("VECTOR_READY")
            if ready:
                some = min(ready, count - len(found))
                found += self.read("VECTOR_OUT", some, fixed=True)
            if len(found) == count:
                return np.array(found, "<u4").view("<i2").reshape(tokens.shape)
        raise TimeoutError(f"{len(found)} words of {count} came")
