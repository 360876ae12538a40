# SPDX-License-Identifier: Apache-2.0
"""Counts what has come against what operations need, and says a clock ahead whether one may go."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .fixed import add_with_carry

__all__ = ["Ledger"]


class Ledger(wiring.Component):
    """The balance of items come, less those that every operation so far needs, the present one included.

    Latency none: the answers are about the next clock, and this clock's ``gain`` counts.

    Parameters
    ----------
    limit : items that can be in hand

    Ports
    -----
    gain : In
        One more has come.
    loads, take : In
        The present operation is another from the next clock on, which needs −``take`` items.
    enough, enough_after : Out
        The balance of the next clock is not negative if nothing loads, and if something does.
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
        balance, stays, goes = (
            Signal(signed(self._width), name=name) for name in ("balance", "stays", "goes")
        )
        m.d.comb += [
            stays.eq(balance + self.gain),
            goes.eq(add_with_carry(balance, self.take, self.gain, self._width)),
            self.enough.eq(~stays[-1]),
            self.enough_after.eq(~goes[-1]),
        ]
        m.d.sync += balance.eq(Mux(self.loads, goes, stays))
        return m
