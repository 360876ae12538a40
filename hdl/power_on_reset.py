# SPDX-License-Identifier: Apache-2.0
"""The reset that a core is held in until its clock and its memories can be used."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

__all__ = ["HOLD_SECONDS", "PowerOnReset", "hold_clocks"]

HOLD_SECONDS = 100e-6
"""An iCE40's block RAM reads zero for some µs, its oscillator is steady after 100 µs."""


def hold_clocks(clock_hz: float) -> int:
    """Clocks that are at least ``HOLD_SECONDS``, a power of two."""
    return 1 << int(HOLD_SECONDS * clock_hz).bit_length()


class PowerOnReset(wiring.Component):
    """Holds ``reset`` for ``hold_clocks``, counted from when it is ``usable``.

    Its domain has no reset: the counter starts as the device is configured. Latency 3 clocks from
    ``usable`` falling to ``reset``.

    Ports
    -----
    usable : In, of any clock
        The clock is what it should be and nothing asks for a reset.
    reset : Out
        Registered.
    """

    usable: Signal
    reset: Signal

    def __init__(self, clock_hz: float):
        self._clocks = hold_clocks(clock_hz)
        super().__init__({"usable": In(1), "reset": Out(1, init=1)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        usable = Signal()
        m.submodules.synchroniser = FFSynchronizer(self.usable, usable)
        count = Signal(range(self._clocks + 1))
        with m.If(~usable):
            m.d.sync += count.eq(0)
        with m.Elif(~count[-1]):
            m.d.sync += count.eq(count + 1)
        m.d.sync += self.reset.eq(~(usable & count[-1]))
        return m
