# SPDX-License-Identifier: Apache-2.0
"""The heads of every token come in the order of its pattern, with what each of them does."""

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, PhaseTable
from ropeway.hdl.heads import Heads
from ropeway.hdl.layouts import head_layout
from ropeway.hdl.phase_table import PhaseTable as HardwareTable
from tests.geometries import geometry
from tests.hdl.benches import assembled, load, stream_through, token_word

P = RopeParameters(max_head_dim=64, slots=8)
PATTERNS = (
    HeadPattern(3, 1, 1),
    HeadPattern(1, 1, 1, repeat=3),
    HeadPattern(2, 1, 1, repeat=2, rotated=(True, False, True)),
    HeadPattern(0, 1),
    HeadPattern(0, 0, 2, repeat=2, rotated=(False, False, True)),
    HeadPattern(1, 0, 3, rotated=(False, False, True)),
    HeadPattern(0, 2, 1, repeat=4, rotated=(False, True, False)),
    HeadPattern(511, 0),
)


def heads_of(table: PhaseTable, rotates: int, new_row: int) -> list[tuple[int, ...]]:
    """(turns, fresh, last) of each head of a token."""
    fresh, out = new_row, []
    for turns in (table.pattern.rotates & bool(rotates)).astype(int).tolist():
        out.append((turns, turns & fresh, 0))
        fresh &= ~turns
    out[-1] = (*out[-1][:2], 1)
    return out


@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_pattern_is_written_out_head_by_head(seed, stall):
    tables = [geometry(64, pattern) for pattern in PATTERNS]
    table, heads = HardwareTable(P), Heads(P)
    m = assembled(table=table, heads=heads)
    m.d.comb += [table.token_slot.eq(heads.slot), heads.pattern.eq(table.pattern)]
    random = np.random.default_rng(seed)
    slots = [*range(8), *random.integers(0, 7, 30).tolist()]
    flags = random.integers(0, 2, (len(slots), 2)).tolist()
    tokens = [token_word(P, slot, *given) for slot, given in zip(slots, flags, strict=True)]
    expected = [
        (slot, *head)
        for slot, given in zip(slots, flags, strict=True)
        for head in heads_of(tables[slot], *given)
    ]

    async def before(ctx):
        for slot, given in enumerate(tables):
            assert (await load(ctx, table, given, slot)).malformed == 0

    result = stream_through(
        m,
        tokens,
        i=heads.i,
        o=heads.o,
        count=len(expected),
        idle=0.3,
        stall=stall,
        seed=seed,
        before=before,
    )
    layout = head_layout(P)
    found = [layout.from_bits(item) for item in result.items]
    names = ("slot", "turns", "fresh", "last")
    assert [tuple(int(head[name]) for name in names) for head in found] == expected
