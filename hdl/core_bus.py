# SPDX-License-Identifier: Apache-2.0
"""The buses that a core's registers can stand behind."""

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .axi_lite import AxiLite, axi_lite_signature
from .register_bus import answer_layout, request_layout
from .streams import connect, export, pulse_stream
from .wishbone import Wishbone, wishbone_signature

__all__ = ["BUS_CLOCKS", "bus_ports", "connect_bus"]

BUS_CLOCKS = {"axi4-lite": 2, "wishbone": 1, "registers": 0}
"""Clocks that a bus adds to an access."""


def bus_ports(bus: str, address_bits: int) -> dict[str, wiring.Member]:
    """A bus's ports, by name: ``s_axi``, ``s_wb``, or the registers' ``request`` and ``answer``."""
    match bus:
        case "axi4-lite":
            return {"s_axi": In(axi_lite_signature(address_bits))}
        case "wishbone":
            return {"s_wb": In(wishbone_signature(address_bits))}
    return {
        "request": In(pulse_stream(request_layout(address_bits))),
        "answer": Out(pulse_stream(answer_layout())),
    }


def connect_bus(m, bus: str, whole, registers):
    """Put ``registers``, a RegisterFile, behind the bus whose ports the ``whole`` has."""
    match bus:
        case "axi4-lite":
            m.submodules.bus = front = AxiLite(registers.registers.address_bits)
            wiring.connect(m, wiring.flipped(whole.s_axi), front.s_axi)
        case "wishbone":
            m.submodules.bus = front = Wishbone(registers.registers.address_bits)
            wiring.connect(m, wiring.flipped(whole.s_wb), front.bus)
        case _:
            export(m, whole, registers, "request")
            export(m, whole, registers, "answer")
            return
    connect(m, front.request, registers.request)
    connect(m, registers.answer, front.answer)
