# SPDX-License-Identifier: Apache-2.0
"""A memory behind AXI4's read channels, for Amaranth's simulator; it checks what it is asked."""

from collections import deque
from collections.abc import Callable

import numpy as np

__all__ = ["AxiMemory"]


class AxiMemory:
    """Answers bursts in order, ``latency`` clocks after their address, from ``content``.

    ``stall`` and ``pause`` are the chances that an address waits and that no word comes. Words at
    addresses that ``broken`` holds for are answered with SLVERR.
    """

    def __init__(
        self,
        axi,
        data_bits: int,
        *,
        latency: int = 20,
        stall: float = 0.0,
        pause: float = 0.0,
        seed: int = 0,
    ):
        self._axi, self._bytes = axi, data_bits // 8
        self.content, self.base = b"", 0
        self.broken: Callable[[int], bool] = lambda _address: False
        self.latency, self.stall, self.pause = latency, stall, pause
        self._random = np.random.default_rng(seed)
        self.bursts: list[tuple[int, int]] = []
        self.most_outstanding = 0

    async def answer(self, ctx):
        """Answer for ever."""
        axi, size = self._axi, self._bytes
        words: deque[tuple[int, int, bool]] = deque()  # due, address, last
        clock, pending = 0, None
        while True:
            ready = self._random.random() >= self.stall
            ctx.set(axi.arready, ready)
            gives = bool(words) and words[0][0] <= clock and self._random.random() >= self.pause
            ctx.set(axi.rvalid, gives)
            if gives:
                _, address, last = words[0]
                at = address - self.base
                ctx.set(axi.rdata, int.from_bytes(self.content[at : at + size], "little"))
                ctx.set(axi.rresp, 2 if self.broken(address) else 0)
                ctx.set(axi.rlast, last)
            _, _, valid, accepts, *asked = await ctx.tick().sample(
                axi.arvalid, axi.rready, axi.araddr, axi.arlen, axi.arsize, axi.arburst
            )
            clock += 1
            assert pending is None or (valid and asked == pending), "an address did not hold"
            pending = asked if valid and not ready else None
            address, length, *shape = asked
            if gives:
                assert accepts, "a word that was asked for had no place"
                words.popleft()
            if valid and ready:
                self._check(address, length + 1, shape)
                self.bursts.append((address, length + 1))
                for beat in range(length + 1):
                    words.append((clock + self.latency - 1, address + beat * size, beat == length))
                outstanding = sum(last for _, _, last in words)
                self.most_outstanding = max(self.most_outstanding, outstanding)

    def _check(self, address: int, beats: int, shape: list[int]):
        size, burst = shape
        assert 1 << size == self._bytes
        assert burst == 1, "not incrementing"
        assert address % self._bytes == 0
        assert address // 4096 == (address + beats * self._bytes - 1) // 4096, "crosses 4 KB"
        inside = self.base <= address and address + beats * self._bytes <= self.base + len(
            self.content
        )
        assert inside, f"reads outside the table: {address:#x}"
