# SPDX-License-Identifier: Apache-2.0
"""What a core's AXI4-Stream ports carry, as whole blocks of 32-bit words."""

import numpy as np

from ropeway.golden.core_parameters import CoreParameters

__all__ = [
    "beat_words",
    "element_words",
    "place_words",
    "result_words",
    "table_beats",
    "table_rows",
    "words_of_elements",
]

CONJUGATE, PURE, BYPASS = (1 << bit for bit in (8, 9, 10))
EPOCH_SHIFT, ERROR_SHIFT = 8, 16


def element_words(elements: np.ndarray, element_bytes: int) -> np.ndarray:
    """TDATA of beats [beats, elements]: uint32 [beats, words], element 0 lowest."""
    raw = np.ascontiguousarray(elements.astype(f"<i{element_bytes}")).view(np.uint8)
    spare = -raw.shape[1] % 4
    return np.pad(raw, ((0, 0), (0, spare))).view("<u4")


def words_of_elements(words: np.ndarray, element_bytes: int, count: int) -> np.ndarray:
    """The reverse: ``count`` elements a beat, int64 [beats, count]."""
    raw = np.ascontiguousarray(words, dtype="<u4").view(np.uint8)[:, : count * element_bytes]
    return np.ascontiguousarray(raw).view(f"<i{element_bytes}").astype(np.int64)


def table_beats(p: CoreParameters, table: np.ndarray) -> np.ndarray:
    """A learned table [rows, width] for block RAM: uint32 [beats, words] of TDATA and TLAST."""
    beats = element_words(table.reshape(-1, p.beat_elements), p.element_bytes)
    last = np.zeros((len(beats), 1), "<u4")
    last[-1] = 1
    return np.concatenate([beats, last], axis=1)


def table_rows(p: CoreParameters, table: np.ndarray, bus_bits: int) -> tuple[np.ndarray, int]:
    """A learned table as it lies in memory, uint8 [rows, bytes], and a row's words of the bus."""
    size = bus_bits // 8
    rows = element_words(table, p.element_bytes).view(np.uint8)
    stride = -(-rows.shape[1] // size)
    return np.pad(rows, ((0, 0), (0, stride * size - rows.shape[1]))), stride


def _constant(value: int, bits: int, beats: int) -> np.ndarray:
    raw = value.to_bytes(-(-bits // 32) * 4, "little")
    return np.tile(np.frombuffer(raw, dtype="<u4"), (beats, 1))


def place_words(
    p: CoreParameters,
    positions: np.ndarray,
    slot: int,
    *,
    flags: int = 0,
    temperature: int = 0,
) -> np.ndarray:
    """Positions [tokens, axes] of one slot: uint32 [tokens, words]."""
    tokens = len(positions)
    parts = [positions.astype("<i4").view("<u4"), _constant(slot | flags, 32, tokens)]
    if p.rope is not None and p.rope.temperature:
        parts.append(_constant(temperature, 32, tokens))
    return np.concatenate(parts, axis=1)


def beat_words(
    p: CoreParameters,
    elements: np.ndarray,
    place: np.ndarray | None = None,
    *,
    last_at: int | None = None,
    partial_at: int | None = None,
) -> np.ndarray:
    """One packet of ``elements`` [n]: uint32 [beats, words] of TDATA, TKEEP, TLAST and TUSER.

    TKEEP and TUSER are there as far as the core has them.

    ``last_at`` moves ``last`` to another beat, ``partial_at`` names one with a byte that is not
    kept. ``place`` are the words of a position, on the first beat.
    """
    beats = elements.reshape(-1, p.beat_elements)
    count = len(beats) if last_at is None else last_at + 1
    beats = np.concatenate([beats, np.zeros((max(0, count - len(beats)), beats.shape[1]), int)])
    beats = beats[:count]
    size = p.beat_elements * p.element_bytes
    keep = _constant((1 << size) - 1, size, count)
    if partial_at is not None:
        keep = keep.copy()
        keep[partial_at, -1] >>= 1
    last = np.zeros((count, 1), "<u4")
    last[-1] = 1
    words = place_words(p, np.zeros((1, p.axes), int), 0).shape[1]
    user = np.zeros((count, words), "<u4")
    if place is not None:
        user[0] = place
    parts = [element_words(beats, p.element_bytes), *([keep] if p.keep else []), last]
    return np.concatenate([*parts, *([user] if p.carried else [])], axis=1)


def result_words(
    p: CoreParameters, elements: np.ndarray, slot: int, epoch: int, errors: np.ndarray
) -> np.ndarray:
    """The result of a token: uint32 [beats, words] of TDATA, TKEEP, TLAST and TUSER.

    ``errors`` are the marks of its beats, bool [beats].
    """
    beats = elements.reshape(-1, p.beat_elements)
    count, size = len(beats), p.beat_elements * p.output_bytes
    last = np.zeros((count, 1), "<u4")
    last[-1] = 1
    user = slot | (epoch & 0xFF) << EPOCH_SHIFT | errors.astype("<u4") << ERROR_SHIFT
    keep = [_constant((1 << size) - 1, size, count)] if p.keep else []
    parts = [element_words(beats, p.output_bytes), *keep, last, user.astype("<u4")[:, None]]
    return np.concatenate(parts, axis=1)
