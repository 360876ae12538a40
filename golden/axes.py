# SPDX-License-Identifier: Apache-2.0
"""Which position axis each pair follows where positions have several: M-RoPE and its relatives."""

from collections.abc import Sequence
from itertools import chain, cycle

from .errors import InputError
from .families import Family
from .fields import Fields

__all__ = ["axes_of"]

TIME, HEIGHT, WIDTH = range(3)


def axes_of(parameters: Fields, family: Family, pairs: int) -> tuple[int, ...]:
    """The axis of each pair: t, h, w are 0, 1, 2 (xdrope: the order of its sections).

    Sections count pairs. Raises InputError where they do not add up, and for HunYuan-VL's split of
    the whole head in transformers, under which a pair's two elements follow different axes.
    """
    key = next((key for key in ("mrope_section", "xdrope_section") if parameters.has(key)), None)
    if key is None:
        return (0,) * pairs
    sections, name = parameters.counts(key), parameters.name(key)
    if key == "mrope_section" and "split-head" in family.traits:
        rule = "this split gives a pair's elements different axes, which is no rotation"
        raise InputError(name, list(sections), rule)
    count = 3 if key == "mrope_section" else 4
    if len(sections) != count or sum(sections) != pairs:
        raise InputError(
            name, list(sections), f"must be {count} sections that sum to {pairs} pairs"
        )
    if key == "xdrope_section":
        return chunked(sections)
    if "ernie-sections" in family.traits:
        return ernie(sections, name)
    if parameters.flag("mrope_interleaved_glm"):
        return round_robin(sections)
    return interleaved(sections) if parameters.flag("mrope_interleaved") else chunked(sections)


def chunked(sections: Sequence[int]) -> tuple[int, ...]:
    """One run of pairs an axis (Qwen2-VL)."""
    return tuple(chain.from_iterable([axis] * size for axis, size in enumerate(sections)))


def interleaved(sections: Sequence[int]) -> tuple[int, ...]:
    """Axes by turns as far as height and width reach, time everywhere else (Qwen3-VL)."""
    reach = [0, 3 * sections[HEIGHT], 3 * sections[WIDTH]]
    return tuple(i % 3 if i < reach[i % 3] else TIME for i in range(sum(sections)))


def ernie(sections: Sequence[int], name: str) -> tuple[int, ...]:
    """Sections in the order h, w, t: height and width alternate, then time (ERNIE-4.5-VL)."""
    height, width, time = sections
    if height != width:
        raise InputError(name, list(sections), "the first two sections must be equal")
    return (HEIGHT, WIDTH) * height + (TIME,) * time


def round_robin(sections: Sequence[int]) -> tuple[int, ...]:
    """Axes by turns, skipping those whose section is used up (GLM in SGLang)."""
    left, axes, turn = list(sections), [], cycle(range(len(sections)))
    while any(left):
        axis = next(turn)
        if left[axis]:
            left[axis] -= 1
            axes.append(axis)
    return tuple(axes)
