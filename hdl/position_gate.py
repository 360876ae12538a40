# SPDX-License-Identifier: Apache-2.0
"""Accepts the positions of a unit with one geometry, and counts the tokens not yet finished."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .fixed import counted
from .queue import Queue
from .streams import connect

__all__ = ["PositionGate"]

AHEAD = 16  # positions that wait
COUNTED = 64  # tokens that a unit holds at most, those included


class PositionGate(wiring.Component):
    """A queue of positions that takes none while ``closed``.

    Latency 2 clocks; a position every 2 clocks.

    Parameters
    ----------
    shape : of a position

    Ports
    -----
    i, o : streams of positions
    closed : In
    finished : In
        For one clock: a token is done with.
    idle : Out
        All accepted tokens are; two clocks late.
    """

    i: stream.Interface
    o: stream.Interface
    closed: Signal
    finished: Signal
    idle: Signal

    def __init__(self, shape: ShapeLike):
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(shape)),
                "closed": In(1),
                "finished": In(1),
                "idle": Out(1, init=1),
            }
        )
        self._shape = shape

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.queue = queue = Queue(self._shape, AHEAD)
        unfinished, accepted = Signal(range(COUNTED)), Signal()
        m.d.comb += [
            self.i.ready.eq(queue.room & ~self.closed),
            accepted.eq(self.i.valid & self.i.ready),
            queue.i.valid.eq(accepted),
            queue.i.payload.eq(self.i.payload),
        ]
        m.d.sync += [
            unfinished.eq(counted(unfinished, accepted, self.finished)),
            self.idle.eq(unfinished == 0),
        ]
        connect(m, queue.o, wiring.flipped(self.o))
        return m
