# SPDX-License-Identifier: Apache-2.0
"""The Sipeed Tang Nano 20K, which amaranth-boards does not have."""

from amaranth.build import Attrs, Clock, Pins, Resource
from amaranth_boards.resources import LEDResources, UARTResource

from .gowin import HimbaechelPlatform

__all__ = ["TangNano20k"]


class TangNano20k(HimbaechelPlatform):
    """The board's clock, LEDs and serial port."""

    part = "GW2AR-LV18QN88C8/I7"
    family = "GW2AR-18C"
    database = "GW2A-18C"
    default_clk = "clk27"
    resources = [  # noqa: RUF012  what Amaranth's platforms are made of
        Resource("clk27", 0, Pins("4", dir="i"), Clock(27e6), Attrs(IO_TYPE="LVCMOS33")),
        *LEDResources(pins="15 16 17 18 19 20", invert=True, attrs=Attrs(IO_TYPE="LVCMOS33")),
        UARTResource(0, rx="70", tx="69", attrs=Attrs(PULL_MODE="UP", IO_TYPE="LVCMOS33")),
    ]
    connectors = []  # noqa: RUF012

    def toolchain_prepare(self, fragment, name, **kwargs):  # noqa: D102
        options = {"gowin_pack_opts": "--sspi_as_gpio --mspi_as_gpio"}
        return super().toolchain_prepare(fragment, name, **options | kwargs)
