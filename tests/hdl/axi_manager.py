# SPDX-License-Identifier: Apache-2.0
"""A manager of AXI4-Lite whose five channels go by themselves, idle and stalled at random."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Pace", "Write", "read", "transfer", "write"]

TIMEOUT = 400  # clocks in which nothing moves
QUIET = 30  # clocks after the last response
PAYLOADS = {
    "aw": ("awaddr",),
    "w": ("wdata", "wstrb"),
    "ar": ("araddr",),
    "b": ("bresp",),
    "r": ("rresp", "rdata"),
}

Write = tuple[int, int, int]
"""An address, a word and its strobes."""


@dataclass(frozen=True)
class Pace:
    """Chances that a channel waits to offer and to take, clocks until addresses and data begin."""

    idle: float = 0.0
    stall: float = 0.0
    seed: int = 0
    lag: tuple[int, int] = (0, 0)


FULL = Pace()


class Channel:
    """One channel: what is offered or has been taken."""

    def __init__(self, axi, name: str):
        self.valid, self.ready = (getattr(axi, f"{name}{end}") for end in ("valid", "ready"))
        self.payload = [getattr(axi, field) for field in PAYLOADS[name]]
        self.items: list[tuple[int, ...]] = []
        self.active = False

    @property
    def sampled(self):
        return (self.valid, self.ready, *self.payload)


class Sender(Channel):
    """Offers items in order, each until it is taken."""

    def __init__(self, axi, name: str, items: Sequence[tuple[int, ...]], late: int = 0):
        super().__init__(axi, name)
        self.items, self.late = list(items), late

    def prepare(self, ctx, random, pace: Pace):
        self.late -= 1
        if not self.active and self.items and self.late < 0 and random.random() >= pace.idle:
            self.active = True
            for signal, value in zip(self.payload, self.items.pop(0), strict=True):
                ctx.set(signal, value)
        ctx.set(self.valid, self.active)

    def observe(self, valid, ready, *_payload) -> bool:
        went = bool(valid and ready)
        self.active &= not went
        return went

    @property
    def done(self) -> bool:
        return not self.active and not self.items


class Receiver(Channel):
    """Takes responses, each of which must stay as it is until then."""

    def __init__(self, axi, name: str, count: int):
        super().__init__(axi, name)
        self._count, self._pending = count, None

    def prepare(self, ctx, random, pace: Pace):
        ctx.set(self.ready, random.random() >= pace.stall)

    def observe(self, valid, ready, *payload) -> bool:
        now = tuple(map(int, payload)) if valid else None
        assert self._pending in (None, now), "a response changed or fell before it was taken"
        self._pending = None if ready else now
        if valid and ready:
            self.items.append(now)
            assert len(self.items) <= self._count, "a response too many"
        return bool(valid and ready)

    @property
    def done(self) -> bool:
        return len(self.items) == self._count


async def transfer(ctx, axi, writes: Sequence[Write], reads: Sequence[int], pace: Pace = FULL):
    """Make writes and reads at once; the responses of each, in their order."""
    random = np.random.default_rng(pace.seed)
    b, r = Receiver(axi, "b", len(writes)), Receiver(axi, "r", len(reads))
    channels = [
        Sender(axi, "aw", [(address,) for address, _, _ in writes], pace.lag[0]),
        Sender(axi, "w", [(word, strobe) for _, word, strobe in writes], pace.lag[1]),
        Sender(axi, "ar", [(address,) for address in reads]),
        b,
        r,
    ]
    sampled = [signal for channel in channels for signal in channel.sampled]
    quiet = 0
    while quiet < QUIET or not all(channel.done for channel in channels):
        for channel in channels:
            channel.prepare(ctx, random, pace)
        _, _, *values = await ctx.tick().sample(*sampled)
        moved = False
        for channel in channels:
            mine, values = values[: len(channel.sampled)], values[len(channel.sampled) :]
            moved |= channel.observe(*mine)
        quiet = 0 if moved else quiet + 1
        assert quiet < TIMEOUT, "nothing moves"
    return b.items, r.items


async def write(ctx, axi, address: int, word: int, strobe: int = 0xF) -> int:
    """One write; its response."""
    for name, value in (("awaddr", address), ("wdata", word), ("wstrb", strobe), ("bready", 1)):
        ctx.set(getattr(axi, name), value)
    ctx.set(axi.awvalid, 1)
    ctx.set(axi.wvalid, 1)
    for _ in range(TIMEOUT):
        _, _, address_taken, word_taken, valid, code = await ctx.tick().sample(
            axi.awready, axi.wready, axi.bvalid, axi.bresp
        )
        if address_taken:
            ctx.set(axi.awvalid, 0)
        if word_taken:
            ctx.set(axi.wvalid, 0)
        if valid:
            return int(code)
    raise TimeoutError(f"a write to {address:#x} is not answered")


async def read(ctx, axi, address: int) -> tuple[int, int]:
    """One read; its response and the word."""
    for name, value in (("araddr", address), ("arvalid", 1), ("rready", 1)):
        ctx.set(getattr(axi, name), value)
    for _ in range(TIMEOUT):
        _, _, taken, valid, code, word = await ctx.tick().sample(
            axi.arready, axi.rvalid, axi.rresp, axi.rdata
        )
        if taken:
            ctx.set(axi.arvalid, 0)
        if valid:
            return int(code), int(word)
    raise TimeoutError(f"a read of {address:#x} is not answered")
