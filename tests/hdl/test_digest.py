# SPDX-License-Identifier: Apache-2.0
"""The hardware's fingerprint is the command's, and no flipped bit escapes it."""

import numpy as np
import pytest
from amaranth.sim import Simulator

from ropeway.golden import RopeGeometry, geometry_of, model_of, preset_names
from ropeway.golden.fingerprint import fingerprint
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import DIGESTED_HEADER_WORDS, HEADER_WORDS
from ropeway.hdl.digest import Digest
from ropeway.hdl.engine import RopeEngine

WORDS = np.random.default_rng(1).integers(0, 1 << 32, 40, dtype=np.uint32)
DIGESTED = np.delete(WORDS, slice(DIGESTED_HEADER_WORDS, HEADER_WORDS))


def digested(*images, idle_seed=None, limit=64):
    """The component's fingerprints of images, with random idle clocks between words."""
    digest, found = Digest(limit, skipped=range(DIGESTED_HEADER_WORDS, HEADER_WORDS)), []
    random = np.random.default_rng(idle_seed)

    async def bench(ctx):
        for words in images:
            for number, word in enumerate(words):
                ctx.set(digest.valid, 1)
                ctx.set(digest.word, int(word))
                ctx.set(digest.last, number == len(words) - 1)
                await ctx.tick()
                ctx.set(digest.valid, 0)
                if idle_seed is not None:
                    await ctx.tick().repeat(int(random.integers(1, 4)))
            clocks = 1
            while not ctx.get(digest.done):
                await ctx.tick()
                clocks += 1
            assert clocks <= 8 * len(words) + 12
            found.append(f"{ctx.get(digest.fingerprint):016x}")

    simulator = Simulator(digest)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_the_digest_is_golden_s_with_and_without_idle_clocks(seed):
    assert digested(WORDS, idle_seed=seed) == [fingerprint(DIGESTED)]


def test_a_second_image_starts_afresh():
    assert digested(WORDS[:12], WORDS) == [fingerprint(DIGESTED[:9]), fingerprint(DIGESTED)]


def test_an_image_of_more_words_than_a_block_holds_is_digested_whole():
    words = np.random.default_rng(2).integers(0, 1 << 32, 1100, dtype=np.uint32)
    kept = np.delete(words, slice(DIGESTED_HEADER_WORDS, HEADER_WORDS))
    assert digested(words, limit=1200) == [fingerprint(kept)]


class Loader:
    """An engine whose slots are loaded with raw words, and which says what it made of them."""

    def __init__(self, parameters: RopeParameters):
        self.engine = RopeEngine(parameters)
        self._simulator = Simulator(self.engine)
        self._simulator.add_clock(1e-6)
        self._simulator.add_testbench(self._bench)
        self._images: list = []
        self._ran = False

    def load(self, *images):
        """(loaded, fingerprint) of each image, one after the other in slot 1."""
        self._images, self._found = images, []
        if self._ran:
            self._simulator.reset()
        self._ran = True
        self._simulator.run()
        return self._found

    async def _bench(self, ctx):
        port = self.engine.i_load
        ctx.set(self.engine.fingerprint_slot, 1)
        for words in self._images:
            for number, word in enumerate(words):
                ctx.set(port.payload.word, int(word))
                ctx.set(port.payload.slot, 1)
                ctx.set(port.payload.last, number == len(words) - 1)
                ctx.set(port.valid, 1)
                await ctx.tick().until(port.ready)
            ctx.set(port.valid, 0)
            await ctx.tick().repeat(8 * len(words) + 16)
            loaded = ctx.get(self.engine.loaded) >> 1 & 1
            self._found.append((loaded, f"{ctx.get(self.engine.fingerprint):016x}"))


@pytest.fixture(scope="module")
def loader():
    return Loader(RopeParameters(lanes=1, data_bits=8, max_head_dim=256, axes=4))


def test_the_engine_s_fingerprint_is_the_command_s_for_every_preset(loader):
    tables = [
        geometry.table()
        for name in preset_names()[::4]
        for geometry in model_of(name, context=8192).geometries.values()
        if isinstance(geometry, RopeGeometry) and geometry.head_dim <= 256
    ]
    assert len(tables) > 5
    found = loader.load(*(table.image() for table in tables))
    assert found == [(1, table.fingerprint) for table in tables]


def test_a_flipped_bit_in_any_word_of_a_load_is_caught(loader):
    """By the fingerprint, or, in what it leaves out, by the slot's staying unloaded."""
    table = geometry_of("phi-2").table()
    image = table.image()
    random = np.random.default_rng(0)
    flipped = []
    for word in range(len(image)):
        image[word] ^= np.uint32(1 << random.integers(0, 32))
        flipped.append(image.copy())
        image = table.image()
    for word, (loaded, seen) in enumerate(loader.load(*flipped)):
        assert not loaded or seen != table.fingerprint, word
