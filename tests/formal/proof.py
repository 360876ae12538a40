# SPDX-License-Identifier: Apache-2.0
"""What a proof is: a claim, the harness that states it, and the bugs planted to see it fail."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from amaranth.hdl import Module

__all__ = ["Bug", "Proof", "Structure"]


@dataclass(frozen=True)
class Bug:
    """``old``, found exactly once in ``file``, becomes ``new``; then the claim must fail.

    One that is not ``found`` shows only after more clocks than are searched: the induction fails.
    """

    file: str
    old: str
    new: str
    found: bool = True


@dataclass(frozen=True)
class Proof:
    """A claim about a block, as assertions, assumptions and covers in a harness.

    ``depth`` clocks from reset are searched for a counterexample, and the claim then proved for all
    time by induction over at most as many; where it is ``bounded`` the search is all. Every cover
    of the harness must be reached within ``reach`` clocks, so that no claim holds for want of
    traffic. ``given`` says what is assumed of the surroundings beyond the streams' rules.
    """

    name: str
    claim: str
    harness: Callable[[], Module]
    bugs: tuple[Bug, ...]
    depth: int = 10
    bounded: bool = False
    reach: int = 30
    given: str = ""


@dataclass(frozen=True)
class Structure:
    """A claim about a netlist, whatever its state; ``broken`` names every place that breaks it."""

    name: str
    claim: str
    broken: Callable[[], Iterable[str]]
    bugs: tuple[Bug, ...]
    given: str = ""
