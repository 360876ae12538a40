# SPDX-License-Identifier: Apache-2.0
"""Pins of a board as values, each behind its buffer."""

from typing import Any

from amaranth import *
from amaranth.lib import io

__all__ = ["input_pin", "output_pin"]


def input_pin(m: Module, name: str, port: io.PortLike) -> Value:
    """What a pin is given, inverted where the board inverts it; ``name`` is its buffer's."""
    buffer: Any = io.Buffer("i", port)
    m.submodules[name] = buffer
    return buffer.i


def output_pin(m: Module, name: str, port: io.PortLike, value: Value):
    """Drive a pin, inverted where the board inverts it; ``name`` is its buffer's."""
    buffer: Any = io.Buffer("o", port)
    m.submodules[name] = buffer
    m.d.comb += buffer.o.eq(value)
