# SPDX-License-Identifier: Apache-2.0
"""Gates for a bench's streams: when each may go on, from how far the others are."""

from collections.abc import Sequence

import numpy as np

from .bench import Gate, Progress

__all__ = ["all_of", "every", "from_clock", "loaded", "positions_ahead", "until_output"]


def all_of(*gates: Gate) -> Gate:
    """Open while every one of ``gates`` is."""
    return lambda progress, random: all(gate(progress, random) for gate in gates)


def every(clocks: int) -> Gate:
    """Open in one clock of ``clocks``: a starved stream."""
    return lambda progress, _random: progress.clock % clocks == 0


def from_clock(clock: int) -> Gate:
    """Shut before ``clock``: a late stream."""
    return lambda progress, _random: progress.clock >= clock


def positions_ahead(count: int) -> Gate:
    """For positions: at most ``count`` beyond that of the token whose data are next."""
    return lambda progress, _random: progress.positions <= progress.tokens_in + count


def until_output(results: int, clocks: int) -> Gate:
    """For the sink: takes ``results`` beats, and then nothing before clock ``clocks``."""
    return lambda progress, _random: progress.results < results or progress.clock >= clocks


def loaded(words: Sequence[int]) -> Gate:
    """For positions: token n's not before ``words[n]`` words of the loads have gone in."""

    def gate(progress: Progress, _random: np.random.Generator) -> bool:
        return progress.loads >= words[progress.positions]

    return gate
