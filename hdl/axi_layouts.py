# SPDX-License-Identifier: Apache-2.0
"""AXI4's read channels, signal by signal, as Arm IHI 0022 names them."""

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["OKAY_MASK", "axi_read_signature"]

OKAY_MASK = 0b10  # of a response: set by SLVERR and DECERR


def axi_read_signature(address_bits: int, data_bits: int) -> wiring.Signature:
    """The address and data channels of a read manager with one identifier."""
    return wiring.Signature(
        {
            "arid": Out(1),
            "araddr": Out(address_bits),
            "arlen": Out(8),
            "arsize": Out(3),
            "arburst": Out(2),
            "arlock": Out(1),
            "arcache": Out(4),
            "arprot": Out(3),
            "arqos": Out(4),
            "arvalid": Out(1),
            "arready": In(1),
            "rid": In(1),
            "rdata": In(data_bits),
            "rresp": In(2),
            "rlast": In(1),
            "rvalid": In(1),
            "rready": Out(1),
        }
    )
