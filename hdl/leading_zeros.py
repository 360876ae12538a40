# SPDX-License-Identifier: Apache-2.0
"""How many zeros a value begins with."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

__all__ = ["LeadingZeros"]

GROUP = 4


class LeadingZeros(wiring.Component):
    """Counts the zeros above a value's highest one.

    Latency 3 clocks, a value every clock: groups of four, the first group that has a one, its place
    there.

    Parameters
    ----------
    bits : of the value, a multiple of 4 from 8

    Ports
    -----
    value : In
    zeros : Out
        ``bits`` − 1 where all are.
    none : Out
        All are; a clock earlier.
    """

    value: Signal
    zeros: Signal
    none: Signal

    latency = 3
    interval = 1

    def __init__(self, bits: int):
        self._groups = bits // GROUP
        super().__init__({"value": In(bits), "zeros": Out(bits_for(bits - 1)), "none": Out(1)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        found = Signal(self._groups, reset_less=True)
        places = []
        for number in range(self._groups):  # from the top
            start = GROUP * (self._groups - 1 - number)
            group = self.value[start : start + GROUP]
            place = Signal(2, reset_less=True, name=f"place_{number}")
            m.d.sync += [
                found[number].eq(group.any()),
                place.eq(Mux(group[3], 0, Mux(group[2], 1, Mux(group[1], 2, 3)))),
            ]
            places.append(place)

        first, none = Signal(range(self._groups), reset_less=True), Signal(reset_less=True)
        with m.If(found[0]):
            m.d.sync += first.eq(0)
        for number in range(1, self._groups - 1):
            with m.Elif(found[number]):
                m.d.sync += first.eq(number)
        with m.Else():
            m.d.sync += first.eq(self._groups - 1)
        m.d.sync += none.eq(~found.any())

        waiting = Signal(2 * self._groups, reset_less=True)
        zeros = Signal.like(self.zeros, reset_less=True)
        m.d.sync += [waiting.eq(Cat(places)), zeros.eq(Cat(waiting.word_select(first, 2), first))]
        m.d.comb += [self.zeros.eq(zeros), self.none.eq(none)]
        return m
