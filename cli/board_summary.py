# SPDX-License-Identifier: Apache-2.0
"""What a board says of itself, in order, and in lines to read."""

from collections.abc import Iterator, Mapping
from typing import Any

from ropeway.boards.link import Link
from ropeway.golden.core_parameters import BYPASS

__all__ = ["board_facts", "lines_of"]


def board_facts(link: Link) -> dict[str, Any]:
    """What a board is, what its slots hold, and what it has done since it was reset."""
    p = link.parameters
    release = link.read("VERSION")
    slots = [slot for slot, unit in enumerate(p.core.slots) if unit != BYPASS]
    test = link.read("SELF_TEST_STATUS")
    return {
        "release": ".".join(str(release[part]) for part in ("major", "minor", "patch")),
        "clock_hz": p.clock_hz,
        "units": list(p.core.units),
        "lanes": p.core.beat_elements // 2,
        "bits": p.core.data_bits,
        "output_bits": p.core.output_bits,
        "format": p.core.vector_units[0].format,
        "max_head_dim": p.core.rope.max_head_dim if p.core.rope else None,
        "slots": {str(slot): link.fingerprint(slot) for slot in slots},
        "self_test": verdict(test),
        "counters": link.counters(),
    }


def verdict(test: Mapping[str, int]) -> str:
    """The last self-test's status in a word."""
    if test["busy"]:
        return "busy"
    if not test["done"]:
        return "none"
    return "passed" if test["matched"] else "failed"


def lines_of(facts: Mapping[str, Any]) -> Iterator[str]:
    """Facts in lines to read, those of several parts part by part."""
    for key, value in facts.items():
        if isinstance(value, Mapping):
            for part, each in value.items():
                yield f"{f'{key} {part}':22} {shown(each)}"
        else:
            yield f"{key:22} {shown(value)}"


def shown(value: Any) -> str:
    """A value in a line."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "none" if value is None else str(value)
