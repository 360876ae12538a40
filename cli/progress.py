# SPDX-License-Identifier: Apache-2.0
"""A bar on a terminal while long work is done."""

import sys
from time import monotonic

__all__ = ["ProgressBar"]

WIDTH = 30
SHOWN_AFTER, REDRAWN_EVERY = 1.0, 0.1  # seconds: short work shows nothing


class ProgressBar:
    """Called with what is being done, how much is done, and of how much; draws on stderr.

    A context manager that clears its line in the end; nothing is drawn where stderr is no terminal.
    """

    def __init__(self):
        self._next = monotonic() + SHOWN_AFTER
        self._shows = sys.stderr.isatty()
        self._drawn = False

    def __call__(self, what: str, done: int, total: int):
        """Draw, unless that was done a moment ago."""
        now = monotonic()
        if not self._shows or now < self._next:
            return
        self._next = now + REDRAWN_EVERY
        self._drawn = True
        filled = WIDTH * done // max(total, 1)
        bar = "#" * filled + "-" * (WIDTH - filled)
        print(f"\r\x1b[K[{bar}] {done}/{total} {what}", end="", file=sys.stderr, flush=True)

    def clear(self):
        """Take the bar away, until it is next drawn."""
        if self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._drawn = False

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *_exception: object):
        self.clear()
