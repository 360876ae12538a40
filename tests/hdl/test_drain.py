# SPDX-License-Identifier: Apache-2.0
"""Results leave in natural order, each once its operations are done, whatever the sink does."""

from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing
from ropeway.hdl.drain import Drain
from ropeway.hdl.walker import buffer_depth
from tests.geometries import geometry
from tests.hdl.benches import fed_with_beats, load, send, simulate, token_word

P = RopeParameters(lanes=1, data_bits=8, max_head_dim=16, slots=4)
DEPTH = buffer_depth(P)


def needed(table) -> list[tuple[int, int]]:
    """For each beat of a token: the operations it needs, in all, and whether its bank flips."""
    beats, block, start = table.head_dim // 2, table.pairs, table.rotary_offset // 2
    out, base = [], 0
    for turns in table.pattern.rotates.tolist():
        for beat in range(beats):
            inside = turns and start <= beat < start + block
            flips, operations = 0, base + beat + 1
            if inside and table.pairing is Pairing.HALF_SPLIT:
                # Word w < n comes from operation w, word n + g from operation g.
                words = [2 * (beat - start), 2 * (beat - start) + 1]
                last = max(word % block for word in words)
                operations = base + start + last + 1
                flips = int(words[0] >= block and block % 2 == 0)
            out.append((operations, flips))
        base += beats
    return out


class Registers:
    """The buffer's two: which beats are in them, told a clock late, when the address has moved."""

    def __init__(self):
        self.asked, self.given = 0, None
        self._coming, self._address, self._enabled = None, 0, False

    def clock(self, address: int, enabled: bool) -> int | None:
        """The beat that was asked for in the clock before."""
        moved = address != self._address
        beat = self.asked if moved else None
        if self._enabled:
            self._coming = beat
        if moved:
            assert self._enabled
            assert address == (self.asked + 1) % DEPTH
            self.asked += 1
        if enabled:
            self.given = self._coming
        self._address, self._enabled = address, enabled
        return beat


@pytest.mark.parametrize("generator", ["pipelined", "shared"])  # with registers between, without
@pytest.mark.parametrize("pairing", Pairing)
@pytest.mark.parametrize("stall", [0.0, 0.6])
@pytest.mark.parametrize("seed", [1, 2])
def test_each_beat_waits_for_its_operations_and_leaves_whole_and_in_order(
    seed, stall, pairing, generator
):
    random = np.random.default_rng(seed)
    pattern = HeadPattern(2, 0, 1)
    tables = [
        geometry(16, pattern, pairing=pairing),
        geometry(12, pattern, rotary_dim=10, offset=2, pairing=pairing),
        geometry(8, pattern, rotary_dim=2, offset=4, pairing=pairing),
        geometry(6, pattern, rotary_dim=0, pairing=pairing),
    ]
    slots = random.integers(0, 4, 10).tolist()
    bad = [slot % 2 for slot in slots]
    expected: list[tuple[int, int]] = []  # operations in all, and the flip
    ends = []
    for slot in slots:
        base = len(expected)
        expected += [(base + operations, flip) for operations, flip in needed(tables[slot])]
        ends.append(len(expected) - 1)
    p = replace(P, generator=generator)
    drain = Drain(p)
    m, table, heads = fed_with_beats(p, drain, "exit", idles=seed == 2)
    pace = 1.0 if seed == 1 else 0.5
    words = random.integers(0, 1 << 16, len(expected)).tolist()
    results, finished = [], []

    async def feed(ctx):
        for slot, given in enumerate(tables):
            await load(ctx, table, given, slot)
        rotates = [int(not tables[slot].bypass) for slot in slots]
        await send(
            ctx, heads.i, [token_word(P, *both) for both in zip(slots, rotates, strict=True)]
        )

    async def watch(ctx):
        done = left = 0
        said = (0, 0)  # of the clock before: finished, operations done
        registers = Registers()
        while len(results) < len(expected):
            step = bool(done < len(expected) and random.random() < pace)
            step = step and done - left < DEPTH - P.max_head_beats
            ctx.set(drain.done, step)
            ctx.set(drain.o.ready, bool(random.random() >= stall))
            if (given := registers.given) is not None:
                flip = expected[given][1]
                bytes_ = words[given] & 255, words[given] >> 8
                for bank in range(2):
                    ctx.set(drain.words[bank], bytes_[bank ^ flip])
            (
                _,
                _,
                address,
                enable,
                frees,
                ended,
                slot,
                valid,
                ready,
                result,
            ) = await ctx.tick().sample(
                drain.address,
                drain.read_enable,
                drain.left,
                drain.finished,
                drain.finished_slot,
                drain.o.valid,
                drain.o.ready,
                drain.o.payload.as_value(),
            )
            beat = registers.clock(address, enable)
            ended_then, done_then = said
            if beat is not None:
                assert expected[beat][0] <= done_then, f"beat {beat} read too early"
                # With registers between, the slice that keeps ready apart has it a little earlier.
                assert p.relayed or ended_then == (beat in ends)
            if ended:
                last = ends[len(finished)]
                assert expected[last][0] <= done_then, f"finished before beat {last} is there"
                finished.append(slot)
            left += frees
            assert left <= registers.asked
            said = (ended, done)
            if valid and ready:
                results.append(result)
            done += step
        assert left == len(expected)

    simulate(m, feed, watch)
    assert finished == slots
    marks = {end: 1 | flag << 1 for end, flag in zip(ends, bad, strict=True)}
    assert results == [word | marks.get(n, 0) << 16 for n, word in enumerate(words)]
