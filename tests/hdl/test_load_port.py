# SPDX-License-Identifier: Apache-2.0
"""Words of images go to the unit of their target, in order and once."""

import numpy as np
import pytest
from amaranth.hdl import Value

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.load_port import LoadPort
from tests.hdl.benches import simulate

P = CoreParameters(
    rope=RopeParameters(slots=2), sinusoidal=AdderParameters(), alibi=AlibiParameters()
)
SINUSOIDAL, BYPASS, ALIBI = 2, 3, 4
SERIAL = 6  # clocks between writes, as a bus has them


class Host:
    """Writes as registers pass them on: refused by what stands two clocks before."""

    def __init__(self, ctx, port: LoadPort):
        self.ctx, self.port = ctx, port

    async def _strobe(self, name: str, refused, **values: int) -> bool:
        for key, value in values.items():
            self.ctx.set(getattr(self.port, key), value)
        await self.ctx.tick()
        _, _, no = await self.ctx.tick().sample(refused)
        await self.ctx.tick()
        if not no:
            self.ctx.set(getattr(self.port, name), 1)
            await self.ctx.tick()
            self.ctx.set(getattr(self.port, name), 0)
        await self.ctx.tick().repeat(SERIAL - 4)
        return not no

    async def begin(self, target: int, words: int) -> bool:
        return await self._strobe("begin", self.port.begin_refused, target=target, words=words)

    async def write(self, number: int, word: int) -> bool:
        values = {"number": number % 1024, "word": word}
        return await self._strobe("write", self.port.write_refused, **values)

    async def abort(self):
        self.ctx.set(self.port.abort, 1)
        await self.ctx.tick()
        self.ctx.set(self.port.abort, 0)
        await self.ctx.tick().repeat(SERIAL)


def run(host, stall: float = 0.0, blocked=lambda _unit, _clock: False) -> dict[str, list]:
    """What each unit got: (word, last), of the RoPE engine its slot too."""
    port, random = LoadPort(P), np.random.default_rng(3)
    got: dict[str, list] = {unit: [] for unit in P.units}
    streams = {unit: getattr(port, f"o_{unit}") for unit in P.units}

    async def testbench(ctx):
        await host(Host(ctx, port))
        await ctx.tick().repeat(40)

    async def take(ctx):
        sampled = [s for o in streams.values() for s in (o.valid, Value.cast(o.payload))]
        pending, clock = {}, 0
        while True:
            ready = {u: random.random() >= stall and not blocked(u, clock) for u in streams}
            for unit, o in streams.items():
                ctx.set(o.ready, ready[unit])
            _, _, *values = await ctx.tick().sample(*sampled)
            clock += 1
            for unit, valid, payload in zip(streams, values[::2], values[1::2], strict=True):
                assert pending.get(unit) in (None, (valid, payload)), "not held"
                pending[unit] = (valid, payload) if valid and not ready[unit] else None
                if valid and ready[unit]:
                    item = streams[unit].payload.shape().from_bits(payload)
                    word = (item.word, item.last)
                    got[unit].append((*word, item.slot) if unit == "rope" else word)

    simulate(port, testbench, background=[take])
    return got


async def load(host: Host, target: int, words: list[int]):
    assert await host.begin(target, len(words))
    for number, word in enumerate(words):
        while not await host.write(number, word):
            pass


def image(words: list[int], *slot: int) -> list[tuple[int, ...]]:
    return [(word, int(n == len(words) - 1), *slot) for n, word in enumerate(words)]


@pytest.mark.parametrize("stall", [0.0, 0.7], ids=["no stall", "stall"])
def test_images_of_all_targets_come_whole_and_marked(stall):
    random = np.random.default_rng(1)
    images = [
        (target, random.integers(0, 1 << 32, count).tolist())
        for target, count in ((1, 8), (SINUSOIDAL, 1), (ALIBI, 2), (0, 9), (SINUSOIDAL, 5))
    ]

    async def host(h):
        for target, words in images:
            await load(h, target, words)

    got = run(host, stall)
    of = {target: [i for t, i in images if t == target] for target, _ in images}
    assert got["rope"] == image(of[1][0], 1) + image(of[0][0], 0)
    assert got["sinusoidal"] == image(of[SINUSOIDAL][0]) + image(of[SINUSOIDAL][1])
    assert got["alibi"] == image(of[ALIBI][0])


def test_an_image_may_be_longer_than_the_window():
    words = list(range(1, 1031))

    async def host(h):
        await load(h, SINUSOIDAL, words)

    assert run(host)["sinusoidal"] == image(words)


def test_what_is_out_of_order_or_of_no_target_is_refused_and_does_nothing():
    async def host(h):
        assert not await h.write(0, 99)
        for target, words in ((BYPASS, 3), (ALIBI + 1, 3), (255, 3), (0, 0)):
            assert not await h.begin(target, words)
        assert await h.begin(ALIBI, 3)
        assert not await h.write(1, 99)
        assert await h.write(0, 10)
        assert not await h.write(0, 99)
        assert not await h.write(2, 99)
        assert not await h.begin(ALIBI, 3)
        assert await h.write(1, 11)
        assert await h.write(2, 12)
        assert not await h.write(3, 99)
        assert await h.begin(ALIBI, 1)
        assert await h.write(0, 20)

    got = run(host)
    assert got == {
        "rope": [],
        "sinusoidal": [],
        "alibi": [*image([10, 11, 12]), *image([20])],
    }


def test_a_pending_word_holds_up_the_next_one_and_its_image_s_successor_s():
    seen = []

    async def host(h):
        assert await h.begin(SINUSOIDAL, 2)
        assert await h.write(0, 10)
        seen.append(h.ctx.get(h.port.pending))
        assert not await h.write(1, 99)
        await h.ctx.tick().repeat(60)
        seen.append(h.ctx.get(h.port.pending))
        assert await h.write(1, 11)
        assert await h.begin(ALIBI, 1)  # while the sinusoidal unit takes nothing again
        assert not await h.write(0, 99)
        await h.ctx.tick().repeat(300)
        assert await h.write(0, 12)

    got = run(host, blocked=lambda _unit, clock: clock < 50 or 75 < clock < 300)
    assert seen == [1, 0]
    assert got == {"rope": [], "sinusoidal": image([10, 11]), "alibi": image([12])}


@pytest.mark.parametrize("written", range(5))
@pytest.mark.parametrize("stall", [0.0, 0.8], ids=["no stall", "stall"])
def test_an_image_given_up_ends_with_another_length_and_the_next_one_is_whole(written, stall):
    words = [1, 2, 3, 4, 5]

    async def host(h):
        assert await h.begin(SINUSOIDAL, len(words))
        for number in range(written):
            while not await h.write(number, words[number]):
                pass
        await h.abort()
        await h.ctx.tick().repeat(60)
        assert not h.ctx.get(h.port.unfinished)
        await load(h, SINUSOIDAL, words)

    got = run(host, stall)["sinusoidal"]
    ended = [n for n, (_, last) in enumerate(got) if last]
    assert got[-5:] == image(words)
    assert len(ended) == (1 if written == 0 else 2)
    assert len(got) - 5 == (0, 2, 3, 4, 6)[written]
    assert [word for word, _ in got[: len(got) - 5]][:written] == words[:written]


def test_giving_up_what_is_finished_does_nothing():
    async def host(h):
        await h.abort()
        await load(h, ALIBI, [1])
        await h.abort()
        await load(h, ALIBI, [2, 3])

    assert run(host)["alibi"] == [*image([1]), *image([2, 3])]


@pytest.mark.parametrize("until", range(14, 22))
def test_giving_up_twice_is_as_giving_up_once_whenever_the_pending_word_is_taken(until):
    async def host(h):
        assert await h.begin(SINUSOIDAL, 5)
        assert await h.write(0, 7)
        await h.abort()
        await h.abort()
        await h.ctx.tick().repeat(40)
        await load(h, SINUSOIDAL, [1, 2, 3])

    got = run(host, blocked=lambda _unit, clock: clock < until)["sinusoidal"]
    assert got == [(7, 0), (0, 1), *image([1, 2, 3])]
