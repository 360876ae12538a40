# SPDX-License-Identifier: Apache-2.0
"""Traffic for a whole core, and what the golden model says that comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import LearnedGeometry, SinusoidalGeometry
from ropeway.golden.core_parameters import BYPASS, CoreParameters
from ropeway.golden.learned import add_learned, out_of_table
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope
from ropeway.golden.sinusoidal import add_sinusoidal
from ropeway.golden.table import PhaseTable

from .core_words import BYPASS as BYPASS_FLAG
from .core_words import CONJUGATE, PURE, beat_words, place_words, result_words

__all__ = ["CoreLoad", "CoreScript", "CoreToken", "Geometry", "written"]

Geometry = PhaseTable | SinusoidalGeometry | LearnedGeometry


@dataclass(frozen=True)
class CoreToken:
    """A token's elements [n], the slot that it passes, its position on each axis, and its flags.

    ``last_at`` moves the packet's ``last`` to another beat, ``partial_at`` names one with a byte
    that is not kept: both give a malformed packet.
    """

    elements: np.ndarray
    slot: int
    position: tuple[int, ...] = (0,)
    conjugate: bool = False
    pure: bool = False
    bypass: bool = False
    temperature: int = 0
    last_at: int | None = None
    partial_at: int | None = None

    @property
    def flags(self) -> int:
        """The flags as they stand in a position's word."""
        return self.conjugate * CONJUGATE | self.pure * PURE | self.bypass * BYPASS_FLAG


@dataclass(frozen=True, eq=False)
class CoreLoad:
    """A geometry for a slot, and the table [rows, width] of a learned one.

    It comes before the next token of the script; what is before it there, of that slot, is out
    before it is offered.
    """

    slot: int
    geometry: Geometry
    table: np.ndarray | None = None


@dataclass
class CoreScript:
    """A script as a core's ports take it, and what is to come out.

    ``beats`` and ``results`` are uint32 [beats, words], ``positions`` uint32 [tokens, words].
    ``owners`` says whose token's each of ``beats`` is, ``needs`` for each token how many loads come
    before it, ``waits`` for each load how many results do.
    """

    beats: np.ndarray = field(repr=False)
    positions: np.ndarray = field(repr=False)
    results: np.ndarray = field(repr=False)
    loads: list[CoreLoad] = field(repr=False)
    owners: np.ndarray = field(repr=False)
    needs: np.ndarray = field(repr=False)
    waits: np.ndarray = field(repr=False)
    tokens: int
    elements: int


def written(
    p: CoreParameters, steps: Sequence[CoreToken | CoreLoad], *, carried: bool = False
) -> CoreScript:
    """The script of ``steps``, from reset on; with ``carried``, positions ride on packets."""
    holds: dict[int, CoreLoad] = {}
    epochs, used = dict.fromkeys(range(256), 0), dict.fromkeys(range(256), 0)
    loads: list[CoreLoad] = []
    waits, needs, beats, positions, marks = [], [], [], [], []
    groups: dict[tuple, list[int]] = {}
    tokens: list[CoreToken] = []
    for step in steps:
        if isinstance(step, CoreLoad):
            holds[step.slot], waits = step, [*waits, used[step.slot]]
            epochs[step.slot] += 1
            loads.append(step)
            continue
        place = place_words(
            p, _axes(p, step), step.slot, flags=step.flags, temperature=step.temperature
        )
        beats.append(_packet(p, step, place if carried else None))
        positions.append(place)
        needs.append(len(loads))
        marks.append(epochs[step.slot])
        load = holds.get(step.slot)
        groups.setdefault((load, _way(step), len(step.elements)), []).append(len(tokens))
        tokens.append(step)
        used[step.slot] = len(tokens)

    results = [np.zeros(0)] * len(tokens)
    for (load, *_), numbers in groups.items():
        outs, errors = _passed(p, load, [tokens[number] for number in numbers])
        for number, out, error in zip(numbers, outs, errors, strict=True):
            slot = min(tokens[number].slot, len(p.slots))  # which is that of no slot
            results[number] = result_words(p, out, slot, marks[number], error)
    return CoreScript(
        np.concatenate(beats),
        np.concatenate(positions),
        np.concatenate(results),
        loads,
        np.repeat(np.arange(len(tokens)), [len(packet) for packet in beats]),
        np.array(needs),
        np.array(waits),
        len(tokens),
        sum(len(token.elements) for token in tokens),
    )


def _axes(p: CoreParameters, token: CoreToken) -> np.ndarray:
    """A token's positions, int64 [1, axes]."""
    at = token.position * p.axes if len(token.position) == 1 else token.position
    return np.array([at], np.int64)


def _way(token: CoreToken) -> tuple:
    """What tokens must have in common to be one call of the golden model."""
    return (token.slot, token.conjugate, token.pure, token.bypass, token.temperature != 0)


def _packet(p: CoreParameters, token: CoreToken, place: np.ndarray | None) -> np.ndarray:
    broken = {"last_at": token.last_at, "partial_at": token.partial_at}
    return beat_words(p, token.elements, place, **broken)


def _passed(
    p: CoreParameters, load: CoreLoad | None, tokens: list[CoreToken]
) -> tuple[np.ndarray, np.ndarray]:
    """What comes of tokens that go one way: elements [tokens, n], errors bool [tokens, beats]."""
    slot = tokens[0].slot
    kind = p.slots[slot] if slot < len(p.slots) else BYPASS
    elements = np.stack([token.elements for token in tokens])
    beats = elements.shape[1] // p.beat_elements
    errors = np.zeros((len(tokens), beats), bool)
    errors[:, -1] = [_broken(token, beats) or slot >= len(p.slots) for token in tokens]
    if kind == BYPASS:
        return elements, errors
    if load is None:
        raise ValueError(f"slot {slot} holds nothing")
    for row, token in zip(elements, tokens, strict=True):  # what is missing counts as zeros
        if token.last_at is not None:
            row[(token.last_at + 1) * p.beat_elements :] = 0
    at = np.concatenate([_axes(p, token) for token in tokens])
    match load.geometry, p.rope, p.sinusoidal, p.learned:
        case PhaseTable() as table, RopeParameters() as engine, _, _:
            return _rotated(engine, table, elements, at, tokens), errors
        case SinusoidalGeometry() as geometry, _, AdderParameters() as adder, _:
            return add_sinusoidal(adder, geometry, elements, at[:, 0])[0], errors
        case LearnedGeometry() as geometry, _, _, AdderParameters() as adder:
            if load.table is None:
                raise ValueError(f"slot {slot} has no table")
            out, _ = add_learned(adder, geometry, load.table, elements, at[:, 0])
            return out, errors | out_of_table(geometry, at[:, 0])[:, None]
    raise ValueError(f"slot {slot} cannot hold {type(load.geometry).__name__}")


def _broken(token: CoreToken, beats: int) -> bool:
    early_or_late = token.last_at is not None and token.last_at != beats - 1
    return early_or_late or token.partial_at is not None


def _rotated(
    p: RopeParameters, table: PhaseTable, elements, at, tokens: list[CoreToken]
) -> np.ndarray:
    """Tokens through a RoPE engine, [tokens, n]; all have the same flags."""
    heads = elements.reshape(len(tokens), table.pattern.heads, table.head_dim)
    first = tokens[0]
    if first.bypass:
        table = replace(table, increments=(), axes=(), rotary_offset=0)
    if first.pure:
        table = replace(table, amplitude=0, scale=0)
    words = np.array([token.temperature for token in tokens])
    out, _ = rope(
        p,
        table,
        heads,
        at if p.axes > 1 else at[:, 0],
        conjugate=first.conjugate,
        temperature=words if words.any() else None,
    )
    return out.reshape(elements.shape)
