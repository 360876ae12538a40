# SPDX-License-Identifier: Apache-2.0
"""Small helpers that every pipeline uses."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import Out

__all__ = ["connect", "delayed", "export", "held", "pulse_stream", "strobes"]


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


def export(m, whole, part, name: str):
    """Make a part's port ``name`` the whole's own, of the same signature."""
    member = whole.signature.members[name]
    mine, theirs = getattr(whole, name), getattr(part, name)
    if member.is_port:
        m.d.comb += mine.eq(theirs) if member.flow is Out else theirs.eq(mine)
    elif member.flow is Out:
        wiring.connect(m, theirs, wiring.flipped(mine))
    else:
        wiring.connect(m, wiring.flipped(mine), theirs)


def delayed(m, value, clocks: int, *, reset_less: bool = True, name: str = "delayed"):
    """``value`` as it was ``clocks`` ago; reset it where it is a valid or an enable."""
    for clock in range(clocks):
        register = Signal.like(value, reset_less=reset_less, name=f"{name}_{clock + 1}")
        m.d.sync += register.eq(value)
        value = register
    return value


def strobes(m, valid, clocks: int) -> list[Value]:
    """``valid`` as it was so many clocks ago, from 0 on."""
    found = [valid]
    for clock in range(1, clocks + 1):
        found.append(delayed(m, found[-1], 1, reset_less=False, name=f"after_{clock}"))
    return found


def held(m, value, when, *, name: str = "held"):
    """``value`` as it was when ``when`` was last set; from the next clock on."""
    register = Signal.like(value, reset_less=True, name=name)
    with m.If(when):
        m.d.sync += register.eq(value)
    return register
