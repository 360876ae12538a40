# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of an image, computed as the image streams in."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.crc import catalog
from amaranth.lib.wiring import In, Out

__all__ = ["Digest"]

CRC = catalog.CRC64_XZ


class Digest(wiring.Component):
    """A CRC-64/XZ over 32-bit words, lowest byte first; golden/fingerprint.py is the twin.

    Latency 2 clocks from a word to ``fingerprint``; a word a clock.

    Ports
    -----
    start : In
        With an image's first word.
    valid, word : In
        A word to digest.
    fingerprint : Out
        Of all words since the start.
    """

    start: Signal
    valid: Signal
    word: Signal
    fingerprint: Signal

    latency = 2
    interval = 1

    def __init__(self):
        super().__init__(
            {"start": In(1), "valid": In(1), "word": In(32), "fingerprint": Out(CRC.crc_width)}
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.processor = processor = CRC(data_width=32).create()
        # `start` forgets what came with it, so it goes a clock before its word.
        m.d.comb += processor.start.eq(self.start)
        m.d.sync += [processor.valid.eq(self.valid), processor.data.eq(self.word)]
        m.d.comb += self.fingerprint.eq(processor.crc)
        return m
