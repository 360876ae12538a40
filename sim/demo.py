# SPDX-License-Identifier: Apache-2.0
"""What every demonstration is made of: claims, and what holds the hardware to them."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from ropeway.golden.engines import Progress, silent

from .bench import Gate, Traffic

__all__ = ["Claim", "Demonstration", "equality", "in_chunks"]


@dataclass(frozen=True)
class Claim:
    """Something to show, what was seen, and whether that shows it."""

    text: str
    seen: str
    holds: bool


class Demonstration(ABC):
    """The prompt through one scheme's hardware; nothing is compared but what came out of it.

    ``heading`` says what it goes through. A unit is elaborated once. After ``claims`` has been
    exhausted, ``draw`` can write the figure.
    """

    scheme: ClassVar[str]
    heading: ClassVar[str]

    def __init__(self, progress: Progress = silent):
        self._progress = progress

    @abstractmethod
    def claims(self) -> Iterator[Claim]:
        """Simulate, and yield every claim as soon as it can be judged."""

    @abstractmethod
    def draw(self, path: Path):
        """Write the figure; needs matplotlib."""

    def watched(self, what: str, total: int) -> Gate:
        """A sink that is always ready, and tells of its progress."""

        def gate(state, _random) -> bool:
            self._progress(what, state.tokens_out, total)
            return True

        return gate


def equality(text: str, found: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> Claim:
    """The claim that arrays equal each other, element by element."""
    wrong = sum(int(np.count_nonzero(found[name] != wanted[name])) for name in found)
    size = sum(array.size for array in found.values())
    seen = f"{size} elements" if wrong == 0 else f"{wrong} of {size} elements differ"
    return Claim(text, seen, wrong == 0)


def in_chunks(sizes: Sequence[int], beats: Sequence[int], sink: Gate) -> Traffic:
    """Packets of so many ``beats`` each in chunks of ``sizes``, one going in when the last is out.

    Chunks of one token are decoding.
    """
    starts = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes).tolist()
    ends = np.cumsum(beats).tolist()

    def gate(packet: int, packets_out: int) -> bool:
        return packet < len(starts) and starts[packet] <= packets_out

    return Traffic(
        data=lambda state, _random: gate(bisect_right(ends, state.beats), state.tokens_out),
        position=lambda state, _random: gate(state.positions, state.tokens_out),
        sink=sink,
    )
