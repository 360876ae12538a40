# SPDX-License-Identifier: Apache-2.0
"""The bursts that read a row of a table over AXI4."""

from enum import IntEnum

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from .adder_layouts import ROW_NUMBER_BITS
from .multipliers import Multiplier

__all__ = ["RowBursts", "burst_layout"]

PAGE = 4096  # bytes that no burst crosses
LONGEST = 256  # beats of a burst
STRIDE_BITS = 18  # the other factor of a multiplier


def burst_layout(address_bits: int) -> data.StructLayout:
    """A burst's first byte, and its beats less one."""
    return data.StructLayout({"address": address_bits, "length": 8})


class Step(IntEnum):
    """What a row's number goes through; the last three again for each further burst."""

    ACCEPT = 0
    MULTIPLY = 1
    ADDRESS = 2
    RESERVE = 3
    BURST = 4
    ANSWER = 5
    UNTIL = 6

    def alone(self) -> int:
        """One bit of a word, for this step."""
        return 1 << self


class RowBursts(wiring.Component):
    """Turns the numbers of rows into bursts, each as long as its row, its page and AXI allow.

    Bursts end where the row does or at a multiple of the longest one, hence at every page.

    Latency 5 clocks from a number to its first burst, where there is a place; 3 clocks between the
    bursts of a row, one more from its last to the next number. One multiplier.

    Parameters
    ----------
    address_bits, data_bits : of the bus
    max_words : of the bus, in a row

    Ports
    -----
    i : stream of row numbers
    o : stream of bursts
    base : In
        The table's first byte, a multiple of the bus's bytes.
    stride, words : In
        From row to row, and in a row; in words of the bus, steady.
    free : In
        There is a place for a row.
    reserves : Out
        For one clock: it is taken.
    """

    i: stream.Interface
    o: stream.Interface
    base: Signal
    stride: Signal
    words: Signal
    free: Signal
    reserves: Signal

    latency = 5

    def __init__(self, address_bits: int, data_bits: int, max_words: int):
        self._size = exact_log2(data_bits // 8)
        super().__init__(
            {
                "i": In(stream.Signature(ROW_NUMBER_BITS)),
                "o": Out(stream.Signature(burst_layout(address_bits))),
                "base": In(address_bits),
                "stride": In(STRIDE_BITS),
                "words": In(bits_for(max_words)),
                "free": In(1),
                "reserves": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        size, longest = self._size, min(LONGEST, PAGE >> self._size)
        m.submodules.first = first = Multiplier(ROW_NUMBER_BITS, STRIDE_BITS)
        step = Signal(len(Step), init=Step.ACCEPT.alone())
        left, address = Signal.like(self.words), Signal.like(self.base, reset_less=True)
        until = Signal(range(longest + 1), reset_less=True)
        burst, ends, further = Signal.like(until), Signal(reset_less=True), Signal()
        m.d.comb += [
            first.a.eq(self.i.payload),
            first.b.eq(self.stride),
            self.i.ready.eq(step[Step.ACCEPT]),
            self.reserves.eq(step[Step.RESERVE] & self.free),
            further.eq(until < left),
            self.o.payload.address.eq(address),
            self.o.payload.length.eq(burst - 1),
        ]
        m.d.sync += [
            until.eq(longest - address[size : size + exact_log2(longest)]),
            self.o.valid.eq(step[Step.BURST] | (self.o.valid & ~self.o.ready)),
        ]
        with m.If(step[Step.ACCEPT] & self.i.valid):
            m.d.sync += [step.eq(Step.MULTIPLY.alone()), left.eq(self.words)]
        with m.Elif(step[Step.MULTIPLY]):
            m.d.sync += step.eq(Step.ADDRESS.alone())
        with m.Elif(step[Step.ADDRESS]):
            row = first.p.as_unsigned() << size
            m.d.sync += [address.eq(self.base + row), step.eq(Step.RESERVE.alone())]
        with m.Elif(self.reserves | step[Step.UNTIL]):
            m.d.sync += step.eq(Step.BURST.alone())
        with m.Elif(step[Step.BURST]):
            m.d.sync += burst.eq(Mux(further, until, left))
            m.d.sync += [ends.eq(~further), step.eq(Step.ANSWER.alone())]
        with m.Elif(self.o.valid & self.o.ready):
            m.d.sync += [address.eq(address + (burst << size)), left.eq(left - burst)]
            m.d.sync += step.eq(Mux(ends, Step.ACCEPT.alone(), Step.UNTIL.alone()))
        return m
