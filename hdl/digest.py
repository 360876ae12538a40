# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of an image, computed four bits at a time after the image has streamed in."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.crc import catalog
from amaranth.lib.wiring import In, Out

from .banked_ram import BANK, BankedRam
from .primitives import Ram
from .streams import delayed

__all__ = ["Digest"]

CRC = catalog.CRC64_XZ
DIGIT = 4  # bits a clock
DIGITS = 32 // DIGIT


class Digest(wiring.Component):
    """A CRC-64/XZ over the words of an image; golden/fingerprint.py is the twin.

    A word a clock is taken, and digested in eight: a fingerprint is ``done`` eight clocks a word
    and a dozen more after ``last``. (32 bits a clock would cost ten times the logic.)

    Parameters
    ----------
    limit : words in the longest image
    skipped : the numbers of words left out

    Ports
    -----
    valid, word, index, last : In
        A word of the image, and its number.
    done : Out
        For one clock: ``fingerprint`` is that of the image.
    fingerprint : Out
    """

    valid: Signal
    word: Signal
    index: Signal
    last: Signal
    done: Signal
    fingerprint: Signal

    def __init__(self, limit: int, *, skipped: range = range(0)):
        self._limit, self._skipped = limit, skipped
        super().__init__(
            {
                "valid": In(1),
                "word": In(32),
                "index": In(range(limit + 1)),
                "last": In(1),
                "done": Out(1),
                "fingerprint": Out(CRC.crc_width),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        memory = Ram if self._limit <= BANK else BankedRam  # a clock more: it has eight
        m.submodules.image = image = memory(32, self._limit)
        m.submodules.crc = crc = CRC(data_width=DIGIT).create()
        m.d.comb += [
            image.write_enable.eq(self.valid),
            image.write_address.eq(self.index),
            image.write_data.eq(self.word),
            self.fingerprint.eq(crc.crc),
        ]

        # Word after word is read and shifted out, lowest bits first; what is shifted out was read
        # in the eight clocks before.
        reading, ending = Signal(), Signal()
        number, final = Signal(range(self._limit + 1)), Signal(range(self._limit + 1))
        phase, shifted = Signal(range(DIGITS)), Signal(32, reset_less=True)
        digested = Signal()
        m.d.comb += image.read_address.eq(number)
        m.d.sync += [crc.start.eq(0), crc.valid.eq(digested), crc.data.eq(shifted)]
        with m.If(self.valid & self.last):
            m.d.sync += [final.eq(self.index), number.eq(0), phase.eq(0), crc.start.eq(1)]
            m.d.sync += [reading.eq(1), ending.eq(0), digested.eq(0)]
        with m.Else():
            m.d.sync += [phase.eq(phase + 1), shifted.eq(shifted >> DIGIT)]
            with m.If(phase == DIGITS - 1):
                skipped = C(0)
                if self._skipped:
                    skipped = (number >= self._skipped.start) & (number < self._skipped.stop)
                m.d.sync += [
                    shifted.eq(image.read_data),
                    digested.eq(reading & ~skipped),
                    number.eq(number + 1),
                    reading.eq(reading & (number != final)),
                    ending.eq(reading & (number == final)),
                ]
        ended = ending & (phase == DIGITS - 1)
        m.d.sync += self.done.eq(delayed(m, ended, 1, reset_less=False, name="ended"))
        return m
