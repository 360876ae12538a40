# SPDX-License-Identifier: Apache-2.0
"""Sticky flags, each set by its event until cleared, and what was seen first."""

from amaranth import *

__all__ = ["keep_first", "stick"]


def stick(m, flag: Signal, event: Value, clear: Value):
    """Set ``flag`` from the clock after ``event`` until ``clear``; an event in that clock stays."""
    m.d.sync += flag.eq((flag & ~clear) | event)


def keep_first(m, kept: Signal, value: Value, flag: Signal, event: Value, clear: Value):
    """Keep the ``value`` of the event that sets a sticky ``flag``, until ``clear``."""
    with m.If(event & (~flag | clear)):
        m.d.sync += kept.eq(value)
    with m.Elif(clear):
        m.d.sync += kept.eq(0)
