# SPDX-License-Identifier: Apache-2.0
"""Sticky flags, each set by its event until cleared, and what was seen first."""

from amaranth import *
from amaranth.lib import data

__all__ = ["keep_first", "keep_packets", "packet_status_layout", "stick"]


def packet_status_layout() -> data.StructLayout:
    """Sticky: an element saturated, a load was malformed, a packet misframed.

    ``first_bad`` is the number, from reset, of the first misframed packet since they were cleared.
    """
    return data.StructLayout({"saturated": 1, "malformed": 1, "misframed": 1, "first_bad": 32})


def stick(m, flag: Signal, event: Value, clear: Value):
    """Set ``flag`` from the clock after ``event`` until ``clear``; an event in that clock stays."""
    m.d.sync += flag.eq((flag & ~clear) | event)


def keep_first(m, kept: Signal, value: Value, flag: Signal, event: Value, clear: Value):
    """Keep the ``value`` of the event that sets a sticky ``flag``, until ``clear``."""
    with m.If(event & (~flag | clear)):
        m.d.sync += kept.eq(value)
    with m.Elif(clear):
        m.d.sync += kept.eq(0)


def keep_packets(
    m,
    status,
    clear: Value,
    *,
    finished: Value,
    misframed: Value,
    saturated: Value,
    malformed: Value,
):
    """Keep a status with ``packet_status_layout``'s fields; packets are counted as they finish."""
    number = Signal(32)
    m.d.sync += number.eq(number + finished)
    for flag, event in (
        (status.saturated, saturated),
        (status.malformed, malformed),
        (status.misframed, misframed),
    ):
        stick(m, flag, event, clear)
    keep_first(m, status.first_bad, number, status.misframed, misframed, clear)
