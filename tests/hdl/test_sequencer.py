# SPDX-License-Identifier: Apache-2.0
"""Operations go in their order, and none before its words, its row entry and room are there."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing, PhaseTable
from ropeway.hdl.sequencer import Sequencer
from ropeway.hdl.walker import buffer_depth
from tests.geometries import geometry
from tests.hdl.benches import fed_with_beats, load, send, simulate, token_word

P = RopeParameters(lanes=1, data_bits=8, max_head_dim=16, slots=4)
DEPTH = buffer_depth(P)


@dataclass(frozen=True)
class Operation:
    """Addresses of an operation's two words, its row entry (or none), and what it waits for.

    ``beats`` and ``entries`` must have come, in all, before it; ``row`` counts the rows begun.
    """

    first: int
    second: int
    entry: int | None
    beats: int
    entries: int
    row: int


def operations_of(tables: list[PhaseTable], fresh: list[int]) -> list[Operation]:
    """What the tokens of ``tables`` need, token by token, from the definition of the pairings."""
    operations: list[Operation] = []
    base = entries = 0
    row = -1
    for table, new_row in zip(tables, fresh, strict=True):
        beats, block, start = table.head_dim // 2, table.pairs, table.rotary_offset // 2
        makes = new_row
        for turns in table.pattern.rotates.tolist():
            if turns and makes:
                row += 1
            for beat in range(beats):
                entry = beat - start if turns and start <= beat < start + block else None
                first = second = base + beat
                if entry is not None and table.pairing is Pairing.HALF_SPLIT:
                    # Words g and n + g of a block of 2n words, n being its beats.
                    first = base + start + entry // 2
                    second = base + start + (block + entry) // 2
                entries += bool(makes and entry is not None)
                operations.append(Operation(first, second, entry, second + 1, entries, max(row, 0)))
            makes &= not turns
            base += beats
    return operations


@pytest.mark.parametrize("generator", ["pipelined", "shared"])  # with registers between, without
@pytest.mark.parametrize("pairing", Pairing)
@pytest.mark.parametrize("seed", range(4))
def test_each_operation_waits_for_all_it_needs_and_for_nothing_else(seed, pairing, generator):
    random = np.random.default_rng(seed)
    pattern = HeadPattern(2, 1, 1)
    tables = [
        geometry(12, pattern, pairing=pairing),
        geometry(16, pattern, rotary_dim=10, offset=4, pairing=pairing),
        geometry(8, replace(pattern, repeat=2), rotary_dim=2, pairing=pairing),
        geometry(10, pattern, rotary_dim=8, pairing=pairing),
    ]
    slots = random.integers(0, 4, 12).tolist()
    fresh = [1, *random.integers(0, 2, 11).tolist()]
    # A row is shared by tokens of one slot alone.
    fresh = [int(new or slots[n] != slots[n - 1]) for n, new in enumerate(fresh)]
    expected = operations_of([tables[slot] for slot in slots], fresh)
    p = replace(P, generator=generator)
    sequencer = Sequencer(p)
    m, table, heads = fed_with_beats(p, sequencer, "step", idles=bool(seed % 2))
    rate = random.choice([0.2, 0.6, 1.0], 3)
    released = 0

    async def feed(ctx):
        for slot, given in enumerate(tables):
            await load(ctx, table, given, slot)
        words = [token_word(P, slot, 1, new) for slot, new in zip(slots, fresh, strict=True)]
        await send(ctx, heads.i, words)

    async def watch(ctx):
        nonlocal released
        arrived = written = drained = issued = quiet = 0
        operation = sequencer.operation
        while issued < len(expected):
            # What is offered keeps to what the buffers behind can hold.
            events = [
                arrived < expected[-1].beats and arrived - issued < DEPTH - P.max_head_beats,
                written < expected[-1].entries,
                drained < issued,
            ]
            events = [bool(e and random.random() < r) for e, r in zip(events, rate, strict=True)]
            for port, event in zip(("arrived", "written", "drained"), events, strict=True):
                ctx.set(getattr(sequencer, port), event)
            _, _, issue, first, second, entry, turns, row, release = await ctx.tick().sample(
                sequencer.issue,
                operation.first,
                operation.second,
                operation.entry,
                operation.turns,
                sequencer.row,
                sequencer.row_released,
            )
            released += release
            if issue:
                need = expected[issued]
                assert (first, second) == (need.first % DEPTH, need.second % DEPTH)
                assert turns == (need.entry is not None)
                if turns:
                    assert entry == need.entry
                    assert row == need.row % P.rows
                # An answer is a register, so what it needs came in the clocks before.
                assert need.beats <= arrived
                assert need.entries <= written
                assert issued - drained < DEPTH - P.max_head_beats
                issued += 1
            quiet = 0 if issue or any(events) else quiet + 1
            assert quiet < 600, f"stuck at operation {issued}: {expected[issued]}"
            arrived, written, drained = (
                count + event
                for count, event in zip((arrived, written, drained), events, strict=True)
            )

    simulate(m, feed, watch)
    assert released == expected[-1].row
