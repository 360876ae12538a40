# SPDX-License-Identifier: Apache-2.0
"""What an encoding costs, in closed form: clocks, rates, work, traffic and tables.

``rope_first_beat``, ``rope_last_beat``, ``rope_clocks``: clocks through a RoPE engine, from the
first position on. ``adder_clocks``, ``score_clocks``: the same of an adder and the ALiBi unit.
``rope_utilisation``, ``rope_bound``: how busy the lanes are, and what they wait for.
``rope_shares``: the same where few heads are left, by tensor parallelism, MQA or K alone.
``Work``, ``rope_work``, ``adder_work``, ``score_work``: operations and bytes a token.
``phase_table_bits``, ``cos_sin_table_bits``: what is stored, here and elsewhere.
"""

from dataclasses import dataclass

from .adder_parameters import AdderParameters
from .alibi_parameters import AlibiParameters
from .errors import InputError
from .geometry import RopeGeometry
from .parameters import RopeParameters
from .table import HeadPattern, Pairing, PhaseTable

__all__ = [
    "SHARES",
    "Latency",
    "Work",
    "adder_clocks",
    "adder_work",
    "cos_sin_table_bits",
    "phase_table_bits",
    "rope_bound",
    "rope_clocks",
    "rope_first_beat",
    "rope_last_beat",
    "rope_shares",
    "rope_utilisation",
    "rope_work",
    "score_clocks",
    "score_work",
]

SHARES = (1, 2, 4, 8)
"""The tensor-parallel sizes that are looked at."""

SETTLED = 10  # clocks of a token; the law of shorter ones is an upper bound only


@dataclass(frozen=True)
class Latency:
    """Clocks from a position to a first beat that has turned, adjacent, and to one that passes.

    They are RopeEngine's ``latency`` and ``passing_latency``.
    """

    turned: int
    passed: int


@dataclass(frozen=True)
class Work:
    """What is done a token: operations, each a rotation or an addition, and bytes in and out."""

    operations: int
    bytes_in: int
    bytes_out: int

    @property
    def operations_per_byte(self) -> float:
        """Operations for each byte that comes or goes."""
        return self.operations / (self.bytes_in + self.bytes_out)

    def link_bound(self, clock_hz: float, clocks: int, bytes_per_second: float) -> bool:
        """Whether a link of so many bytes a second each way is slower than ``clocks`` a token."""
        return max(self.bytes_in, self.bytes_out) * clock_hz > bytes_per_second * clocks


def _beats(p: RopeParameters, elements: int) -> int:
    return elements // p.beat_elements


def rope_first_beat(p: RopeParameters, table: PhaseTable, latency: Latency) -> int:
    """Clocks from a first position to the first beat of its result, data waiting."""
    offset, pace = _beats(p, table.rotary_offset), p.lanes * p.generator_interval
    if table.bypass or offset:
        return latency.passed
    if table.pairing is Pairing.ADJACENT:
        return latency.turned
    # Of two operations, on data half of the rotary part apart.
    half = -(-_beats(p, table.rotary_dim) // 2)
    return max(latency.turned + pace, latency.passed + half - 1)


def rope_last_beat(p: RopeParameters, table: PhaseTable, latency: Latency) -> int:
    """Clocks from a first position to the last beat of its result, data waiting.

    Each of the first head's beats waits for its pairs, ``lanes`` of which come every ``lanes`` ·
    interval clocks; all others come one a clock.
    """
    beats = _beats(p, table.pattern.heads * table.head_dim)
    offset, entries = _beats(p, table.rotary_offset), _beats(p, table.rotary_dim)
    pace, ends = p.lanes * p.generator_interval, [latency.passed + beats - 1]
    if table.bypass:
        return ends[0]
    if table.pairing is Pairing.ADJACENT:
        after = beats - 1 - offset
        ends += [latency.turned + after]
        ends += [latency.turned + (entries - 1) * (pace - 1) + after]
    else:
        half = -(-entries // 2)
        made = max(
            latency.turned + (entries - 1) * pace, latency.passed + offset + half + entries - 3
        )
        ends += [made + beats - offset - half]
    return max(ends)


def rope_clocks(p: RopeParameters, table: PhaseTable, tokens: int, latency: Latency) -> int:
    """Clocks from a first position to the last beat of ``tokens``, each of a position of its own.

    Data and positions wait. Exact where a token takes ten clocks or more by the law of
    ``clocks_per_token``; an upper bound is ten clocks a token where it takes fewer.
    """
    steady = max(p.clocks_per_token(table), 0 if table.bypass else SETTLED)
    return rope_last_beat(p, table, latency) + (tokens - 1) * steady


def adder_clocks(
    p: AdderParameters, width: int, tokens: int, latency: int, *, interval: int = 0
) -> int:
    """Clocks from a first position to the last beat of ``tokens``; the adder's own latency.

    Of rows that are made on the way each beat takes ``interval`` clocks, and the first one's sums
    wait for all of it; 0 of rows that are read.
    """
    beats = width // p.beat_elements
    made, steady = (beats - 1) * interval, beats * max(1, interval)
    return latency + made + beats - 1 + (tokens - 1) * steady


def score_clocks(p: AlibiParameters, keys: int, rows: int, latency: int) -> int:
    """Clocks from the first beat of scores to the last of ``rows`` of ``keys`` each."""
    return latency + rows * -(-keys // p.lanes) - 1


def rope_utilisation(p: RopeParameters, table: PhaseTable) -> float:
    """The share of clocks in which the lanes have a beat, in steady state."""
    return _beats(p, table.pattern.heads * table.head_dim) / p.clocks_per_token(table)


def rope_bound(p: RopeParameters, table: PhaseTable) -> str:
    """What decides a token's clocks: "lanes", the "generator" of its row, or its many "heads"."""
    clocks = p.clocks_per_token(table)
    if clocks == _beats(p, table.pattern.heads * table.head_dim):
        return "lanes"
    return "generator" if clocks == table.pairs * p.generator_interval else "heads"


def rope_shares(p: RopeParameters, geometry: RopeGeometry) -> dict[str, float]:
    """Utilisation with fewer heads than the model's.

    Of each of ``SHARES`` workers that there can be ("tp 2"), with one key and value head ("mqa"),
    and with keys alone ("k only").
    """
    found = {}
    for size in SHARES:
        try:
            found[f"tp {size}"] = rope_utilisation(p, geometry.rank(0, size).table())
        except InputError:  # the heads do not divide
            continue
    patterns = {
        "mqa": HeadPattern(geometry.heads, 1, 1, rotated=geometry.turns),
        "k only": HeadPattern(0, geometry.kv_heads, rotated=geometry.turns),
    }
    return found | {
        name: rope_utilisation(p, geometry.table(each)) for name, each in patterns.items()
    }


def rope_work(p: RopeParameters, table: PhaseTable) -> Work:
    """A token's rotations, (H_q + H_kv) · d/2 of them, and its heads' and position's bytes."""
    turned = int(table.pattern.rotates.sum())
    elements = table.pattern.heads * table.head_dim
    position = 4 * (p.axes + 1 + p.temperature)
    return Work(
        turned * table.pairs, elements * p.data_bits // 8 + position, elements * p.output_bits // 8
    )


def adder_work(p: AdderParameters, width: int) -> Work:
    """A token's additions, one an element, and its bytes, those of its position among them."""
    size = width * p.data_bits // 8
    return Work(width, size + 8, size)


def score_work(p: AlibiParameters, heads: int, keys: int) -> Work:
    """A query's additions, one a key of each head, and its scores' and segments' bytes."""
    size = heads * keys * p.data_bits // 8
    return Work(heads * keys, size + 20 * heads, size)


def phase_table_bits(table: PhaseTable) -> int:
    """Bits of the image of a geometry, whatever the context."""
    return 32 * len(table.image())


def cos_sin_table_bits(pairs: int, context: int, bits: int = 16) -> int:
    """Bits of a stored cosine and sine for each of [context, pairs]."""
    return 2 * bits * pairs * context
