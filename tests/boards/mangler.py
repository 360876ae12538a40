# SPDX-License-Identifier: Apache-2.0
"""A line that loses, changes, repeats and adds bytes, and breaks, between a host and a board."""

import select
import socket
import threading
from urllib.parse import urlsplit

import numpy as np

__all__ = ["FAULTS", "Mangler"]

LONGEST = 40  # bytes that one fault concerns
FAULTS = ("loss", "corruption", "duplication", "truncation", "insertion", "disconnection")


class Mangler:
    """A server that passes bytes on to a board at ``url``, and does it wrongly.

    One of the ``faults`` befalls about every ``every``-th byte, either way; ``garbage`` bytes come
    before everything on each connection. ``heal`` ends all that; ``strike`` makes one fault to
    come, at a byte that a ``side`` sends. ``befallen`` counts faults.
    """

    def __init__(
        self,
        url: str,
        faults: tuple[str, ...] = (),
        seed: int = 0,
        *,
        every: int = 4000,
        garbage: int = 0,
    ):
        self._board = (urlsplit(url).hostname, urlsplit(url).port)
        self._faults, self._every, self._garbage = faults, every, garbage
        self._random = np.random.default_rng(seed)
        self._server = socket.create_server(("127.0.0.1", 0))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.befallen = dict.fromkeys(FAULTS, 0)
        self._strikes: dict[str, tuple[str, int]] = {}

    @property
    def url(self) -> str:
        """What pyserial opens."""
        return f"socket://127.0.0.1:{self._server.getsockname()[1]}"

    def heal(self):
        """Pass bytes as they are from now on."""
        self._faults, self._garbage = (), 0

    def strike(self, side: str, fault: str, at: int):
        """Let a fault befall the ``at``-th byte that the "host" or the "board" sends next."""
        self._strikes[side] = fault, at

    def __enter__(self) -> "Mangler":
        self._thread.start()
        return self

    def __exit__(self, *_exception: object):
        self._stop.set()
        self._thread.join()
        self._server.close()

    def _serve(self):
        with socket.create_connection(self._board) as board:
            while not self._stop.is_set():
                if select.select([self._server, board], [], [], 0.02)[0] == [board]:
                    if not board.recv(1 << 16):  # nobody is there to take it
                        return
                    continue
                if select.select([self._server], [], [], 0)[0]:
                    with self._server.accept()[0] as host:
                        self._between(host, board)

    def _between(self, host: socket.socket, board: socket.socket):
        """Pass bytes both ways until the connection to the host breaks."""
        for side in (host, board):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            side.sendall(self._random.bytes(self._garbage))
        while not self._stop.is_set():
            for side in select.select([host, board], [], [], 0.02)[0]:
                try:
                    data = side.recv(1 << 16)
                    if not data:
                        return
                    passed = self._mangled(bytearray(data))
                    name = "host" if side is host else "board"
                    passed = passed if passed is None else self._struck(name, passed)
                    if passed is None:
                        return
                    (board if side is host else host).sendall(passed)
                except OSError:
                    return

    def _mangled(self, data: bytearray) -> bytearray | None:
        """What becomes of bytes; None where the connection breaks instead."""
        at = 0
        while self._faults:
            at += int(self._random.geometric(1 / self._every))
            if at >= len(data):
                break
            if not self._befall(data, str(self._random.choice(self._faults)), at):
                return None
        return data

    def _struck(self, side: str, data: bytearray) -> bytearray | None:
        """What a strike makes of bytes from a side."""
        fault, at = self._strikes.pop(side, ("", 0))
        if fault and at >= len(data):
            self._strikes[side] = fault, at - len(data)
        elif fault and not self._befall(data, fault, at):
            return None
        return data

    def _befall(self, data: bytearray, fault: str, at: int) -> bool:
        """Let a fault befall bytes; whether the connection goes on."""
        self.befallen[fault] += 1
        length = int(self._random.integers(1, LONGEST))
        match fault:
            case "loss":
                del data[at]
            case "corruption":
                data[at] ^= 1 << int(self._random.integers(8))
            case "duplication":
                data[at:at] = data[max(0, at - length) : at + 1]
            case "truncation":
                del data[at:]
            case "insertion":
                data[at:at] = self._random.bytes(length)
        return fault != "disconnection"
