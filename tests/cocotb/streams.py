# SPDX-License-Identifier: Apache-2.0
"""Drivers of valid/ready streams under cocotb, one step a clock."""

from collections.abc import Sequence

import numpy as np


class Source:
    """Offers items in order, after ``idle`` clocks at random, until ready."""

    def __init__(self, unit, name: str, items: Sequence[int], idle: float, seed: int):
        self._valid, self._ready = getattr(unit, f"{name}__valid"), getattr(unit, f"{name}__ready")
        self._payload = getattr(unit, f"{name}__payload")
        self._items, self._idle = items, idle
        self._random = np.random.default_rng(seed)
        self._offered, self.sent = False, 0
        self._valid.value = 0

    @property
    def done(self) -> bool:
        return self.sent == len(self._items)

    def clock(self) -> bool:
        """What this clock's edge did, and what the next one finds; whether an item went."""
        went = self._offered and bool(int(self._ready.value))
        if went:
            self.sent += 1
            self._offered = False
        if not self._offered and not self.done and self._random.random() >= self._idle:
            self._payload.value = int(self._items[self.sent])
            self._offered = True
        self._valid.value = int(self._offered)
        return went


class Sink:
    """Takes items with random stalls; a valid item must stay as it is until it is taken."""

    def __init__(self, unit, name: str, stall: float, seed: int):
        self._valid, self._ready = getattr(unit, f"{name}__valid"), getattr(unit, f"{name}__ready")
        self._payload = getattr(unit, f"{name}__payload")
        self._stall, self._random = stall, np.random.default_rng(seed)
        self.items: list[int] = []
        self.clocks: list[int] = []
        self._taking, self._pending = False, None
        self._ready.value = 0

    def clock(self, number: int) -> bool:
        """What this clock's edge did, and what the next one finds; whether an item came."""
        valid = bool(int(self._valid.value))
        payload = int(self._payload.value) if valid else None
        if self._pending is not None:
            assert payload == self._pending, "an item changed or fell before it was taken"
        came = valid and self._taking
        if came:
            self.items.append(payload)
            self.clocks.append(number)
        self._pending = None if came else payload
        self._taking = self._random.random() >= self._stall
        self._ready.value = int(self._taking)
        return came
