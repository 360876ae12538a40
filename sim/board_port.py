# SPDX-License-Identifier: Apache-2.0
"""The host's side of a simulated board: a TCP socket or a pseudo-terminal, as a serial port."""

import os
import select
import socket
import tty
from abc import ABC, abstractmethod
from contextlib import suppress

__all__ = ["BoardPort", "PtyPort", "TcpPort"]

BLOCK = 4096  # bytes that are taken at once, so that a board is not far ahead of its simulation
PATIENCE = 1.0  # seconds that an answer waits for the host to take it, before it is lost
HOST = "127.0.0.1"


class BoardPort(ABC):
    """Bytes from a host and to it; ``url`` is what pyserial opens.

    ``wake`` ends a ``read`` that waits. Like a serial port it stays there when the host goes, and
    what nobody takes is lost.
    """

    url: str

    def __init__(self):
        self._wakes, self._wakened = os.pipe()[::-1]

    def wake(self):
        """Let ``read`` return, now or when it is next called."""
        os.write(self._wakes, b"\0")

    def close(self):
        """Take the port away."""
        os.close(self._wakes)
        os.close(self._wakened)

    def read(self, wait: float | None) -> bytes:
        """What has come, nothing where that is nothing in ``wait`` seconds (None: for ever)."""
        source = self._source()
        ready, _, _ = select.select([source, self._wakened], [], [], wait)
        if self._wakened in ready:
            os.read(self._wakened, 64)
        return self._take() if source in ready else b""

    @abstractmethod
    def write(self, data: bytes):
        """Give bytes to the host."""

    @abstractmethod
    def _source(self) -> int:
        """A file descriptor to wait for."""

    @abstractmethod
    def _take(self) -> bytes:
        """What is there at it."""


class TcpPort(BoardPort):
    """A socket that one host after the other connects to.

    ``number`` 0 takes any that is free. Raises OSError where it is taken.
    """

    def __init__(self, number: int = 0):
        super().__init__()
        try:
            self._listener = socket.create_server((HOST, number), backlog=8)
        except OSError:
            super().close()
            raise
        self._host: socket.socket | None = None
        self.url = f"socket://{HOST}:{self._listener.getsockname()[1]}"

    def write(self, data: bytes):  # noqa: D102
        if self._host is None:
            return
        with suppress(TimeoutError):
            try:
                self._host.sendall(data)
            except ConnectionError:
                self._part()

    def close(self):  # noqa: D102
        self._part()
        self._listener.close()
        super().close()

    def _source(self) -> int:
        return (self._host or self._listener).fileno()

    def _take(self) -> bytes:
        if self._host is None:
            self._host, _ = self._listener.accept()
            self._host.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._host.settimeout(PATIENCE)
            return b""
        try:
            found = self._host.recv(BLOCK)
        except OSError:
            found = b""
        if not found:
            self._part()
        return found

    def _part(self):
        """Close the connection to the host."""
        if self._host is not None:
            self._host.close()
            self._host = None


class PtyPort(BoardPort):
    """A pseudo-terminal, which programs that know no ``socket://`` open as a serial port."""

    def __init__(self):
        super().__init__()
        self._mine, self._theirs = os.openpty()  # theirs open, so that mine outlives a host
        tty.setraw(self._theirs)
        os.set_blocking(self._mine, False)
        self.url = os.ttyname(self._theirs)

    def write(self, data: bytes):  # noqa: D102
        while data and select.select([], [self._mine], [], PATIENCE)[1]:
            data = data[os.write(self._mine, data) :]

    def close(self):  # noqa: D102
        os.close(self._mine)
        os.close(self._theirs)
        super().close()

    def _source(self) -> int:
        return self._mine

    def _take(self) -> bytes:
        return os.read(self._mine, BLOCK)
