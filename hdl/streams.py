# SPDX-License-Identifier: Apache-2.0
"""Small helpers that every pipeline uses."""

from amaranth import *
from amaranth.lib import stream, wiring

__all__ = ["connect", "delayed", "pulse_stream"]


def pulse_stream(shape) -> stream.Signature:
    """A stream whose consumer never waits: the free-running parts of a pipeline."""
    return stream.Signature(shape, always_ready=True)


def connect(m, source, sink):
    """Connect two streams that carry the very same shape.

    ``wiring.connect`` compares widths alone, so swapped fields would pass. Raises TypeError.
    """
    shapes = source.payload.shape(), sink.payload.shape()
    if shapes[0] != shapes[1]:
        raise TypeError(f"streams must carry the same payload, not {shapes[0]!r} and {shapes[1]!r}")
    wiring.connect(m, source, sink)


def delayed(m, value, clocks: int, *, reset_less: bool = True, name: str = "delayed"):
    """``value`` as it was ``clocks`` ago; reset it where it is a valid or an enable."""
    for clock in range(clocks):
        register = Signal.like(value, reset_less=reset_less, name=f"{name}_{clock + 1}")
        m.d.sync += register.eq(value)
        value = register
    return value
