# SPDX-License-Identifier: Apache-2.0
"""Where the bias of a segment starts: from its head's last start, or by a serial product."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from ropeway.golden.alibi_parameters import SLOPE_BITS, AlibiParameters

from .alibi_layouts import distance_shape, segment_layout, started_layout
from .fixed import add_with_carry, equal_pieces
from .primitives import Ram
from .serial_product import SerialProduct
from .streams import delayed

__all__ = ["AlibiStarts"]

SPLIT = 38  # bits of a bias in one carry chain
COMPARED = 4  # bits of a segment in one comparison


class AlibiStarts(wiring.Component):
    """Gives every segment its slope and the exact bias of its first key, slope · (key − query).

    The segments of one row that follow each other need none; one whose key − query is its head's
    last start's, or one less, takes it from there; every other by a serial product. Memory: a slope
    and a start a head, whatever the number of keys and queries.

    A segment every 4 clocks where it continues the one before, every 6 where its head's last start
    helps, else every 14.

    Ports
    -----
    i : stream of segments
    o : stream of started segments
    write, write_head, write_slope : In
        Loads the slope of a head, and forgets its last start.
    """

    i: stream.Interface
    o: stream.Interface
    write: Signal
    write_head: Signal
    write_slope: Signal

    def __init__(self, p: AlibiParameters):
        self._p = p
        super().__init__(
            {
                "i": In(stream.Signature(segment_layout(p))),
                "o": Out(stream.Signature(started_layout(p))),
                "write": In(1),
                "write_head": In(range(p.max_heads)),
                "write_slope": In(SLOPE_BITS),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        segment, offset = Signal(segment_layout(p)), Signal(distance_shape(p))
        phase = Signal(6, init=1)
        idle, ends = phase[0], phase[-1]
        m.d.comb += [self.i.ready.eq(idle), self.o.valid.eq(ends)]
        slope, last, store = self._memories(m, segment.head, idle, offset)

        with m.If(idle):
            m.d.sync += segment.eq(self.i.payload)
        follows = self._follows(m, segment, idle, phase[1])

        # The offset of its first key; what the last start is away from that; one slope further.
        out, away = self.o.payload, Signal(distance_shape(p))
        same, next_, found = Signal(), Signal(), Signal()
        m.submodules.product = product = SerialProduct(SLOPE_BITS, len(offset))
        with m.If(phase[1]):
            m.d.sync += [
                offset.eq(segment.key - Mux(segment.key_only, 0, segment.query)),
                out.distance.eq(segment.query - segment.key),
                out.further.eq(segment.final[exact_log2(p.lanes) :] - 1),
                out.lanes.eq(segment.final[: exact_log2(p.lanes)]),
                out.key_only.eq(segment.key_only),
                out.mask.eq(segment.mask),
            ]
        m.d.comb += [
            product.start.eq(phase[2] & ~follows),
            product.factor.eq(slope),
            product.count.eq(offset),
            found.eq(same | next_ | product.done),
        ]
        with m.If(phase[2]):
            m.d.sync += [
                away.eq(last.offset - offset),
                out.slope.eq(slope),
                out.continues.eq(follows),
            ]
        stepped = self._stepped(m, last.start, slope)
        with m.If(phase[3]):
            m.d.sync += [
                same.eq(last.known & (away == 0)),
                next_.eq(last.known & (away == 1)),
            ]
        with m.If(phase[4] & found):
            held = Mux(same, last.start, stepped)
            m.d.sync += [
                out.start.eq(Mux(same | next_, held, product.product)),
                store.eq(1),
            ]

        # One-hot: idle; three clocks; looking for a start; offering.
        m.d.sync += phase.eq(
            Cat(
                (idle & ~self.i.valid) | (ends & self.o.ready),
                idle & self.i.valid,
                phase[1],
                phase[2] & ~follows,
                phase[3] | (phase[4] & ~found),
                (phase[2] & follows) | (phase[4] & found) | (ends & ~self.o.ready),
            )
        )
        return m

    def _stepped(self, m, start, slope) -> Value:
        """Two clocks from the memory's answer: a start, less a slope."""
        low = Signal(SPLIT + 1, reset_less=True)
        high = Signal(signed(self._p.bias_bits - SPLIT), reset_less=True)
        above = delayed(m, start[SPLIT:].as_signed(), 1, name="above")
        less = ~Cat(delayed(m, slope[SPLIT:], 1, name="less"), C(0, 1)).as_signed()
        m.d.sync += [
            low.eq(start[:SPLIT] - slope[:SPLIT]),
            high.eq(add_with_carry(above, less, ~low[-1], len(high))),
        ]
        low = delayed(m, low, 1, name="low")
        return Cat(low[:SPLIT], high).as_signed()

    def _follows(self, m, segment, idle, begins) -> Value:
        """Whether a segment goes on where the one before ended, known a clock after ``begins``.

        It is compared, in pieces, as it is offered.
        """
        p, offered = self._p, self.i.payload
        head, query = Signal.like(segment.head), Signal.like(segment.query)
        key, key_only = Signal(signed(p.position_bits + 1)), Signal()
        given = Cat(offered.head, offered.query, offered.key_only, offered.key, offered.key[-1])
        expected = Cat(head, query, key_only, key)
        pieces = equal_pieces(given, expected, COMPARED)
        alike, known, follows = Signal(len(pieces)), Signal(), Signal()
        with m.If(idle):
            m.d.sync += alike.eq(pieces)
        with m.If(begins):
            m.d.sync += [
                follows.eq(known & alike.all()),
                head.eq(segment.head),
                query.eq(segment.query),
                key_only.eq(segment.key_only),
                known.eq(segment.final[: exact_log2(p.lanes)].all()),
                key.eq(segment.key + segment.final + 1),
            ]
        with m.If(self.write):
            m.d.sync += known.eq(0)
        return follows

    def _memories(self, m, head, idle, offset):
        """Slopes and last starts, read at the head of the segment that is offered or at hand."""
        p = self._p
        layout = data.StructLayout(
            {"known": 1, "offset": distance_shape(p), "start": signed(p.bias_bits)}
        )
        m.submodules.slopes = slopes = Ram(SLOPE_BITS, p.max_heads)
        m.submodules.starts = starts = Ram(layout.size, p.max_heads)
        address, store = Signal(range(p.max_heads)), Signal()
        kept = Signal(layout)
        m.d.comb += [
            address.eq(Mux(idle, self.i.payload.head, head)),
            slopes.read_address.eq(address),
            slopes.write_enable.eq(self.write),
            slopes.write_address.eq(self.write_head),
            slopes.write_data.eq(self.write_slope),
            starts.read_address.eq(address),
            starts.write_enable.eq(self.write | store),
            starts.write_address.eq(Mux(self.write, self.write_head, head)),
            starts.write_data.eq(Mux(self.write, 0, Value.cast(kept))),
        ]
        out = self.o.payload
        m.d.comb += [kept.known.eq(1), kept.offset.eq(offset), kept.start.eq(out.start)]
        m.d.sync += store.eq(0)
        last = Signal(layout)
        m.d.comb += Value.cast(last).eq(starts.read_data)
        return slopes.read_data, last, store
