# SPDX-License-Identifier: Apache-2.0
"""Bytes from a serial line: 8 data bits, no parity, 1 stop bit."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from ropeway.golden.uart_parameters import UartParameters

from .streams import pulse_stream

__all__ = ["UartReceiver", "received_layout"]


def received_layout() -> data.StructLayout:
    """A byte as it came; ``broken`` where it, or one before it, is not to be believed."""
    return data.StructLayout({"byte": 8, "broken": 1})


class UartReceiver(wiring.Component):
    """Waits for the line to fall, and looks at it in the middle of each bit.

    A start bit that is over by its middle is none. A byte whose stop bit is low comes ``broken``,
    once however long the line stays low; the next one begins when it falls again.

    Latency: 9.5 bits and 3 or 4 clocks from the fall of the line at the pin. Bits may be up to 3 %
    longer or shorter than they should at 16 clocks each, 1 % at 4.

    Ports
    -----
    rx : In
        Of any clock domain.
    o : stream of bytes, always ready
    """

    rx: Signal
    o: stream.Interface

    def __init__(self, p: UartParameters):
        self._p = p
        super().__init__({"rx": In(1, init=1), "o": Out(pulse_stream(received_layout()))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        line, before = Signal(init=1), Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.rx, line, init=1)
        m.d.sync += before.eq(line)

        phase, active, middle = Signal(p.phase_bits), Signal(), Signal()
        # Of the half bit two clocks have passed: that of the fall, and a half each on average since
        # the line fell and until a bit's middle is met. Chosen before the sum, since a register
        # that takes either a sum or a constant breaks the sum's carry chain on iCE40.
        begin = (1 << p.phase_bits - 1) + p.step
        m.d.sync += Cat(phase, middle).eq(Mux(active, phase, begin) + p.step)

        # The start bit is at the bottom when the stop bit is looked at.
        bits = Signal(9, init=-1)
        with m.If(active & middle):
            with m.If(bits[0]):
                m.d.sync += bits.eq(Cat(bits[1:], line))
                with m.If(bits.all() & line):
                    m.d.sync += active.eq(0)
            with m.Else():
                m.d.sync += active.eq(0)
        with m.Elif(~active):
            m.d.sync += [active.eq(before & ~line), bits.eq(-1)]
        m.d.comb += [
            self.o.valid.eq(active & middle & ~bits[0]),
            self.o.payload.byte.eq(bits[1:]),
            self.o.payload.broken.eq(~line),
        ]
        return m
