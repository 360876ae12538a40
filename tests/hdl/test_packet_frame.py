# SPDX-License-Identifier: Apache-2.0
"""Packets are fitted to their partners, whatever ends first and whoever waits."""

import numpy as np
import pytest

from ropeway.hdl.packet_frame import PacketFrame
from tests.hdl.benches import simulate


def framed(packets: list[list[int]], lengths: list[int]) -> list[tuple[int | None, bool, bool]]:
    """What goes: a beat of the packet or None where it is filled up, and the verdict at its end."""
    out = []
    for packet, length in zip(packets, lengths, strict=True):
        beats: list[int | None] = [*packet[:length], *[None] * (length - len(packet))]
        spoilt = len(packet) != length
        out += [(beat, i == length - 1, spoilt) for i, beat in enumerate(beats)]
    return out


@pytest.mark.parametrize("waits", [0.0, 0.4])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_partner_gets_a_beat_and_every_packet_its_verdict(seed, waits):
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 6, 60).tolist()
    packets = [
        list(range(100 * n, 100 * n + (length if random.random() < 0.5 else random.integers(1, 8))))
        for n, length in enumerate(lengths)
    ]
    beats = [(beat, i == len(p) - 1) for p in packets for i, beat in enumerate(p)]
    finals = [i == length - 1 for length in lengths for i in range(length)]
    frame, gone, used = PacketFrame(), [], 0

    async def testbench(ctx):
        nonlocal used
        for _ in range(3000):
            offers, present, room = random.random(3) >= waits
            offers &= used < len(beats)
            present &= len(gone) < len(finals)
            beat, last = beats[min(used, len(beats) - 1)]
            for port, value in (
                (frame.valid, offers),
                (frame.last, last),
                (frame.present, present),
                (frame.final, finals[min(len(gone), len(finals) - 1)]),
                (frame.room, room),
            ):
                ctx.set(port, int(value))
            goes, ready, filling, spoilt = (
                ctx.get(port) for port in (frame.goes, frame.ready, frame.filling, frame.spoilt)
            )
            if goes:
                assert present
                assert room
                final = finals[len(gone)]
                gone.append((None if filling else beat, final, bool(spoilt)))
            if ready and offers:
                used += 1
            await ctx.tick()

    simulate(frame, testbench)
    expected = framed(packets, lengths)
    assert [beat for beat, _, _ in gone] == [beat for beat, _, _ in expected]
    ends = [(final, spoilt) for _, final, spoilt in gone if final]
    assert ends == [(final, spoilt) for _, final, spoilt in expected if final]
    assert used == len(beats)
