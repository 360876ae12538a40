# SPDX-License-Identifier: Apache-2.0
"""Elements to the integers that a simulator's ports take, and back."""

import numpy as np
from amaranth.lib import data

__all__ = ["pack_beats", "pack_fields", "pack_packet", "split_packets", "unpack_beats"]


def pack_beats(beats: np.ndarray, bits: int) -> list[int]:
    """Signed elements [beats, elements] to one integer a beat, element 0 lowest."""
    shifts = np.arange(bits, dtype=np.int64)
    planes = (beats.astype(np.int64)[..., None] >> shifts & 1).astype(np.uint8)
    rows = np.packbits(planes.reshape(len(beats), -1), axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in rows]


def unpack_beats(beats: list[int], bits: int, elements: int) -> np.ndarray:
    """The reverse: one integer a beat to signed elements, int32 [beats · elements]."""
    size = (bits * elements + 7) // 8
    mask = (1 << bits * elements) - 1
    raw = b"".join((beat & mask).to_bytes(size, "little") for beat in beats)
    planes = np.unpackbits(
        np.frombuffer(raw, dtype=np.uint8).reshape(len(beats), size), axis=1, bitorder="little"
    )[:, : bits * elements].reshape(-1, bits)
    value = planes.astype(np.int64) @ (1 << np.arange(bits, dtype=np.int64))
    return np.where(value >= 1 << bits - 1, value - (1 << bits), value).astype(np.int32)


def pack_packet(beats: np.ndarray, bits: int, last_at: int | None = None) -> list[int]:
    """A packet's beats, ``last`` above the elements of the final one, or of beat ``last_at``."""
    packed = pack_beats(beats, bits)
    last = len(packed) - 1 if last_at is None else last_at
    packed = packed[: last + 1] + [0] * (last + 1 - len(packed))
    packed[last] |= 1 << bits * beats.shape[1]
    return packed


def split_packets(beats: list[int], width: int) -> list[list[int]]:
    """Beats by packet; ``width`` bits stand below ``last``."""
    packets, start = [], 0
    for number, beat in enumerate(beats):
        if beat >> width & 1:
            packets.append(beats[start : number + 1])
            start = number + 1
    return packets


def pack_fields(shape: data.StructLayout, source) -> int:
    """A position word from an object with the layout's fields as attributes."""
    position = source.position if isinstance(source.position, tuple) else (source.position,)
    fields: dict = {name: int(getattr(source, name)) for name, _ in shape if name != "position"}
    if "temperature" in fields:
        fields["temperature"] = shape["temperature"].shape.from_bits(fields["temperature"])
    axes = shape["position"].shape.length
    position = position * axes if len(position) == 1 else position
    return shape.const(fields | {"position": list(position)}).as_value().value
