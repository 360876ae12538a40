# SPDX-License-Identifier: Apache-2.0
"""Random traffic for a whole core: presets' geometries, every slot, malformed packets, loads."""

from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

import numpy as np

from ropeway.golden import InputError, RopeGeometry, model_of, preset_names
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import (
    LAYOUTS,
    AlibiGeometry,
    LearnedGeometry,
    SinusoidalGeometry,
    alibi_slopes,
)
from ropeway.golden.alibi import Form
from ropeway.golden.core_parameters import BYPASS, CoreParameters, MemoryTable, RamTable
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import PhaseTable

from .alibi_bench import Segment
from .core_script import CoreLoad, CoreToken
from .random_words import data_words, elements

__all__ = ["CoreTraffic", "learned_table", "preset_tables"]

FEW_HEADS = 8  # of a checkpoint's, so that tokens are many
LONGEST_BYPASS = 24  # beats
ROWS = 61
CONTEXT = 32_768  # longrope must know
FAR = (0, 1, 4095, 131_071, 1_048_575, 10_485_759, -1, -4096, -10_485_760)


@lru_cache(maxsize=8)
def preset_tables(p: RopeParameters) -> tuple[PhaseTable, ...]:
    """The phase tables of all presets that an engine serves, each of one worker of several."""
    tables = {}
    for name in preset_names():
        for geometry in model_of(name, context=CONTEXT).geometries.values():
            if isinstance(geometry, RopeGeometry):
                table = _share(geometry).table()
                try:
                    p.check_serves(table)
                except InputError:
                    continue
                tables[table.fingerprint, table.pattern] = table
    return tuple(tables.values())


def _share(geometry: RopeGeometry) -> RopeGeometry:
    """A worker's share with few heads."""
    for size in (32, 16, 8, 4, 2):
        if geometry.heads % size == 0 and geometry.heads // size >= FEW_HEADS // 2:
            try:
                return geometry.rank(0, size)
            except InputError:
                continue
    return geometry


def learned_table(p: AdderParameters, where: RamTable | MemoryTable | None) -> np.ndarray:
    """A learned table [rows, width] that fits, the same for every seed."""
    beats = min(p.max_beats, 12)
    if isinstance(where, RamTable):
        beats = min(beats, where.depth // ROWS)
    return data_words(np.random.default_rng(0), (ROWS, beats * p.beat_elements), p)


class CoreTraffic:
    """Steps of a script, made from a seed; ``bad`` is the share of malformed packets."""

    def __init__(self, p: CoreParameters, seed: int, *, bad: float = 0.1):
        self.parameters, self._bad = p, bad
        self.random = np.random.default_rng(seed)
        self._holds: dict[int, CoreLoad] = {}
        self.table = learned_table(p.learned, p.table) if p.learned else None

    def steps(self, tokens: int, *, loads: int = 0) -> Iterator[CoreToken | CoreLoad]:
        """Loads of every slot, and then tokens, with ``loads`` more among them."""
        p, random = self.parameters, self.random
        slots = [slot for slot, name in enumerate(p.slots) if name != BYPASS]
        for slot in slots:
            yield self._load(slot)
        due = set(random.choice(tokens, min(loads, tokens), replace=False).tolist())
        numbers = len(p.slots) + (BYPASS in p.slots)  # that of no slot too
        for number in range(tokens):
            if number in due:
                yield self._load(int(random.choice(slots)))
            slot = int(random.choice(slots) if random.random() < 0.9 else random.integers(numbers))
            yield self._token(slot)

    def segments(self, count: int) -> tuple[AlibiGeometry, list[Segment]]:
        """A table of slopes, and segments near and far, in rows that go on or jump."""
        p, random = self.parameters.alibi, self.random
        if p is None:
            raise ValueError("the core has no ALiBi unit")
        heads = int(random.integers(1, min(p.max_heads, 64) + 1))
        form = str(random.choice([Form.DISTANCE, Form.SYMMETRIC]))
        geometry = AlibiGeometry(model_slopes=alibi_slopes(heads), heads=heads, form=form)
        segments: list[Segment] = []
        while len(segments) < count:
            query = int(random.choice([at for at in FAR if at >= 0])) + int(random.integers(64))
            key = max(0, query - int(random.integers(300)))
            head = int(random.integers(heads))
            way = {"causal": bool(random.random() < 0.7), "window": int(random.choice([0, 0, 50]))}
            for _ in range(int(random.integers(1, 4))):
                length = int(random.integers(1, 40 * p.lanes))
                scores = elements(random, (length,), p.data_bits)
                late = int(random.integers(60)) if random.random() < self._bad else None
                segments.append(Segment(scores, head, query, key, last_at=late, **way))
                key += length
        return geometry, segments[:count]

    def _load(self, slot: int) -> CoreLoad:
        p, random = self.parameters, self.random
        kind = p.slots[slot]
        if kind == "rope" and p.rope:
            tables = preset_tables(p.rope)
            load = CoreLoad(slot, tables[int(random.integers(len(tables)))])
        elif kind == "sinusoidal" and p.sinusoidal:
            load = CoreLoad(slot, self._sinusoidal(p.sinusoidal))
        elif self.table is not None:
            rows, offset = int(random.integers(1, ROWS + 1)), int(random.integers(4))
            geometry = LearnedGeometry(rows=rows, width=self.table.shape[1], offset=offset)
            load = CoreLoad(slot, geometry, self.table)
        else:
            raise ValueError(f"slot {slot} takes no load")
        self._holds[slot] = load
        return load

    def _sinusoidal(self, p: AdderParameters) -> SinusoidalGeometry:
        random = self.random
        unit = 2 * p.beat_elements
        width = unit * int(random.integers(1, min(p.max_width // unit, 32) + 1))
        exponents = (Decimal(2 * n) / width for n in range(width // 2))
        return SinusoidalGeometry(
            width=width,
            inv_freq=tuple(Decimal(10_000) ** -exponent for exponent in exponents),
            layout=str(random.choice(LAYOUTS)),
            offset=int(random.integers(3)),
            scale=float(random.choice([1.0, width**0.5])) if p.scaled else 1.0,
        )

    def _token(self, slot: int) -> CoreToken:
        p, random = self.parameters, self.random
        load = self._holds.get(slot)
        size, fields = self._size(load), {}
        beats = size // p.beat_elements
        if load and random.random() < self._bad:
            fields["last_at"] = int(random.integers(beats + 4))
        elif random.random() < self._bad and p.keep:
            fields["partial_at"] = int(random.integers(beats))
        position = (int(random.choice(FAR)),) * p.axes
        if load and isinstance(load.geometry, PhaseTable):
            flags = random.random(3) < (0.2, 0.2, 0.1)
            fields |= dict(zip(("conjugate", "pure", "bypass"), flags.tolist(), strict=True))
            if p.axes > 1:
                position = tuple(random.choice(FAR, p.axes).tolist())
            if p.rope and p.rope.temperature and random.random() < 0.3:
                fields["temperature"] = int(random.integers(1 << 18))
        elif load and isinstance(load.geometry, LearnedGeometry):
            position = (int(random.integers(-3, ROWS + 3)),) * p.axes
        unit = p.vector_units[0]
        return CoreToken(data_words(random, (size,), unit), slot, position, **fields)

    def _size(self, load: CoreLoad | None) -> int:
        """Elements of a token's packet."""
        if load is None:
            return int(self.random.integers(1, LONGEST_BYPASS)) * self.parameters.beat_elements
        if isinstance(load.geometry, PhaseTable):
            return load.geometry.pattern.heads * load.geometry.head_dim
        return load.geometry.width
