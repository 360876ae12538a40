# SPDX-License-Identifier: Apache-2.0
"""Bytes to a serial line: 8 data bits, no parity, 1 stop bit."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.uart_parameters import UartParameters

__all__ = ["UartTransmitter"]


class UartTransmitter(wiring.Component):
    """Sends each byte as it comes, and one after the other without a pause.

    Latency 1 clock to the start bit; a byte every 10 bits, and a clock.

    Ports
    -----
    i : stream of bytes
    tx : Out
        A register; high between bytes.
    """

    i: stream.Interface
    tx: Signal

    def __init__(self, p: UartParameters):
        self._p = p
        super().__init__({"i": In(stream.Signature(8)), "tx": Out(1, init=1)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        # The bit on the line, and those behind it; the last that is not 0 is the stop bit.
        bits = Signal(10, init=1)
        phase, ends, active = Signal(p.phase_bits), Signal(), Signal()
        m.d.comb += [self.tx.eq(bits[0]), self.i.ready.eq(~active)]
        # Chosen before the sum, as in the receiver.
        m.d.sync += Cat(phase, ends).eq(Mux(active, phase, 0) + p.step)
        with m.If(active & ends):
            with m.If(bits[1:].any()):
                m.d.sync += bits.eq(bits[1:])
            with m.Else():
                m.d.sync += active.eq(0)
        with m.Elif(self.i.valid & ~active):
            m.d.sync += [bits.eq(Cat(C(0, 1), self.i.payload, C(1, 1))), active.eq(1)]
        return m
