# SPDX-License-Identifier: Apache-2.0
"""What every test of an engine does: tokens of several geometries in, the golden model's out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope
from ropeway.golden.table import PhaseTable
from ropeway.sim.bench import EngineBench, Gate, Load, Result, Token, Traffic
from ropeway.sim.traffic import all_of, loaded
from tests.geometries import POSITIONS, data_words


@lru_cache(maxsize=4)
def bench_of(p: RopeParameters) -> EngineBench:
    """A bench, elaborated once for the tests that follow each other with the same parameters."""
    return EngineBench(p)


@dataclass(frozen=True)
class Step:
    """A token, and the table that its slot holds when its turn comes."""

    table: PhaseTable
    token: Token


@dataclass(frozen=True)
class Script:
    """Steps, the loads that they need, and the gate that holds a position until its load is in.

    ``words`` are the words of loads for which that gate holds each position.
    """

    steps: list[Step]
    loads: list[Load]
    gate: Gate
    words: list[int]


def token_of(p: RopeParameters, table: PhaseTable, random: np.random.Generator, **fields) -> Token:
    """A token of random elements in a table's shape."""
    shape = (table.pattern.heads, table.head_dim)
    return Token(data_words(random, shape, p), **{"position": 0, **fields})


def steps_of(
    p: RopeParameters, table: PhaseTable, positions: Sequence, *, seed: int = 0, **fields
) -> list[Step]:
    """A token of one table at each of ``positions``."""
    random = np.random.default_rng(seed)
    return [Step(table, token_of(p, table, random, position=at, **fields)) for at in positions]


def script_of(p: RopeParameters, tables: Sequence[PhaseTable], each: int, seed: int) -> Script:
    """``each`` tokens of every table, which take the slots in turn; all positions, all flags."""
    random = np.random.default_rng(seed)
    steps, loads, needed, words = [], [], [], 0
    for number, table in enumerate(tables):
        slot = number % p.slots
        loads.append(Load(slot, table, after=max(0, number - p.slots + 1) * each))
        words += len(table.image())
        for _ in range(each):
            at = len(steps)
            fields = {
                "position": POSITIONS[at % len(POSITIONS)],
                "slot": slot,
                "conjugate": at % 5 == 3,
                "pure": at % 7 == 4,
                "bypass": at % 13 == 8,
            }
            steps.append(Step(table, token_of(p, table, random, **fields)))
            needed.append(words)
    return Script(steps, loads, loaded([*needed, words]), needed)


def framed(p: RopeParameters, step: Step) -> tuple[np.ndarray, bool]:
    """A step's data as the engine frames them, and whether its packet is malformed.

    What an early ``last`` leaves out is zeros; what comes before a late one is dropped.
    """
    token = step.token
    beats = token.data.size // p.beat_elements
    if token.last_at is None or token.last_at == beats - 1:
        return token.data, False
    data = token.data.reshape(beats, p.beat_elements).copy()
    data[token.last_at + 1 :] = 0
    return data.reshape(token.data.shape), True


def expected(p: RopeParameters, step: Step) -> tuple[np.ndarray, int]:
    """What golden makes of a step's token, [heads, head_dim], and how many elements saturated."""
    token, table = step.token, step.table
    data, _ = framed(p, step)
    if token.bypass:
        table = replace(table, increments=(), axes=(), rotary_offset=0)
    if token.pure:
        table = replace(table, amplitude=0, scale=0)
    out, saturated = rope(
        p,
        table,
        data[None],
        np.array([token.position]),
        conjugate=token.conjugate,
        temperature=np.array([token.temperature]),
    )
    return out[0], saturated


def beyond(step: Step) -> bool:
    """Whether a step's token turns by a position beyond its table's trained context."""
    table, turns = step.table, not (step.token.bypass or step.table.bypass)
    return bool(turns and table.context and np.max(step.token.position) >= table.context)


def check(
    bench: EngineBench,
    steps: Sequence[Step],
    loads: Sequence[Load],
    traffic: Traffic | None = None,
    *,
    status: dict[str, int] | None = None,
    **options,
) -> Result:
    """Run the steps; every token must come out as golden has it, marked where its packet was bad.

    The sticky flags must say what happened, and of loads what ``status`` says.
    """
    p = bench.parameters
    result = bench.run([step.token for step in steps], loads, traffic, **options)
    saturated = 0
    assert len(result.packets) == len(steps)
    for number, (packet, step) in enumerate(zip(result.packets, steps, strict=True)):
        out, count = expected(p, step)
        saturated += count
        assert packet.size == out.size, f"token {number} has {packet.size} elements"
        assert np.array_equal(packet.reshape(out.shape), out), f"token {number}: {step.token}"
    bad = [framed(p, step)[1] for step in steps]
    assert result.errors == bad
    far = [np.atleast_1d(step.token.position)[0] for step in steps if beyond(step)]
    flags = {
        "saturated": int(saturated > 0),
        "misframed": int(any(bad)),
        "first_bad": bad.index(True) if any(bad) else 0,
        "beyond": int(len(far) > 0),
        "first_beyond": far[0] if far else 0,
        "refused": 0,
        "malformed": 0,
    }
    assert result.status == flags | (status or {})
    return result


def play(bench: EngineBench, script: Script, traffic: Traffic | None = None, **options) -> Result:
    """``check`` of a script; its positions also wait for their loads."""
    traffic = traffic or Traffic()
    traffic = replace(traffic, position=all_of(script.gate, traffic.position))
    return check(bench, script.steps, script.loads, traffic, **options)
