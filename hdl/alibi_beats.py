# SPDX-License-Identifier: Apache-2.0
"""Scores meet their segments, beat by beat."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.alibi_parameters import AlibiParameters

from .alibi_layouts import score_layout, scored_beat_layout, started_layout
from .packet_frame import PacketFrame

__all__ = ["AlibiBeats"]


class AlibiBeats(wiring.Component):
    """Gives every beat of scores what its bias needs; packets are fitted to their segments.

    Latency 1 clock; a beat a clock, with no bubble between segments. Two segments wait ahead.

    Ports
    -----
    i : stream of beats of scores
    i_segment : stream of started segments
    symmetric : In
        Later keys count as earlier ones, but in segments of keys only.
    room : In
        There is a place for the results of this clock's beat and of three more.
    valid, beat : Out
    last : Out
        The beat is its segment's last.
    error : Out
        And its packet was malformed.
    """

    i: stream.Interface
    i_segment: stream.Interface
    symmetric: Signal
    room: Signal
    valid: Signal
    last: Signal
    error: Signal

    latency = 1

    def __init__(self, p: AlibiParameters):
        self._p = p
        super().__init__(
            {
                "i": In(stream.Signature(score_layout(p))),
                "i_segment": In(stream.Signature(started_layout(p))),
                "symmetric": In(1),
                "room": In(1),
                "valid": Out(1),
                "beat": Out(scored_beat_layout(p)),
                "last": Out(1),
                "error": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self._p
        m.submodules.frame = frame = PacketFrame()
        scores = self.i.payload
        m.d.comb += [
            frame.valid.eq(self.i.valid),
            frame.last.eq(scores.last),
            frame.room.eq(self.room),
            self.i.ready.eq(frame.ready),
        ]

        # The next segment waits in registers, so that its making does not see the beats; the
        # present one is counted down, below 0 at its last beat.
        upcoming, waits = Signal(started_layout(p)), Signal()
        active, moves, moved = Signal(), Signal(), Signal()
        left = Signal(signed(p.position_bits + 1))
        m.d.comb += [
            frame.present.eq(active),
            frame.final.eq(left[-1]),
            moves.eq(~active | (frame.goes & frame.final)),
            self.i_segment.ready.eq(~waits),
        ]
        m.d.sync += moved.eq(moves)
        with m.If(~waits):
            m.d.sync += [upcoming.eq(self.i_segment.payload), waits.eq(self.i_segment.valid)]
        with m.Elif(moves):
            m.d.sync += waits.eq(0)
        with m.If(moves):
            m.d.sync += [active.eq(waits), left.eq(upcoming.further)]
        with m.Elif(frame.goes):
            m.d.sync += left.eq(left - 1)

        # A clock later all that is wide.
        data = Signal.like(scores.data, reset_less=True)
        m.d.sync += [
            self.valid.eq(frame.goes),
            self.last.eq(frame.final),
            self.error.eq(frame.final & frame.spoilt),
            Value.cast(data).eq(Mux(frame.filling, 0, Value.cast(scores.data))),
        ]
        self._describe(m, upcoming, moved, data)
        return m

    def _describe(self, m, upcoming, moved, data):
        """The present segment, and the beat; its distance counts down by keys."""
        p, beat = self._p, self.beat
        segment, begins = Signal(started_layout(p)), Signal()
        distance, folds = Signal.like(segment.distance), Signal()
        with m.If(moved):
            m.d.sync += [
                segment.eq(upcoming),
                begins.eq(~upcoming.continues),
                distance.eq(upcoming.distance),
                folds.eq(self.symmetric & ~upcoming.key_only),
            ]
        with m.Elif(self.valid):
            m.d.sync += [begins.eq(0), distance.eq(distance - p.lanes)]
        m.d.comb += [
            beat.data.eq(data),
            beat.begins.eq(begins),
            beat.start.eq(segment.start),
            beat.slope.eq(segment.slope),
            beat.distance.eq(distance),
            beat.folds.eq(folds),
            beat.mask.eq(segment.mask),
            beat.lanes.eq(Mux(self.last, segment.lanes, p.lanes - 1)),
        ]
