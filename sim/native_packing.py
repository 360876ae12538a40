# SPDX-License-Identifier: Apache-2.0
"""Blocks of a stream's items from arrays of their fields, and back."""

from collections.abc import Iterator, Mapping

import numpy as np
from amaranth.hdl import Shape
from amaranth.lib import data

__all__ = ["pack_items", "unpack_items"]

WORD = 32


def pack_items(layout: data.StructLayout, fields: Mapping[str, np.ndarray]) -> np.ndarray:
    """Items of a layout, uint32 [items, words], as the native model takes them.

    ``fields`` are integers [items], or [items, length] for an array; what does not fit is cut off.
    A field that is a structure itself is given as one integer.
    """
    items = len(next(iter(fields.values())))
    words = np.zeros((items, (layout.size + WORD - 1) // WORD), dtype=np.uint32)
    for name, places, shape in _fields(layout):
        columns = np.asarray(fields[name]).reshape(items, len(places))
        for place, column in zip(places, columns.T, strict=True):
            for word, low, bits, done in _pieces(place, shape.width):
                piece = (column >> done).astype(np.uint32) & _mask(bits)
                words[:, word] |= piece << np.uint32(low)
    return words


def unpack_items(layout: data.StructLayout, words: np.ndarray) -> dict[str, np.ndarray]:
    """The reverse: each field's integers, 32 bits each or 64 where they need them."""
    fields = {}
    for name, places, shape in _fields(layout):
        kind = np.uint32 if shape.width <= WORD else np.uint64
        columns = np.zeros((len(words), len(places)), dtype=kind)
        for number, place in enumerate(places):
            for word, low, bits, done in _pieces(place, shape.width):
                piece = words[:, word] >> np.uint32(low) & _mask(bits)
                columns[:, number] |= piece.astype(kind) << kind(done)
        if shape.signed:
            signed = columns.view(f"i{columns.itemsize}")
            spare = 8 * columns.itemsize - shape.width
            columns = np.right_shift(np.left_shift(signed, spare, out=signed), spare, out=signed)
        array = isinstance(layout[name].shape, data.ArrayLayout)
        fields[name] = columns if array else columns[:, 0]
    return fields


def _fields(layout: data.StructLayout) -> Iterator[tuple[str, list[int], Shape]]:
    """Each field's name, where its elements begin, and the shape of one."""
    for name, field in layout:
        if isinstance(field.shape, data.ArrayLayout):
            element = Shape.cast(field.shape.elem_shape)
            offsets = range(0, field.shape.size, element.width)
            yield str(name), [field.offset + offset for offset in offsets], element
        else:
            yield str(name), [field.offset], Shape.cast(field.shape)


def _pieces(start: int, width: int) -> Iterator[tuple[int, int, int, int]]:
    """Within words: the word, its lowest bit and bits of each piece, and the bits before it."""
    done = 0
    while done < width:
        low = (start + done) % WORD
        bits = min(width - done, WORD - low)
        yield (start + done) // WORD, low, bits, done
        done += bits


def _mask(bits: int) -> np.uint32:
    return np.uint32((1 << bits) - 1)
