# SPDX-License-Identifier: Apache-2.0
"""A serial port in front of registers: what comes is buffered, and what it asks for is done."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.uart_parameters import UartParameters

from .block_fifo import BlockFifo
from .register_bus import answer_layout, request_layout
from .streams import connect, export, pulse_stream
from .uart_receiver import UartReceiver, received_layout
from .uart_transmitter import UartTransmitter
from .uartbone import Uartbone

__all__ = ["SerialBridge"]

PLACES = 256  # for bytes that wait while an answer is given, in one block RAM


class SerialBridge(wiring.Component):
    """UartReceiver, a FIFO, Uartbone and UartTransmitter.

    Bytes wait while a request is done; one that finds the FIFO's last place is broken, since those
    behind it may be lost, and so ends what it is part of.

    Parameters
    ----------
    p : of the port
    address_bits, timeout : as Uartbone has them

    Ports
    -----
    rx : In, of any clock domain
    tx : Out
    request, answer : streams, always ready
        As RegisterFile has them.
    hold, clear : In, request_crc, answer_crc, given_up, refused : Out
        As Uartbone has them.
    framing, dropped : Out
        For one clock: a byte had no stop bit; one found no place.
    """

    rx: Signal
    tx: Signal
    request: stream.Interface
    answer: stream.Interface
    hold: Signal
    clear: Signal
    request_crc: Signal
    answer_crc: Signal
    given_up: Signal
    refused: Signal
    framing: Signal
    dropped: Signal

    def __init__(self, p: UartParameters, address_bits: int, timeout: int):
        self._p, self._address_bits, self._timeout = p, address_bits, timeout
        super().__init__(
            {
                "rx": In(1, init=1),
                "tx": Out(1, init=1),
                "request": Out(pulse_stream(request_layout(address_bits))),
                "answer": In(pulse_stream(answer_layout())),
                "hold": In(1),
                "clear": In(1),
                "request_crc": Out(32),
                "answer_crc": Out(32),
                "given_up": Out(1),
                "refused": Out(1),
                "framing": Out(1),
                "dropped": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.receiver = receiver = UartReceiver(self._p)
        m.submodules.transmitter = transmitter = UartTransmitter(self._p)
        m.submodules.received = received = BlockFifo(received_layout(), PLACES)
        m.submodules.bone = bone = Uartbone(self._address_bits, self._timeout)
        connect(m, received.o, bone.i)
        connect(m, bone.o, transmitter.i)
        for name in ("request", "answer", "hold", "clear", "request_crc", "answer_crc"):
            export(m, self, bone, name)
        for name in ("given_up", "refused"):
            export(m, self, bone, name)
        export(m, self, receiver, "rx")
        export(m, self, transmitter, "tx")

        filled, given = Signal(), receiver.o
        m.d.sync += filled.eq(received.level >= PLACES - 1)
        m.d.comb += [
            received.i.valid.eq(given.valid),
            received.i.payload.byte.eq(given.payload.byte),
            received.i.payload.broken.eq(given.payload.broken | filled),
            self.framing.eq(given.valid & given.payload.broken),
            self.dropped.eq(given.valid & filled),
        ]
        return m
