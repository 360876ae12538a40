# SPDX-License-Identifier: Apache-2.0
"""The walker tells of every beat of every head, at whatever pace it is told to go on."""

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing
from ropeway.hdl.walker import Walker
from tests.geometries import geometry
from tests.hdl.benches import assembled, fed_with_heads, load, send, simulate, token_word

P = RopeParameters(lanes=1, data_bits=8, max_head_dim=16, slots=4)
STEP = ("turns", "split", "opens", "fresh")
EXIT = ("exchanged", "needs", "last", "slot")


def beats_of(table, slot: int) -> list[tuple[tuple, int | None, int | None, tuple]]:
    """What each beat of a token is: STEP, whether its entry is even, how many beats more a split
    pair's operation needs, and EXIT.
    """
    beats, block, start = table.head_dim // 2, table.pairs, table.rotary_offset // 2
    half_split = table.pairing is Pairing.HALF_SPLIT
    out, fresh = [], True
    for turns in table.pattern.rotates.tolist():
        before = 0
        for beat in range(beats):
            entry = beat - start
            inside = bool(turns and 0 <= entry < block)
            split = inside and half_split
            second = split and entry >= block // 2
            # Operation g joins words g and n + g; word w < n comes from operation w.
            more = (block + entry) // 2 - (block + entry - 1) // 2 if entry else block // 2
            done = start + max(w % block for w in (2 * entry, 2 * entry + 1)) if split else beat
            done = max(done, before - 1)
            step = (int(inside), int(split), int(inside and entry == 0), int(inside and fresh))
            exits = (int(second and block % 2 == 0), done + 1 - before, 0, slot)
            out.append(
                (step, int(entry % 2 == 0) if inside else None, more if split else None, exits)
            )
            before = done + 1
        fresh &= not turns
    out[-1] = (*out[-1][:3], (*out[-1][3][:2], 1, slot))
    return out


@pytest.mark.parametrize("pairing", Pairing)
@pytest.mark.parametrize("pace", [1.0, 0.4])
def test_every_beat_stands_where_its_geometry_says(pace, pairing):
    random = np.random.default_rng(1)
    pattern = HeadPattern(2, 1, 1)
    tables = [
        geometry(16, pattern, pairing=pairing),
        geometry(12, pattern, rotary_dim=10, offset=2, pairing=pairing),
        geometry(8, pattern, rotary_dim=2, offset=6, pairing=pairing),
        geometry(2, pattern, pairing=pairing),
    ]
    slots = [*range(4), *random.integers(0, 4, 12).tolist()]
    expected = [beat for slot in slots for beat in beats_of(tables[slot], slot)]
    walker = Walker(P)
    m, table, heads = fed_with_heads(P, assembled(walker=walker), walker)
    found = []

    async def feed(ctx):
        for slot, given in enumerate(tables):
            await load(ctx, table, given, slot)
        await send(ctx, heads.i, [token_word(P, slot) for slot in slots])

    async def watch(ctx):
        quiet = 0
        while len(found) < len(expected):
            advance = bool(random.random() < pace)
            ctx.set(walker.advance, advance)
            _, _, valid, step, leaves = await ctx.tick().sample(
                walker.valid, walker.step, walker.exit
            )
            if valid and advance:
                flags = tuple(int(step[name]) for name in STEP)
                even = int(step.even) if flags[0] else None
                more = int(step.more) if flags[1] else None
                found.append((flags, even, more, tuple(int(leaves[name]) for name in EXIT)))
            quiet = 0 if valid else quiet + 1
            assert quiet < 5000

    simulate(m, feed, watch)
    assert found == expected


def test_heads_follow_each_other_without_a_bubble():
    walker = Walker(P)
    m, table, heads = fed_with_heads(P, assembled(walker=walker), walker)
    valids: list[int] = []

    async def feed(ctx):
        await load(ctx, table, geometry(16, HeadPattern(3, 1)), 0)
        await send(ctx, heads.i, [token_word(P, 0)])

    async def watch(ctx):
        ctx.set(walker.advance, 1)
        while sum(valids) < 4 * 8:
            _, _, valid = await ctx.tick().sample(walker.valid)
            if valid or valids:
                valids.append(valid)

    simulate(m, feed, watch)
    assert all(valids)
