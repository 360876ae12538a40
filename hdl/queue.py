# SPDX-License-Identifier: Apache-2.0
"""A small first-in first-out queue that cuts every path through it."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from .primitives import AheadRam
from .streams import pulse_stream

__all__ = ["Queue"]

# `room` tells of two clocks ago and is acted on two clocks later: so many places must be free.
MARGIN = 6


class Queue(wiring.Component):
    """Up to ``depth`` items, the oldest in the output register and the others in an AheadRam.

    Latency 2 clocks, or 1 through an empty queue with ``bypass``; one item every 2 clocks, or every
    clock with ``full_rate``, whose output register is filled in the clock it is emptied. Where
    items are ``announced`` one from the memory takes a clock more. ``room``, ``o.valid`` and
    ``o.payload`` are registers.

    Raises ValueError where items are ``announced`` without a bypass, or at full rate.

    Parameters
    ----------
    shape : of an item
    depth : a power of two, at least 16; ``depth`` − 1 always fit

    Ports
    -----
    i : stream, always ready
    room : Out
        What is offered in this clock and the next two is taken. (One that counts what it sent, and
        what has left, need not look.)
    o : stream
    coming : Out, with ``bypass`` and ``announced``
        The item that is offered; where there is none, that of the next clock, if any.
    """

    i: stream.Interface
    o: stream.Interface
    room: Signal

    def __init__(
        self,
        shape: ShapeLike,
        depth: int,
        *,
        full_rate: bool = False,
        bypass: bool = False,
        announced: bool = False,
    ):
        if announced and (full_rate or not bypass):
            raise ValueError("items are announced with a bypass, and every third clock at most")
        self._depth, self._full_rate, self._bypass = depth, full_rate, bypass
        self._announced = announced
        self._address_bits = exact_log2(depth)
        super().__init__(
            {
                "i": In(pulse_stream(shape)),
                "o": Out(stream.Signature(shape)),
                "room": Out(1, init=1),
            }
            | ({"coming": Out(shape)} if announced else {})
        )

    @property
    def latency(self) -> int:
        """Clocks from an item's arrival at an empty queue until it is given."""
        return 1 if self._bypass else 2

    @property
    def interval(self) -> int:
        """Clocks an item."""
        return 1 if self._full_rate else 2 + self._announced

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        payload_in, payload_out = Value.cast(self.i.payload), Value.cast(self.o.payload)
        m.submodules.items = items = AheadRam(len(payload_in), self._depth)
        head, tail, kept = (Signal(self._address_bits, name=n) for n in ("head", "tail", "kept"))
        head_next, tail_next = (
            Signal(self._address_bits, init=1, name=n) for n in ("head_next", "tail_next")
        )

        push, pop, filled, through = Signal(), Signal(), Signal(), Signal()
        announces, comes, vacant = Signal(), pop, ~self.o.valid
        moves = vacant | (self.o.ready if self._full_rate else 0)
        if self._announced:  # an item from the memory stands at the output before it is valid
            comes, moves = announces, Signal(init=1, name="moves")
            stays = pop | through | announces | (self.o.valid & ~self.o.ready)
            m.d.sync += [announces.eq(pop), moves.eq(~stays)]
            m.d.comb += Value.cast(self.coming).eq(Mux(moves, payload_in, payload_out))
            vacant = moves
        if self._bypass:
            m.d.comb += through.eq(self.i.valid & ~filled & vacant)
        m.d.comb += [
            push.eq(self.i.valid & ~through),
            pop.eq(filled & moves),
            # The place at the tail is free, so what stands there does not matter.
            items.write_enable.eq(1),
            items.write_address.eq(tail),
            items.write_data.eq(payload_in),
            items.address.eq(head),
            items.ahead.eq(Mux(pop, head_next, head)),
        ]
        m.d.sync += [
            filled.eq(push | Mux(pop, head_next != tail, filled)),
            kept.eq(tail - head),
            self.room.eq(kept <= self._depth - MARGIN),
        ]
        with m.If(push):
            m.d.sync += [tail.eq(tail_next), tail_next.eq(tail_next + 1)]
        with m.If(pop):
            m.d.sync += [head.eq(head_next), head_next.eq(head_next + 1)]
        # What stands there while nothing is valid does not matter.
        with m.If(moves):
            m.d.sync += payload_out.eq(
                Mux(filled, items.data, payload_in) if self._bypass else items.data
            )
        m.d.sync += self.o.valid.eq(comes | through | (self.o.valid & ~self.o.ready))
        return m
