# SPDX-License-Identifier: Apache-2.0
"""A serial port in front of three registers: what a netlist of a bridge is tried with."""

from struct import unpack
from zlib import crc32

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.uart_parameters import UartParameters
from ropeway.hdl.register_fields import value_field
from ropeway.hdl.register_file import RegisterFile
from ropeway.hdl.registers import Access, Register, RegisterMap
from ropeway.hdl.serial_bridge import SerialBridge
from ropeway.hdl.streams import connect
from ropeway.sim.native import NativeModel
from ropeway.sim.native_serial import SerialLine
from tests.hdl.uartbone_model import read_request, write_request

IDENT = 0x1234_5678
UART = UartParameters(clock_hz=9, baud=2)
REGISTERS = RegisterMap(
    "BRIDGE",
    "Behind a bridge.",
    (
        Register("IDENT", 0, value_field(Access.CONST, 32, "A number.", IDENT), "A constant."),
        Register("KEPT", 4, value_field(Access.RW, 32, "A number."), "What is kept."),
        Register("REQUEST_CRC", 8, value_field(Access.RO, 32, "A number."), "A CRC."),
    ),
    6,
)


class Bridge(wiring.Component):
    """A bridge and its registers, with a serial port alone."""

    def __init__(self):
        super().__init__({"rx": In(1, init=1), "tx": Out(1, init=1)})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.bridge = bridge = SerialBridge(UART, REGISTERS.address_bits, 1000)
        m.submodules.registers = registers = RegisterFile(REGISTERS, small=True)
        connect(m, bridge.request, registers.request)
        connect(m, registers.answer, bridge.answer)
        m.d.comb += [
            bridge.rx.eq(self.rx),
            self.tx.eq(bridge.tx),
            registers.request_crc.eq(bridge.request_crc),
        ]
        return m


def differs(bridge: Bridge, verilog: str | None = None) -> str | None:
    """What a bridge, or Verilog in its place, does wrong; None where it does nothing wrong."""
    model = NativeModel(bridge, streams=(), verilog=verilog)
    line = SerialLine(model, UART.clock_hz / UART.baud)
    script = write_request(4, [0xDEAD_BEEF]) + read_request(0, 3) + read_request(4, 1)
    answer = line.run(script, clocks=50_000, quiet=500).data
    if len(answer) != 16:
        return f"{len(answer)} bytes are answered"
    wanted = (IDENT, 0xDEAD_BEEF, crc32(script[:-6]), 0xDEAD_BEEF)
    found = unpack(">4I", answer)
    return None if found == wanted else f"{found}"
