# SPDX-License-Identifier: Apache-2.0
"""Slots load in two clocks a pair and eight, refuse what they must, and disturb no other."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden.errors import InputError
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing, PhaseTable
from ropeway.hdl.phase_table import PhaseTable as HardwareTable
from tests.geometries import geometry
from tests.hdl.benches import VERDICT, Verdict, load, simulate

P = RopeParameters(max_head_dim=64, axes=2)
ONE = geometry(64, HeadPattern(2, 1, 1), axes=(0, 1) * 16)
OTHER = geometry(64, HeadPattern(1, 0), rotary_dim=16, offset=32, attention_factor=1.45)


async def content(ctx, table: HardwareTable, slot: int, pairs: int) -> list:
    """A slot's increments and axes, amplitude, last pair's number and whether that is 0."""
    for port in (table.pair_slot, table.amplitude_slot, table.job_slot):
        ctx.set(port, slot)
    read = []
    for number in range(pairs):
        ctx.set(table.pair_number, number)
        await ctx.tick().repeat(2)
        read.append((ctx.get(table.pair.increment), ctx.get(table.pair.axis)))
    return [
        read,
        ctx.get(table.amplitude.code),
        ctx.get(table.amplitude.scale),
        ctx.get(table.pairs.final),
        [ctx.get(table.pairs.single), ctx.get(table.pairs.double)],
    ]


def content_of(table: PhaseTable) -> list:
    pairs = list(zip(table.increments, table.axes, strict=True))
    counts = [int(table.pairs == count) for count in (1, 2)]
    return [pairs, table.amplitude, table.scale, table.pairs - 1, counts]


def on_table(p: RopeParameters, steps: Callable[..., Awaitable[None]]):
    """Run ``steps(ctx, table)`` on a phase table."""
    table = HardwareTable(p)

    async def testbench(ctx):
        await steps(ctx, table)

    simulate(table, testbench)


def test_slots_load_in_eight_clocks_and_two_a_pair_and_hold_what_was_loaded():
    async def steps(ctx, table):
        for slot, given in enumerate((ONE, OTHER, replace(ONE, amplitude=-5), OTHER)):
            verdict = await load(ctx, table, given, slot)
            assert verdict == Verdict(8 + 2 * given.pairs, 0, 0, (2 << slot) - 1)
        for slot, given in enumerate((ONE, OTHER, replace(ONE, amplitude=-5), OTHER)):
            assert await content(ctx, table, slot, given.pairs) == content_of(given)

    on_table(P, steps)


def test_a_slot_says_whether_anything_of_it_turns():
    still = geometry(64, HeadPattern(1, 1), rotary_dim=0)
    unturned = replace(ONE, pattern=HeadPattern(0, 0, 2))

    async def steps(ctx, table):
        for slot, given in enumerate((ONE, still, unturned)):
            await load(ctx, table, given, slot)
            assert ctx.get(table.bypass) >> slot & 1 == given.bypass
        await load(ctx, table, ONE, 1)
        assert ctx.get(table.bypass) == 0b100

    on_table(P, steps)


def test_a_slot_is_not_loaded_from_its_first_word_to_its_last():
    async def steps(ctx, table):
        await load(ctx, table, ONE, 0)
        await load(ctx, table, ONE, 1)
        for number, word in enumerate(ONE.image()):
            ctx.set(table.i_load.valid, 1)
            ctx.set(table.i_load.payload.word, int(word))
            ctx.set(table.i_load.payload.slot, 1)
            ctx.set(table.i_load.payload.last, number == len(ONE.image()) - 1)
            await ctx.tick().until(table.i_load.ready)
            if number > 6:
                assert ctx.get(table.loaded) == 0b01
        ctx.set(table.i_load.valid, 0)
        await ctx.tick().repeat(VERDICT)
        assert ctx.get(table.loaded) == 0b11

    on_table(P, steps)


def test_a_load_of_a_busy_slot_is_refused_whole_and_changes_nothing():
    async def steps(ctx, table):
        await load(ctx, table, ONE, 0)
        ctx.set(table.busy, 0b0001)
        for words in (OTHER.image(), OTHER.image()[:3], ONE.image()[::-1]):
            assert await load(ctx, table, words, 0) == Verdict(len(words), 1, 0, 0b0001)
            assert await content(ctx, table, 0, ONE.pairs) == content_of(ONE)
        assert await load(ctx, table, OTHER, 1) == Verdict(8 + 2 * OTHER.pairs, 0, 0, 0b0011)
        ctx.set(table.busy, 0)
        assert await load(ctx, table, OTHER, 0) == Verdict(8 + 2 * OTHER.pairs, 0, 0, 0b0011)
        assert await content(ctx, table, 0, OTHER.pairs) == content_of(OTHER)

    on_table(P, steps)


def changed(at: int, value: int) -> np.ndarray:
    words = ONE.image()
    words[at] = value
    return words


MALFORMED = {
    "another magic": changed(0, 0x1234_0001),
    "another version": changed(0, 0x5257_0002),
    "another scheme": changed(0, 0x5257_0101),
    "one word": ONE.image()[:1],
    "a header only": ONE.image()[:8],
    "one word too short": ONE.image()[:-1],
    "one word too long": np.append(ONE.image(), 0),
    "very much too long": np.append(ONE.image(), np.arange(700)),
    "a head larger than the engine's": changed(4, 128),
    "a head of no elements": changed(4, 0),
    "a head of half a beat": changed(4, 60),
    "a head that the field cannot hold": changed(4, 64 | 1 << 15),
    "a rotary part beyond the head": changed(1, 32 | 8 << 16),
    "an offset that the field cannot hold": changed(1, 32 | 1 << 31),
    "no heads": changed(6, 0),
    "no repeat": changed(7, 0),
}


@pytest.mark.parametrize("words", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_image_leaves_its_slot_unloaded_and_all_others_as_they_are(words):
    async def steps(ctx, table):
        await load(ctx, table, ONE, 0)
        await load(ctx, table, OTHER, 3)
        await load(ctx, table, OTHER, 2)
        verdict = await load(ctx, table, words, 2)
        assert (verdict.refused, verdict.malformed, verdict.loaded) == (0, 1, 0b1001)
        assert await content(ctx, table, 0, ONE.pairs) == content_of(ONE)
        assert await content(ctx, table, 3, OTHER.pairs) == content_of(OTHER)
        assert (await load(ctx, table, ONE, 2)).loaded == 0b1101
        assert await content(ctx, table, 2, ONE.pairs) == content_of(ONE)

    on_table(P, steps)


@pytest.mark.parametrize("before", [64, 128, 256, 512, 1024])
def test_an_image_behind_other_words_is_malformed(before):
    # As if the word that ended another load had lost its ``last``.
    words = np.concatenate([np.arange(before, dtype=np.uint32), ONE.image()])

    async def steps(ctx, table):
        verdict = await load(ctx, table, words, 0)
        assert (verdict.malformed, verdict.loaded) == (1, 0)

    on_table(P, steps)


def serves(p: RopeParameters, table: PhaseTable) -> bool:
    try:
        p.check_serves(table)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_hardware_and_golden_agree_on_which_geometries_are_served(lanes):
    p = RopeParameters(lanes=lanes, max_head_dim=48, slots=2)
    random = np.random.default_rng(lanes)
    tables = []
    for head_dim in range(2, 65, 2):
        rotary = {0, head_dim, 2 * int(random.integers(0, head_dim // 2 + 1)), 16, 24}
        for rotary_dim in sorted(size for size in rotary if size <= head_dim):
            offsets = {0, head_dim - rotary_dim, int(random.integers(0, head_dim - rotary_dim + 1))}
            tables += [
                geometry(head_dim, HeadPattern(1, 1), rotary_dim=rotary_dim, offset=offset)
                for offset in sorted(offsets)
            ]
    outcomes = []

    async def steps(ctx, table):
        for given in tables:
            verdict = await load(ctx, table, given, 0)
            assert verdict.malformed == (not serves(p, given)), given
            outcomes.append(verdict.malformed)

    on_table(p, steps)
    assert set(outcomes) == {0, 1}


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_pair_that_follows_an_axis_the_engine_lacks_is_malformed(axes):
    p = RopeParameters(max_head_dim=64, axes=axes)
    fits = geometry(64, HeadPattern(1, 1), axes=(axes - 1,) * 32, pairing=Pairing.ADJACENT)
    lacks = replace(fits, axes=(*fits.axes[:-1], axes))
    assert serves(p, fits)
    assert not serves(p, lacks)

    async def steps(ctx, table):
        assert (await load(ctx, table, fits, 0)).malformed == 0
        assert (await load(ctx, table, lacks, 0)).malformed == 1

    on_table(p, steps)
