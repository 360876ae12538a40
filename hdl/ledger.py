# SPDX-License-Identifier: Apache-2.0
"""Counts what has come against what operations need, and says a clock ahead whether one may go."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .fixed import add_with_carry, counted

__all__ = ["Ledger", "UnitLedger"]


class Ledger(wiring.Component):
    """The balance of items come, less those needed so far, the present operation's included.

    Latency 1 clock from a ``gain`` to an answer that counts it.

    Parameters
    ----------
    limit : items that can be in hand

    Ports
    -----
    gain : In
        One more has come from the next clock on.
    loads, take : In
        The present operation is another from the next clock on, which needs −``take`` items.
    enough, enough_after : Out
        The balance is not negative as it stands, and less what loads.
    """

    def __init__(self, limit: int):
        self._width = bits_for(limit) + 1
        super().__init__(
            {
                "gain": In(1),
                "loads": In(1),
                "take": In(signed(self._width)),
                "enough": Out(1),
                "enough_after": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        balance = Signal(signed(self._width))
        less = (balance + self.take)[: self._width]
        m.d.comb += [self.enough.eq(~balance[-1]), self.enough_after.eq(~less[-1])]
        m.d.sync += balance.eq(
            Mux(
                self.loads,
                add_with_carry(balance, self.take, self.gain, self._width),
                balance + self.gain,
            )
        )
        return m


class UnitLedger(wiring.Component):
    """A Ledger whose operations need one item, or none; it never owes more than one.

    Something loads, and ``enough_after`` answers, only while nothing is owed. Latency none: the
    answers are about the next clock, and this clock's ``gain`` counts. Ports as the Ledger's,
    without ``take``.
    """

    def __init__(self, limit: int):
        self._width = bits_for(limit) + 1
        super().__init__({"gain": In(1), "loads": In(1), "enough": Out(1), "enough_after": Out(1)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        # Two counters, one less than the other: either's sign answers without a sum.
        balance = Signal(signed(self._width))
        lower = Signal(signed(self._width), init=-1)
        for counter in (balance, lower):
            m.d.sync += counter.eq(counted(counter, self.gain, self.loads))
        m.d.comb += [
            self.enough.eq(self.gain | ~balance[-1]),
            self.enough_after.eq(self.gain | ~lower[-1]),
        ]
        return m
