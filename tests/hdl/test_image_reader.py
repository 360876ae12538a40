# SPDX-License-Identifier: Apache-2.0
"""One geometry at a time: a load waits for what was accepted, and what follows waits for it."""

import numpy as np
import pytest
from amaranth.sim import Simulator

from ropeway.golden.fingerprint import fingerprint
from ropeway.golden.table import identification
from ropeway.hdl.image_reader import ImageReader

SCHEME, LIMIT = 2, 20


def image(length: int, seed: int = 0, scheme: int = SCHEME) -> list[int]:
    words = np.random.default_rng(seed).integers(0, 1 << 32, length).tolist()
    return [identification(scheme), *words[1:]]


class Unit:
    """A reader whose user accepts a piece of work in every clock that it may."""

    def __init__(self, expected: int, *, idle: float = 0.0, work: int = 0, served: bool = True):
        self.reader = ImageReader(SCHEME, LIMIT)
        self._expected, self._idle, self._work, self._served = expected, idle, work, served
        self.words: list[tuple[int, int]] = []
        self.accepted: list[int] = []
        self.verdicts: list[tuple[int, int]] = []
        self.fingerprints: list[int] = []
        self.first_words: list[int] = []
        self.clock = 0

    async def _clock(self, ctx) -> int:
        reader = self.reader
        if not ctx.get(reader.closed):
            self.accepted.append(self.clock)
        unfinished = any(self.clock - at < self._work for at in self.accepted[-1:])
        ctx.set(reader.idle, not unfinished)
        _, _, ready, valid, index, word = await ctx.tick().sample(
            reader.i_load.ready, reader.valid, reader.index, reader.word
        )
        if valid:
            self.words.append((index, word))
        self.clock += 1
        return ready

    async def _load(self, ctx, words, random):
        reader, malformed = self.reader, 0
        for number, word in enumerate(words):
            while random.random() < self._idle:
                ctx.set(reader.i_load.valid, 0)
                await self._clock(ctx)
            ctx.set(reader.i_load.valid, 1)
            ctx.set(reader.i_load.payload.word, word)
            ctx.set(reader.i_load.payload.last, number == len(words) - 1)
            while not await self._clock(ctx):
                assert self.clock < 5000
            if number == 0:
                self.first_words.append(self.clock - 1)
        ctx.set(reader.i_load.valid, 0)
        for _ in range(8 * len(words) + 24):
            malformed += ctx.get(reader.malformed)
            await self._clock(ctx)
        self.verdicts.append((ctx.get(reader.loaded), malformed))
        self.fingerprints.append(ctx.get(reader.fingerprint))

    def run(self, *images, seed=0):
        random = np.random.default_rng(seed)

        async def bench(ctx):
            ctx.set(self.reader.expected, self._expected)
            ctx.set(self.reader.served, self._served)
            for words in images:
                await self._load(ctx, words, random)

        simulator = Simulator(self.reader)
        simulator.add_clock(1e-6)
        simulator.add_testbench(bench)
        simulator.run()
        return self


@pytest.mark.parametrize("idle", [0.0, 0.5])
def test_words_come_in_order_and_are_digested(idle):
    words = image(12)
    unit = Unit(12, idle=idle).run(words, words)
    assert unit.words == 2 * list(enumerate(words))
    assert unit.verdicts == [(1, 0), (1, 0)]
    assert [f"{found:016x}" for found in unit.fingerprints] == 2 * [fingerprint(np.array(words))]


@pytest.mark.parametrize(
    "words",
    [image(12, scheme=3), image(11), image(13), image(1), image(LIMIT + 1), image(2 * LIMIT + 13)],
    ids=["scheme", "short", "long", "one word", "beyond the limit", "far beyond"],
)
def test_an_image_that_is_wrong_leaves_nothing_loaded_and_the_next_one_is_right(words):
    unit = Unit(12).run(words, image(12))
    assert unit.verdicts == [(0, 1), (1, 0)]
    assert all(index < LIMIT for index, _ in unit.words)
    assert unit.fingerprints[0] == 0
    assert f"{unit.fingerprints[1]:016x}" == fingerprint(np.array(image(12)))


def test_what_is_not_served_is_malformed():
    assert Unit(12, served=False).run(image(12)).verdicts == [(0, 1)]


def test_a_load_waits_for_accepted_work_and_nothing_is_accepted_until_its_verdict():
    unit = Unit(12, work=30).run(image(12), image(12, seed=1))
    before = [at for at in unit.accepted if at < unit.first_words[1]]
    assert unit.first_words[1] - before[-1] >= 30
    during = [at for at in unit.accepted if 0 <= at - unit.first_words[1] < 12 + 8]
    assert before
    assert not during
    assert unit.accepted[0] > unit.first_words[0] + 12
