# SPDX-License-Identifier: Apache-2.0
"""What the slots of a board hold, loaded as it is asked for."""

import time
from collections.abc import Callable, Collection
from itertools import chain
from typing import TypeVar

import numpy as np

from ropeway.golden.self_test import Held
from ropeway.golden.table import PhaseTable

from .board import Board
from .uartbone_client import LinkError

__all__ = ["BoardSlots"]

PATIENCE = 2.0  # seconds that a core may take to digest an image, polls included

Found = TypeVar("Found")


class BoardSlots:
    """The slots of a ``board``'s units, of which nothing is known at first.

    Raises LinkError where the link fails; after that the board is to be forgotten.
    """

    def __init__(self, board: Board):
        self._board, self._known = board, False
        self._held: dict[int, Held] = {}

    def forget(self):
        """Nothing is known of what the board does and holds."""
        self._known = False

    def prepare(self):
        """Reset the board, unless it is known to be idle and what it holds is known."""
        if not self._known:
            self._held.clear()
            self._board.write("RESET", value=1)
            self._known = True

    def hold(self, table: Held, keep: Collection[Held] = ()) -> int:
        """The slot that holds a table; it is loaded into one that holds none of ``keep``."""
        self.prepare()
        for slot, held in self._held.items():
            if held == table:
                return slot
        unit = "rope" if isinstance(table, PhaseTable) else table.scheme
        slots = [n for n, name in enumerate(self._board.parameters.core.slots) if name == unit]
        free = (slot for slot in slots if slot not in self._held)
        oldest = (n for n, held in self._held.items() if n in slots and held not in keep)
        slot = next(chain(free, oldest))
        self._held.pop(slot, None)
        self._load(slot, table.image())
        found = _until(lambda: self._board.fingerprint(slot), "the table is not digested")
        if found != table.fingerprint:
            raise LinkError(f"the board's digest of its table is {found}, not {table.fingerprint}")
        self._held[slot] = table
        return slot

    def _load(self, target: int, image: np.ndarray):
        """Load an image, as docs/registers.md says."""
        board = self._board
        begin, window = board.registers["LOAD"], board.registers["LOAD_WINDOW"]
        before = board.read("TARGET_STATUS", target)["epoch"]
        batch = board.client.batch()
        batch.write(begin.address(), [begin.encode(target=target, words=len(image))])
        batch.write(window.address(), image[:1])
        board.client.exchange(batch)
        _until(lambda: not board.read("LOAD_STATUS")["pending"], "the table is not taken")
        # Whoever has taken the first word takes the others as they come.
        batch = board.client.batch()
        for start in range(0, len(image), window.count):
            first = max(start, 1)
            batch.write(window.address(first % window.count), image[first : start + window.count])
        board.client.exchange(batch)

        def loaded() -> bool:
            state = board.read("TARGET_STATUS", target)
            return bool(state["loaded"]) and state["epoch"] != before

        _until(loaded, "the table is refused: it is malformed, or its slot is in use")


def _until(holds: Callable[[], Found], otherwise: str) -> Found:
    """What ``holds`` returns once it is true. Raises LinkError where it does not become so."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        if time.monotonic() > end:
            raise LinkError(otherwise)
    return found
