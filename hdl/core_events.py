# SPDX-License-Identifier: Apache-2.0
"""What a core counts: events of its streams, and completed loads."""

from amaranth import *
from amaranth.lib import data

__all__ = ["count_loads", "events_layout", "watch"]


def events_layout() -> data.StructLayout:
    """What counters count of vectors or scores, each for a clock.

    A position or segment accepted, a beat in, a beat out, a result's last beat out; a beat that
    waits to be taken; what was accepted waits for data, and data wait for it.
    """
    names = ("positions", "beats_in", "beats_out", "tokens", "stalled", "no_data", "no_position")
    return data.StructLayout(dict.fromkeys(names, 1))


def watch(m, events, i, o, *, accepted: Value, awaits: Value):
    """Tell, a clock later, what happens on a stream of beats and on that of their results.

    ``accepted`` says that a position or segment is, ``awaits`` that data are due for one.
    """
    goes_in, goes_out = i.valid & i.ready, o.valid & o.ready
    m.d.sync += [
        events.positions.eq(accepted),
        events.beats_in.eq(goes_in),
        events.beats_out.eq(goes_out),
        events.tokens.eq(goes_out & o.payload.last),
        events.stalled.eq(o.valid & ~o.ready),
        events.no_data.eq(awaits & ~i.valid),
        events.no_position.eq(i.valid & ~awaits),
    ]


def count_loads(m, epoch: Signal, loaded: Value):
    """Count in ``epoch`` how often ``loaded`` has risen; it wraps."""
    before = Signal()
    m.d.sync += [before.eq(loaded), epoch.eq(epoch + (loaded & ~before))]
