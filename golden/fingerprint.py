# SPDX-License-Identifier: Apache-2.0
"""The fingerprint: a CRC-64/XZ over the digested words of an image."""

import numpy as np

__all__ = ["crc64", "fingerprint", "remainder"]

POLYNOMIAL = 0xC96C5795D7870F42  # 0x42F0E1EBA9EA3693, ECMA-182's, lowest bit first
ALL_ONES = 0xFFFF_FFFF_FFFF_FFFF


def remainder(digit: int, bits: int) -> int:
    """What a digit of so many bits, the lowest first, makes of a sum that was 0."""
    for _ in range(bits):
        digit = digit >> 1 ^ (POLYNOMIAL if digit & 1 else 0)
    return digit


TABLE = tuple(remainder(byte, 8) for byte in range(256))


def crc64(data: bytes) -> int:
    """CRC-64/XZ: reflected, all ones before and inverted after (check value 995dc9bbdf1939fa)."""
    crc = ALL_ONES
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ ALL_ONES


def fingerprint(words: np.ndarray) -> str:
    """The CRC of 32-bit words, each lowest byte first, as 16 lower-case hex digits."""
    return f"{crc64(np.asarray(words).astype('<u4').tobytes()):016x}"
