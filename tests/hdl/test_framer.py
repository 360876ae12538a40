# SPDX-License-Identifier: Apache-2.0
"""A token's beats are written in their order and number, whatever packet came in."""

from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing
from ropeway.hdl.framer import Framer
from ropeway.hdl.walker import buffer_depth
from tests.geometries import geometry
from tests.hdl.benches import fed_with_heads, load, send, simulate, token_word

P = RopeParameters(lanes=1, data_bits=8, max_head_dim=16, slots=2)
DEPTH = buffer_depth(P)
BEATS = 5  # a head; its rotary block is beats 1 to 4
TABLE = geometry(2 * BEATS, HeadPattern(2, 0, 1), rotary_dim=8, offset=2)
TOKEN = 3 * BEATS


def written(length: int, words: list[int]) -> list[int]:
    """What is written of a packet: padded with zeros, or cut."""
    return (words + [0] * TOKEN)[:TOKEN] if length < TOKEN else words[:TOKEN]


@pytest.mark.parametrize("generator", ["pipelined", "shared"])  # with registers between, without
@pytest.mark.parametrize("consume", [1.0, 0.3])
@pytest.mark.parametrize("idle", [0.0, 0.4])
@pytest.mark.parametrize("seed", [1, 2])
def test_any_packet_becomes_its_tokens_beats_in_order_and_is_judged(seed, idle, consume, generator):
    random = np.random.default_rng(seed)
    lengths = [TOKEN, 1, TOKEN - 1, TOKEN + 1, TOKEN, *random.integers(1, 40, 12).tolist(), TOKEN]
    packets = [random.integers(1, 1 << 16, length).tolist() for length in lengths]
    p = replace(P, generator=generator)
    framer = Framer(p)
    m, table, heads = fed_with_heads(p, framer, framer.walker)
    beats: list[tuple[int, int, int]] = []
    verdicts: list[int] = []

    async def feed(ctx):
        await load(ctx, table, TABLE, 0)
        await send(ctx, heads.i, [token_word(P, 0)] * len(lengths))

    async def packets_in(ctx):
        for packet in packets:
            for number, word in enumerate(packet):
                while random.random() < idle:
                    await ctx.tick()
                last = number == len(packet) - 1
                await send(ctx, framer.i, [word | int(last) << 16])

    async def watch(ctx):
        held = 0
        while len(verdicts) < len(lengths):
            take = bool(held and random.random() < consume)
            ctx.set(framer.consumed, take)
            _, _, write, first, second, address, exchanged, judged, bad = await ctx.tick().sample(
                framer.write,
                *framer.words,
                framer.address,
                framer.exchanged,
                framer.judged,
                framer.bad,
            )
            held += write - take
            assert held <= DEPTH - P.max_head_beats, "the buffer is overrun"
            if write:
                beats.append((first | second << 8, address, exchanged))
            if judged:
                verdicts.append(bad)

    simulate(m, feed, packets_in, watch)
    words = [w for n, packet in zip(lengths, packets, strict=True) for w in written(n, packet)]
    assert [word for word, _, _ in beats] == words
    assert [address for _, address, _ in beats] == [n % DEPTH for n in range(len(words))]
    assert verdicts == [int(length != TOKEN) for length in lengths]


@pytest.mark.parametrize("pairing", Pairing)
@pytest.mark.parametrize("block", range(1, 6))
def test_the_bank_flips_in_the_second_half_of_an_even_half_split_block(block, pairing):
    table = geometry(16, HeadPattern(1, 0, 1), rotary_dim=2 * block, offset=4, pairing=pairing)
    framer = Framer(P)
    m, hardware, heads = fed_with_heads(P, framer, framer.walker)
    flips: list[int] = []

    async def testbench(ctx):
        await load(ctx, hardware, table, 0)
        await send(ctx, heads.i, [token_word(P, 0)])
        ctx.set(framer.i.valid, 1)
        while len(flips) < 16:
            _, _, write, exchanged = await ctx.tick().sample(framer.write, framer.exchanged)
            if write:
                flips.append(exchanged)

    simulate(m, testbench)
    flipping = pairing is Pairing.HALF_SPLIT and block % 2 == 0
    second_half = range(2 + block // 2, 2 + block) if flipping else ()
    assert flips == [int(beat in second_half) for beat in range(16)]
