# SPDX-License-Identifier: Apache-2.0
"""What a board is configured with: a hosted core, its clock, its serial port and its LEDs."""

from collections.abc import Mapping
from typing import Any

from amaranth import *
from amaranth.build import Platform
from amaranth.lib import io

from ropeway.hdl.hosted_core import HostedCore

from .clocks import CoreClock
from .pins import input_pin, output_pin

__all__ = ["BoardTop"]

UART = "uart"


class BoardTop(Elaboratable):
    """A hosted core on the pins of a board.

    ``leds`` says which resource shows which of the core's outputs, such as ``{"passed": "led 0",
    "failed": "rgb_led 0 r"}``.
    """

    def __init__(self, core: HostedCore, clock: CoreClock, leds: Mapping[str, str]):
        self._core, self._clock, self._leds = core, clock, leds

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.domains.sync = ClockDomain()
        m.submodules.clock = self._clock
        m.submodules.core = core = self._core
        uart = platform.request(UART, dir="-")
        m.d.comb += core.rx.eq(input_pin(m, "rx", uart.rx))
        output_pin(m, "tx", uart.tx, core.tx)
        requested = {}
        for output, resource in self._leds.items():
            port = _port(platform, resource, requested)
            output_pin(m, output, port, getattr(core, output))
        return m


def _port(platform: Platform, resource: str, requested: dict[str, Any]) -> io.PortLike:
    """The port of a resource such as "led 0" or, of one with several, "rgb_led 0 g"."""
    name, number, *subsignal = resource.split()
    whole = f"{name} {number}"
    if whole not in requested:
        requested[whole] = platform.request(name, int(number), dir="-")
    return getattr(requested[whole], subsignal[0]) if subsignal else requested[whole]
