# SPDX-License-Identifier: Apache-2.0
"""The fingerprint: a CRC-64/XZ over the digested words of an image."""

import numpy as np

__all__ = ["crc64", "fingerprint"]

POLYNOMIAL = 0xC96C5795D7870F42  # 0x42F0E1EBA9EA3693, ECMA-182's, lowest bit first
ALL_ONES = 0xFFFF_FFFF_FFFF_FFFF


def _remainder(byte: int) -> int:
    """The CRC of one byte alone."""
    for _ in range(8):
        byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
    return byte


TABLE = tuple(map(_remainder, range(256)))


def crc64(data: bytes) -> int:
    """CRC-64/XZ: reflected, all ones before and inverted after (check value 995dc9bbdf1939fa)."""
    crc = ALL_ONES
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ ALL_ONES


def fingerprint(words: np.ndarray) -> str:
    """The CRC of 32-bit words, each lowest byte first, as 16 lower-case hex digits."""
    return f"{crc64(np.asarray(words).astype('<u4').tobytes()):016x}"
