# SPDX-License-Identifier: Apache-2.0
"""The phase table: all that one slot of the hardware is loaded with.

A table's **image** is the stream of 32-bit words that loads it, ``8 + 2·pairs`` of them:

====  ======================================================================  ========
word  fields, lowest bit first                                                digested
====  ======================================================================  ========
0     version 8, scheme 8, magic 16                                           yes
1     pairs 16, rotary offset 16 (elements)                                   yes
2     half-split 1, rotate q 1, rotate k 1, rotate v 1                        yes
3     amplitude 18 (signed), coefficient scale 1                              yes
4     head_dim 16                                                             yes
5     trained context 32 (tokens; 0: not stated)                              no
6     q heads 10, k heads 10, v heads 10                                      no
7     repeat 8, zero 8, check 16: the halves of words 5–7 cancel               no
8…    a pair: increment bits 0–31; then increment bits 32–47, axis 2          yes
====  ======================================================================  ========

The digested words are the canonical image: what decides the arithmetic, and nothing that a
tensor-parallel split or a warning changes. A flipped bit in any other is malformed.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

import numpy as np

from .errors import InputError
from .fingerprint import fingerprint

__all__ = [
    "HEADER_WORDS",
    "INCREMENT_BITS",
    "HeadPattern",
    "Pairing",
    "PhaseTable",
    "amplitude_code",
]

INCREMENT_BITS = 48
AMPLITUDE_BITS = 18
HEADER_WORDS = 8
DIGESTED_HEADER_WORDS = 5
VERSION, SCHEME_ROPE, MAGIC = 1, 0, 0x5257

# With a larger code the sum of a row's cosine and sine could reach 2 and leave its unsigned word,
# so the row is halved instead and carries its scale bit. Amplitude 1.414207: √2 less one part in
# 10^5.
LARGEST_UNSCALED_CODE = 108582
AMPLITUDE_RANGE = (0.5, 2 * sqrt(2))


def _check(words: list[int]) -> int:
    """The exclusive or of all 16-bit halves; it guards what the fingerprint leaves out."""
    check = 0
    for word in words:
        check ^= word >> 16 ^ word & 0xFFFF
    return check


def identification(scheme: int) -> int:
    """Word 0 of a scheme's image."""
    return VERSION | scheme << 8 | MAGIC << 16


class Pairing(StrEnum):
    """Which two elements of a head's rotary part turn together."""

    ADJACENT = "adjacent"
    HALF_SPLIT = "half-split"


@dataclass(frozen=True)
class HeadPattern:
    """A token's heads: ``repeat`` × [``q``, ``k``, ``v`` of them], and which kinds rotate.

    Q‖K‖V is 1 × [32, 8, 8], GPT-NeoX's fused projection n × [1, 1, 1], Falcon's n_kv × [group, 1,
    1].
    """

    q: int
    k: int
    v: int = 0
    repeat: int = 1
    rotated: tuple[bool, bool, bool] = (True, True, False)

    def __post_init__(self):
        for name in ("q", "k", "v"):
            if not 0 <= getattr(self, name) < 512:
                raise InputError(f"pattern.{name}", getattr(self, name), "must be from 0 to 511")
        if not 1 <= self.repeat < 256:
            raise InputError("pattern.repeat", self.repeat, "must be from 1 to 255")
        if not 1 <= self.q + self.k + self.v < 512:
            raise InputError(
                "pattern", (self.q, self.k, self.v), "must hold from 1 to 511 heads in a group"
            )

    @property
    def heads(self) -> int:
        """Heads in a token."""
        return self.repeat * (self.q + self.k + self.v)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Query, key and value heads in one group."""
        return self.q, self.k, self.v

    @property
    def rotates(self) -> np.ndarray:
        """One bool a head of a token: whether it is rotated; shape [heads]."""
        return np.tile(np.repeat(np.array(self.rotated), self.counts), self.repeat)

    @property
    def queries_turn(self) -> bool:
        """Whether there are query heads that rotate."""
        return self.q > 0 and self.rotated[0]

    @property
    def others_turn(self) -> bool:
        """Whether there are key or value heads that rotate."""
        return (self.k > 0 and self.rotated[1]) or (self.v > 0 and self.rotated[2])

    @property
    def kinds(self) -> np.ndarray:
        """One integer a head of a token: 0 query, 1 key, 2 value; shape [heads]."""
        return np.tile(np.repeat(np.arange(3), self.counts), self.repeat)


def amplitude_code(amplitude: float) -> tuple[int, int]:
    """Quantise an amplitude to ``(code, scale)``: amplitude ≈ 2^scale · (1 + code · 2^-18).

    Raises InputError outside ½ … 2√2.
    """
    low, high = AMPLITUDE_RANGE
    if not low <= amplitude < high:
        raise InputError("attention_factor", amplitude, "must be at least 0.5 and less than 2.828")
    code = round((amplitude - 1) * (1 << AMPLITUDE_BITS))
    if code <= LARGEST_UNSCALED_CODE:
        return code, 0
    return round((amplitude / 2 - 1) * (1 << AMPLITUDE_BITS)), 1


@dataclass(frozen=True)
class PhaseTable:
    """One slot's content: the geometry of one attention layer, ready for the hardware.

    ``increments`` are turns a position in units of 2^-48, one a pair; ``axes`` the position axis
    (0–3) each pair follows; ``amplitude`` and ``scale`` as ``amplitude_code`` gives them;
    ``rotary_offset`` and ``head_dim`` count elements; ``context`` is the trained length in tokens,
    0 where not stated.
    """

    increments: tuple[int, ...]
    head_dim: int
    pattern: HeadPattern
    pairing: Pairing = Pairing.HALF_SPLIT
    rotary_offset: int = 0
    amplitude: int = 0
    scale: int = 0
    axes: tuple[int, ...] = ()
    context: int = 0

    def __post_init__(self):
        object.__setattr__(self, "axes", tuple(self.axes) or (0,) * len(self.increments))
        if len(self.axes) != len(self.increments):
            raise InputError("axes", len(self.axes), f"must name {len(self.increments)} pairs")
        if not 1 <= self.head_dim < 1 << 16:
            raise InputError("head_dim", self.head_dim, "must be from 1 to 65535")
        if self.rotary_offset + self.rotary_dim > self.head_dim:
            raise InputError("rotary_dim", self.rotary_dim, f"must fit head_dim {self.head_dim}")
        if not -(1 << AMPLITUDE_BITS - 1) <= self.amplitude <= LARGEST_UNSCALED_CODE:
            rule = f"must be a signed code of at most {LARGEST_UNSCALED_CODE}"
            raise InputError("amplitude", self.amplitude, rule)
        for increment in self.increments:
            if not 0 <= increment < 1 << INCREMENT_BITS:
                raise InputError("increment", increment, "must be a fraction of a turn in 48 bits")

    @property
    def pairs(self) -> int:
        """Pairs that turn in a rotated head."""
        return len(self.increments)

    @property
    def rotary_dim(self) -> int:
        """Elements that turn in a rotated head."""
        return 2 * self.pairs

    @property
    def bypass(self) -> bool:
        """Whether nothing turns (NoPE)."""
        return not self.pairs or not self.pattern.rotates.any()

    def image(self) -> np.ndarray:
        """The words that load this table, uint32 [8 + 2·pairs]."""
        q, k, v = self.pattern.counts
        rotated = sum(bit << i for i, bit in enumerate(self.pattern.rotated))
        header = [
            identification(SCHEME_ROPE),
            self.pairs | self.rotary_offset << 16,
            int(self.pairing is Pairing.HALF_SPLIT) | rotated << 1,
            self.amplitude & (1 << AMPLITUDE_BITS) - 1 | self.scale << AMPLITUDE_BITS,
            self.head_dim,
            self.context,
            q | k << 10 | v << 20,
            self.pattern.repeat,
        ]
        header[-1] |= _check(header[DIGESTED_HEADER_WORDS:]) << 16
        words = np.empty(HEADER_WORDS + 2 * self.pairs, dtype=np.uint32)
        words[:HEADER_WORDS] = header
        increments = np.array(self.increments, dtype=np.uint64)
        words[HEADER_WORDS::2] = increments & np.uint64(0xFFFF_FFFF)
        words[HEADER_WORDS + 1 :: 2] = increments >> np.uint64(32)
        words[HEADER_WORDS + 1 :: 2] |= np.array(self.axes, dtype=np.uint32) << np.uint32(16)
        return words

    @property
    def fingerprint(self) -> str:
        """The CRC-64 of the image's digested words, 16 hex digits."""
        words = self.image()
        return fingerprint(np.delete(words, slice(DIGESTED_HEADER_WORDS, HEADER_WORDS)))

    @classmethod
    def from_image(cls, words: np.ndarray) -> "PhaseTable":
        """The table that an image loads; InputError where ``words`` are no such image."""
        words = np.asarray(words, dtype=np.uint32)
        if len(words) < HEADER_WORDS or int(words[0]) != identification(SCHEME_ROPE):
            found = f"0x{int(words[0]):08x}" if len(words) else "nothing"
            raise InputError("image[0]", found, f"must be 0x{identification(SCHEME_ROPE):08x}")
        size, flags, amplitude, head_dim, context, counts, last = map(int, words[1:HEADER_WORDS])
        pairs = size & 0xFFFF
        if len(words) != HEADER_WORDS + 2 * pairs:
            raise InputError("image", len(words), f"must be {HEADER_WORDS + 2 * pairs} words")
        heads = counts & 0x3FF, counts >> 10 & 0x3FF, counts >> 20
        q, k, v = (bool(flags >> bit & 1) for bit in (1, 2, 3))
        low, high = words[HEADER_WORDS::2].tolist(), words[HEADER_WORDS + 1 :: 2].tolist()
        code = amplitude & (1 << AMPLITUDE_BITS) - 1
        negative = code >> AMPLITUDE_BITS - 1
        table = cls(
            increments=tuple(a | (b & 0xFFFF) << 32 for a, b in zip(low, high, strict=True)),
            head_dim=head_dim,
            pattern=HeadPattern(*heads, last & 0xFF, (q, k, v)),
            pairing=Pairing.HALF_SPLIT if flags & 1 else Pairing.ADJACENT,
            rotary_offset=size >> 16,
            amplitude=code - (negative << AMPLITUDE_BITS),
            scale=amplitude >> AMPLITUDE_BITS & 1,
            axes=tuple(b >> 16 & 3 for b in high),
            context=context,
        )
        unknown = np.flatnonzero(table.image() != words)
        if len(unknown):
            at = int(unknown[0])
            raise InputError(
                f"image[{at}]",
                f"0x{int(words[at]):08x}",
                "does not agree with the image's other words",
            )
        return table
