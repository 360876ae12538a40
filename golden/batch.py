# SPDX-License-Identifier: Apache-2.0
"""A batch of tokens to rotate: their heads, their positions, and each one's geometry."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .arrays import whole_numbers
from .errors import InputError
from .fixed import limits
from .geometry import KINDS, Geometry, Model, RopeGeometry
from .parameters import RopeParameters, serving_lanes
from .table import HeadPattern, PhaseTable
from .temperature import temperature_word
from .words import check_fits

__all__ = ["RopeBatch", "rope_geometry", "rope_slots"]

BLOCK_ELEMENTS = 1 << 20  # scratch of one block stays in tens of megabytes
PREFERRED_LANES = (4, 2, 1)
POSITION_BITS = RopeParameters.position_bits

Selection = slice | np.ndarray


@dataclass(frozen=True, kw_only=True)
class RopeBatch:
    """Tokens as arrays, in whatever units: ``heads`` by kind, each [tokens, heads, head_dim].

    ``positions`` are integers, [tokens] or [tokens, axes]; ``slots`` [tokens] says which of
    ``geometries`` each token takes, by default the first. ``conjugate`` turns backwards; ``pure``
    leaves the amplitude out, as a shift of cached keys must; ``plain`` the queries' temperature.

    Raises InputError for a shape that is not the geometries', or a position beyond the hardware's.
    """

    heads: Mapping[str, np.ndarray]
    positions: np.ndarray
    geometries: tuple[RopeGeometry, ...]
    slots: np.ndarray | None = None
    conjugate: bool = False
    pure: bool = False
    plain: bool = False

    def __post_init__(self):
        first = self.geometries[0]
        for other in self.geometries:
            for name in ("heads", "kv_heads", "head_dim"):
                if getattr(other, name) != getattr(first, name):
                    shapes = f"must be that of every layer in one batch: {getattr(first, name)}"
                    raise InputError(name, getattr(other, name), shapes)
        for kind, array in self.heads.items():
            self._check_shape(kind, array)
        object.__setattr__(self, "positions", self._checked_positions())

    def _check_shape(self, kind: str, array: np.ndarray):
        geometry = self.geometries[0]
        tail = (geometry.heads if kind == "q" else geometry.kv_heads, geometry.head_dim)
        if array.ndim != 3 or array.shape[1:] != tail or not len(array):
            rule = f"must be [tokens, {tail[0]}, {tail[1]}] with at least one token"
            raise InputError(kind, array.shape, rule)
        if len(array) != self.tokens:
            raise InputError(kind, array.shape, f"must hold {self.tokens} tokens as the others do")

    def _checked_positions(self) -> np.ndarray:
        given, axes = whole_numbers("positions", self.positions), self.axes
        if given.shape not in ((self.tokens,), (self.tokens, axes)):
            shapes = (
                f"[{self.tokens}]" if axes == 1 else f"[{self.tokens}] or [{self.tokens}, {axes}]"
            )
            raise InputError("positions", given.shape, f"must be {shapes}")
        check_fits("positions", given, *limits(POSITION_BITS), f"{POSITION_BITS}-bit positions")
        columns = given.astype(np.int64).reshape(self.tokens, -1)
        return np.broadcast_to(columns, (self.tokens, axes))

    @property
    def tokens(self) -> int:
        """Tokens in the batch."""
        return len(next(iter(self.heads.values())))

    @property
    def axes(self) -> int:
        """Positions that a token has."""
        return max((1 + max(g.axes) for g in self.geometries if g.axes), default=1)

    @cached_property
    def pattern(self) -> HeadPattern:
        """The heads of a token as they are streamed: every kind there is, in its order."""
        counts = (self.heads[k].shape[1] if k in self.heads else 0 for k in KINDS)
        return HeadPattern(*counts, rotated=self.geometries[0].pattern.rotated)

    @property
    def rotated(self) -> tuple[str, ...]:
        """The kinds of heads here that are turned."""
        return tuple(kind for kind in self.heads if kind in self.geometries[0].rotated)

    @cached_property
    def tables(self) -> tuple[PhaseTable, ...]:
        """What the slots are loaded with, amplitude and all."""
        return tuple(geometry.table(self.pattern) for geometry in self.geometries)

    @cached_property
    def temperatures(self) -> np.ndarray:
        """The factor on each token's queries by its first position, float64 [tokens].

        Raises InputError for a position before 0, where no rule says what it is.
        """
        found = np.ones(self.tokens)
        for slot, geometry in enumerate(self.geometries):
            rule = geometry.applied_temperature
            if rule is None or self.plain or "q" not in self.heads:
                continue
            at = np.ones(self.tokens, bool) if self.slots is None else self.slots == slot
            first = self.positions[at, 0]
            if first.min(initial=0) < 0:
                rule_text = "must not be negative where queries have a temperature"
                raise InputError("positions", int(first.min()), rule_text)
            found[at] = [rule.at(position) for position in first.tolist()]
        return found

    @cached_property
    def temperature_words(self) -> np.ndarray:
        """The same as the position words have it, int64 [tokens]; 0 is 1."""
        values, which = np.unique(self.temperatures, return_inverse=True)
        words = [temperature_word(value) for value in values.tolist()]
        return np.array(words, dtype=np.int64)[which]

    @property
    def growth(self) -> float:
        """The most that an element can grow: √2 by the turn, amplitude and temperature."""
        factors = [1.0 if self.pure else g.attention_factor for g in self.geometries]
        return 2**0.5 * max(1.0, *factors) * float(self.temperatures.max())

    def blocks(self) -> Iterator[tuple[int, Selection]]:
        """The tokens in blocks of one slot each: the slot, and what selects them from an array."""
        elements = sum(array[0].size for array in self.heads.values())
        step = max(1, BLOCK_ELEMENTS // elements)
        for start in range(0, self.tokens, step):
            block = slice(start, min(start + step, self.tokens))
            if self.slots is None:
                yield 0, block
                continue
            for slot in np.unique(self.slots[block]):
                yield int(slot), start + np.flatnonzero(self.slots[block] == slot)

    def with_heads(self, heads: Mapping[str, np.ndarray]) -> "RopeBatch":
        """The same tokens with other elements, such as their words."""
        return replace(self, heads=heads)

    def beyond_context(self) -> tuple[int, int, int] | None:
        """The first token past its geometry's trained length: its number, position, that length."""
        context = np.array([geometry.context for geometry in self.geometries])
        most = context[0 if self.slots is None else self.slots]
        farthest = self.positions.max(axis=1)
        beyond = np.flatnonzero((most > 0) & (farthest >= most))
        if not len(beyond):
            return None
        token = int(beyond[0])
        length = int(np.broadcast_to(most, farthest.shape)[token])
        return token, int(farthest[token]), length

    def parameters(self, bits: int, lanes: int | None = None, **fields: Any) -> RopeParameters:
        """An engine that serves this batch; of the largest of 4, 2 and 1 lanes unless said.

        ``fields`` are RopeParameters' own. Raises InputError where no engine serves.
        """
        if lanes is None:
            able = [set(serving_lanes(table)) for table in self.tables]
            fitting = (n for n in PREFERRED_LANES if all(n in each for each in able))
            lanes = next(fitting, PREFERRED_LANES[-1])
        slots = next((n for n in (4, 8, 16) if n >= len(self.tables)), None)
        if slots is None:
            raise InputError("layers", len(self.tables), "must be of at most 16 geometries")
        parameters = RopeParameters(
            lanes=lanes,
            data_bits=bits,
            max_head_dim=max(RopeParameters.max_head_dim, self.tables[0].head_dim),
            slots=slots,
            axes=self.axes,
            temperature=bool(self.temperature_words.any()),
            **fields,
        )
        for table in self.tables:
            parameters.check_serves(table)
        return parameters


def rope_geometry(geometry: Geometry) -> RopeGeometry:
    """``geometry`` where it is one that rotates; InputError where it is not."""
    if not isinstance(geometry, RopeGeometry):
        raise InputError("scheme", geometry.scheme, "must be rope here")
    return geometry


def rope_slots(
    model: Model, layers: np.ndarray, tokens: int
) -> tuple[dict[str, RopeGeometry], np.ndarray]:
    """The geometries of the layers, by name, and each token's index among them.

    ``layers`` holds a layer's number for each token; a layer that does not rotate is called "nope".
    Raises InputError for a layer that does not exist.
    """
    if layers.shape != (tokens,):
        raise InputError("layers", layers.shape, f"must be [{tokens}]")
    numbers, which = np.unique(whole_numbers("layers", layers), return_inverse=True)
    geometries, slot_of = dict[str, RopeGeometry](), []
    for number in map(int, numbers):
        geometry = rope_geometry(model.geometry(layer=number))
        name = model.layers[number] or "nope"
        geometries.setdefault(name, geometry)
        slot_of.append(list(geometries).index(name))
    return geometries, np.array(slot_of)[which]
