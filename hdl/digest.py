# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of an image, computed four bits at a time after the image has streamed in."""

from functools import reduce
from operator import xor

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.fingerprint import remainder

from .banked_ram import BANK, BankedRam
from .primitives import Ram
from .streams import delayed

__all__ = ["Digest"]

SUM_BITS = 64
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
    registered : with a register behind the memory, for a fast clock

    Ports
    -----
    valid, word, last : In
        A word of the image.
    number, final : Out
        The number of the word that comes next, and of the last image's last one; modulo the power
        of two that holds ``limit``.
    done : Out
        For one clock: ``fingerprint`` is that of the image.
    fingerprint : Out
    """

    valid: Signal
    word: Signal
    last: Signal
    number: Signal
    final: Signal
    done: Signal
    fingerprint: Signal

    def __init__(self, limit: int, *, skipped: range = range(0), registered: bool = True):
        self._limit, self._skipped, self._registered = limit, skipped, registered
        super().__init__(
            {
                "valid": In(1),
                "word": In(32),
                "last": In(1),
                "number": Out(range(limit + 1)),
                "final": Out(range(limit + 1)),
                "done": Out(1),
                "fingerprint": Out(SUM_BITS),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        memory = Ram if self._limit <= BANK else BankedRam  # a clock more: it has eight
        m.submodules.image = image = memory(32, self._limit)

        def waited(value, clocks):
            return delayed(m, value, clocks, reset_less=False, name="waited")

        m.d.comb += [
            image.write_enable.eq(self.valid),
            image.write_address.eq(self.number),
            image.write_data.eq(self.word),
            image.read_address.eq(self.number),
        ]

        # Words are read one after the other, each for eight clocks, lowest digit first.
        # So what a number is may be known two clocks late.
        number, reading, phase = self.number, Signal(), Signal(range(DIGITS))
        turns, skipped, same, final = Signal(), Signal(), Signal(2), Signal()
        half = len(number) // 2
        if self._skipped:
            m.d.sync += skipped.eq((number >= self._skipped.start) & (number < self._skipped.stop))
        ends = reading & turns & final
        latency = image.latency + self._registered
        digit, word = Signal.like(phase), delayed(m, image.read_data, int(self._registered))
        m.d.sync += [
            turns.eq((phase == DIGITS - 2) & ~self.valid),
            same.eq(Cat(number[:half] == self.final[:half], number[half:] == self.final[half:])),
            final.eq(same.all()),
            digit.eq(phase - (latency - 1)),
            self.done.eq(waited(ends, latency + 2)),
            phase.eq(phase + 1),
        ]
        self._sum(
            m,
            delayed(m, self.valid & self.last, 1, reset_less=False, name="begins"),
            waited(waited(reading, 1) & ~skipped, latency + 1),
            delayed(m, word.word_select(digit, DIGIT), 1, name="data"),
        )
        with m.If(self.valid):
            m.d.sync += [number.eq(number + 1), phase.eq(0)]
            with m.If(self.last):
                m.d.sync += [self.final.eq(number), number.eq(0), reading.eq(1)]
        with m.Elif(reading & turns):
            m.d.sync += number.eq(number + 1)
            with m.If(ends):
                m.d.sync += [number.eq(0), reading.eq(0)]
        return m

    def _sum(self, m, begins: Value, valid: Value, digit: Value):
        """The CRC of the digits that were there a clock before they are ``valid``."""
        # What a digit makes of the sum's lowest bits is known a clock ahead: a bit is five XORed.
        total, after, mixed = Signal(SUM_BITS, init=-1), Signal(SUM_BITS), Signal(DIGIT)
        taken = [
            mixed[bit].replicate(SUM_BITS) & remainder(1 << bit, DIGIT) for bit in range(DIGIT)
        ]
        m.d.comb += [after.eq(total), self.fingerprint.eq(~total)]
        with m.If(begins):
            m.d.comb += after.eq(~C(0, SUM_BITS))
        with m.Elif(valid):
            m.d.comb += after.eq(reduce(xor, taken, total[DIGIT:]))
        m.d.sync += [total.eq(after), mixed.eq(after[:DIGIT] ^ digit)]
