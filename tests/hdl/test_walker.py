# SPDX-License-Identifier: Apache-2.0
"""The walker names every beat of every head, at whatever pace it is told to go on."""

import numpy as np
import pytest
from amaranth.hdl import Elaboratable

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing
from ropeway.hdl.walker import Walker, buffer_depth
from tests.geometries import geometry
from tests.hdl.benches import assembled, fed_with_heads, load, send, simulate, token_word

P = RopeParameters(lanes=1, data_bits=8, max_head_dim=16, slots=4)
NAMES = ("begins_head", "turns", "split", "opens", "second")


class Stage(Elaboratable):
    """A walker alone, as a stage that walks heads."""

    def __init__(self):
        self.walker = Walker(P)

    def elaborate(self, _platform):
        return assembled(walker=self.walker)


def beats_of(table) -> list[tuple[int, ...]]:
    """What each beat of a token is: the fields of NAMES, its entry, and whether it is the last."""
    beats, block, start = table.head_dim // 2, table.pairs, table.rotary_offset // 2
    split = table.pairing is Pairing.HALF_SPLIT
    out = []
    for turns in table.pattern.rotates.tolist():
        for beat in range(beats):
            entry = beat - start
            inside = bool(turns and 0 <= entry < block)
            second = inside and entry >= block // 2
            flags = (beat == 0, inside, inside and split, inside and entry == 0, second)
            out.append((*(int(flag) for flag in flags), entry if inside else None, 0))
    out[-1] = (*out[-1][:-1], 1)
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
    slots = random.integers(0, 4, 12).tolist()
    expected = [beat for slot in slots for beat in beats_of(tables[slot])]
    stage = Stage()
    m, table, heads = fed_with_heads(P, stage)
    place = stage.walker.place
    found, addresses = [], []

    async def feed(ctx):
        for slot, given in enumerate(tables):
            await load(ctx, table, given, slot)
        await send(ctx, heads.i, [token_word(P, slot) for slot in slots])

    async def watch(ctx):
        quiet = 0
        while len(found) < len(expected):
            advance = bool(random.random() < pace)
            ctx.set(stage.walker.advance, advance)
            _, _, valid, *flags, entry, last, address = await ctx.tick().sample(
                stage.walker.valid,
                *(getattr(place, name) for name in NAMES),
                place.entry,
                stage.walker.last,
                place.address,
            )
            if valid and advance:
                found.append((*flags, entry if flags[1] else None, last))
                addresses.append(address)
            quiet = 0 if valid else quiet + 1
            assert quiet < 3000

    simulate(m, feed, watch)
    assert found == expected
    assert addresses == [number % buffer_depth(P) for number in range(len(expected))]
