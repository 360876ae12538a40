# SPDX-License-Identifier: Apache-2.0
"""The Colorlight i5 (7.0) and i9 (7.2) on their extension board, which amaranth-boards lacks."""

from amaranth.build import Attrs, Clock, Pins, Resource
from amaranth.vendor import LatticeECP5Platform
from amaranth_boards.resources import LEDResources, UARTResource

__all__ = ["ColorlightI5", "ColorlightI9"]

LVCMOS = Attrs(IO_TYPE="LVCMOS33")


class _Colorlight(LatticeECP5Platform):  # pyright: ignore[reportGeneralTypeIssues]
    package, speed, default_clk = "BG381", "6", "clk25"
    resources = [  # noqa: RUF012  what Amaranth's platforms are made of
        Resource("clk25", 0, Pins("P3", dir="i"), Clock(25e6), LVCMOS),
        UARTResource(0, rx="H18", tx="J17", attrs=Attrs(IO_TYPE="LVCMOS33", PULLMODE="UP")),
    ]
    connectors = []  # noqa: RUF012

    def toolchain_prepare(self, fragment, name, **kwargs):
        return super().toolchain_prepare(fragment, name, **{"ecppack_opts": "--compress"} | kwargs)


class ColorlightI5(_Colorlight):
    """The i5's clock, LED and serial port."""

    device = "LFE5U-25F"
    resources = [  # noqa: RUF012
        *_Colorlight.resources,
        *LEDResources(pins="U16", invert=True, attrs=LVCMOS),
    ]


class ColorlightI9(_Colorlight):
    """The i9's clock, LED and serial port."""

    device = "LFE5U-45F"
    resources = [  # noqa: RUF012
        *_Colorlight.resources,
        *LEDResources(pins="L2", invert=True, attrs=LVCMOS),
    ]
