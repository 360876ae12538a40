# SPDX-License-Identifier: Apache-2.0
"""Tokens through a board's FIFOs, never more at a time than there is space for."""

import time

import numpy as np

from ropeway.golden.batch import RopeBatch
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.engines import Progress, silent
from ropeway.sim.core_words import CONJUGATE, PURE, element_words, place_words, words_of_elements

from .board import Board
from .uartbone_client import LinkError

__all__ = ["stream_tokens", "stream_words"]

TAKEN = 1000  # words at a time, so that requests behind them do not pile up in the board
STANDSTILL = 2.0  # seconds without a word either way
LEVELS = ("VECTOR_SPACE", "VECTOR_READY", "POSITION_SPACE")  # next to each other


def stream_tokens(
    board: Board, batch: RopeBatch, slots: np.ndarray, progress: Progress = silent
) -> dict[str, np.ndarray]:
    """A batch of words turned, by kind of head; geometry n of it is in slot ``slots[n]``.

    Raises LinkError.
    """
    p = board.parameters.core
    data = np.concatenate(list(batch.heads.values()), axis=1)
    vectors = element_words(data.reshape(-1, p.beat_elements), p.element_bytes)
    board.write("PACKET_BEATS", value=len(vectors) // batch.tokens)
    found = stream_words(
        board,
        vectors.reshape(-1),
        position_words(p, batch, slots).reshape(-1),
        len(vectors) * board.parameters.result_beat_words,
        progress,
    )
    beats = found.reshape(len(vectors), -1)
    out = words_of_elements(beats, p.output_bytes, p.beat_elements).reshape(data.shape)
    ends = np.cumsum([array.shape[1] for array in batch.heads.values()])
    return dict(zip(batch.heads, np.split(out, ends[:-1], axis=1), strict=True))


def position_words(p: CoreParameters, batch: RopeBatch, slots: np.ndarray) -> np.ndarray:
    """The positions of a batch's tokens: uint32 [tokens, words]."""
    flags = CONJUGATE * batch.conjugate | PURE * batch.pure
    which = np.zeros(batch.tokens, int) if batch.slots is None else batch.slots
    at = np.zeros((batch.tokens, p.axes), np.int64)
    at[:, : batch.axes] = batch.positions
    uses = np.stack([slots[which], batch.temperature_words], axis=1)
    words: dict[int, np.ndarray] = {}
    for slot, temperature in np.unique(uses, axis=0).tolist():
        alike = np.flatnonzero((uses == (slot, temperature)).all(axis=1))
        rows = place_words(p, at[alike], slot, flags=flags, temperature=temperature)
        words |= dict(zip(alike.tolist(), rows, strict=True))
    return np.stack([words[token] for token in range(batch.tokens)])


def stream_words(
    board: Board,
    vectors: np.ndarray,
    positions: np.ndarray,
    results: int,
    progress: Progress = silent,
) -> np.ndarray:
    """So many words of results, of tokens' and positions' words in their order; all uint32.

    Each batch of accesses pushes what the FIFOs had space for, and takes the results that waited,
    when the one before it ended. Raises LinkError where nothing moves any more.
    """
    found = np.empty(results, np.uint32)
    sent = placed = got = 0
    space, ready, places = _levels(board)
    end = time.monotonic() + STANDSTILL
    addresses = {name: register.address() for name, register in board.registers.items()}
    while got < results:
        batch = board.client.batch()
        more, data = positions[placed : placed + places], vectors[sent : sent + space]
        batch.write(addresses["POSITION_IN"], more, fixed=True)
        batch.write(addresses["VECTOR_IN"], data, fixed=True)
        count = min(ready, results - got, TAKEN)
        taken = batch.read(addresses["VECTOR_OUT"], count, fixed=True)
        levels = batch.read(addresses[LEVELS[0]], len(LEVELS))
        words = board.client.exchange(batch)
        found[got : got + count] = words[taken]
        placed, sent, got = placed + len(more), sent + len(data), got + count
        space, ready, places = words[levels].tolist()
        progress("board", got, results)
        if len(more) or len(data) or count:
            end = time.monotonic() + STANDSTILL
        elif time.monotonic() > end:
            raise LinkError(f"the core stands still: {got} of {results} words have come")
    return found


def _levels(board: Board) -> list[int]:
    """Space for vectors, words that wait, and space for positions."""
    batch = board.client.batch()
    batch.read(board.registers[LEVELS[0]].address(), len(LEVELS))
    return board.client.exchange(batch).tolist()
