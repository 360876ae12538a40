# SPDX-License-Identifier: Apache-2.0
"""Makes rotation rows: from a position, by phase, sine and cosine, to coefficients."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .amplitude import Amplitude
from .fixed import counted
from .layouts import amplitude_layout, coefficient_layout, job_layout, temperature_fields
from .phase_generator import PhaseGenerator
from .phase_table import pair_layout
from .primitives import Ram
from .sincos import SinCos
from .streams import connect, delayed, held, pulse_stream
from .temper import Temper

__all__ = ["RowGenerator"]

# Clocks that the table is asked for a pair before that comes: it answers when the registers of a
# pair's job are there.
ASKED_AHEAD = Ram.latency - 1


class RowGenerator(wiring.Component):
    """One row a job, a pair every ``interval`` clocks, with no bubble after a job of three or more.

    Latency: see ``latency``, from a job to its first pair's coefficients. A job begins when one of
    the ``rows`` is free.

    Ports
    -----
    i : stream of jobs
    o : stream of {coefficients, last}
    soon : Out
        A pair comes at ``o`` ``notice(p)`` clocks later.
    released : In
        For one clock: a row is done with.
    coming_slot : In
        The slot of the job at ``i``; where there is none, that of the one in the next clock.
    pair_slot, pair_number : Out, pair : In
        Look-up of a pair, 2 clocks.
    amplitude_slot : Out, amplitude : In
        Look-up of the amplitude, combinational.
    clamped : Out, with temperatures
        For one clock: a row's amplitude was out of range.
    """

    def __init__(self, p: RopeParameters):
        self._p = p
        slot = range(p.slots)
        result = data.StructLayout({"coefficients": coefficient_layout(p), "last": 1})
        super().__init__(
            {
                "i": In(stream.Signature(job_layout(p))),
                "o": Out(pulse_stream(result)),
                "soon": Out(1),
                "released": In(1),
                "coming_slot": In(slot),
                "pair_slot": Out(slot),
                "pair_number": Out(range(p.max_pairs)),
                "pair": In(pair_layout(p)),
                "amplitude_slot": Out(slot),
                "amplitude": In(amplitude_layout()),
            }
            | ({"clamped": Out(1)} if p.temperature else {})
        )
        tag = {"slot": slot, "pure": 1, "last": 1} | temperature_fields(p)
        self._tag = data.StructLayout(tag)
        self._temper = Temper() if p.temperature else None
        self._phase = PhaseGenerator(p.generator, p.position_bits, self._tag)
        self._sincos = SinCos(p.generator, self._tag)
        self._amplitude = Amplitude(p, self._tag)

    @property
    def latency(self) -> int:
        """Clocks from a job that finds the generator idle to its first pair's coefficients."""
        parts = self._phase.latency + self._sincos.latency + self._amplitude.latency
        return Ram.latency - ASKED_AHEAD + parts

    @property
    def interval(self) -> int:
        """Clocks a pair."""
        return self._phase.interval

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.phase = phase = self._phase
        m.submodules.sincos = sincos = self._sincos
        m.submodules.amplitude = amplitude = self._amplitude
        positions, tag = self._pairs_of_jobs(m)

        # The table answers when position and tag are there; the pair's axis chooses the position.
        several = len(positions) > 1
        m.d.comb += [
            phase.i.payload.position.eq(positions[self.pair.axis] if several else positions[0]),
            phase.i.payload.increment.eq(self.pair.increment),
            phase.i.payload.tag.eq(tag),
        ]
        connect(m, phase.o, sincos.i)
        connect(m, sincos.o, amplitude.i)

        # The amplitude is looked up a clock before it is needed, or earlier where a temperature is
        # yet to multiply it.
        early = Signal(self._tag)
        m.d.comb += [Value.cast(early).eq(self._early(m)), self.amplitude_slot.eq(early.slot)]
        if self._temper is None:
            with m.If(early.pure):
                m.d.sync += Value.cast(amplitude.amplitude).eq(0)
            with m.Else():
                m.d.sync += amplitude.amplitude.eq(self.amplitude)
        else:
            m.submodules.temper = temper = self._temper
            goes = delayed(m, sincos.o.valid, amplitude.wait, reset_less=False, name="goes")
            with m.If(~early.pure):
                m.d.comb += temper.amplitude.eq(self.amplitude)
            m.d.comb += [
                temper.temperature.eq(early.temperature),
                amplitude.amplitude.eq(temper.product),
                self.clamped.eq(temper.clamped & goes),
            ]
        m.d.comb += [
            self.o.payload.coefficients.eq(amplitude.o.payload.coefficients),
            self.o.payload.last.eq(amplitude.o.payload.tag.last),
            self.o.valid.eq(amplitude.o.valid),
            self.soon.eq(amplitude.soon),
        ]
        return m

    def _early(self, m) -> Value:
        """The tag of the pair whose amplitude is looked up now."""
        sincos, late = self._sincos, self._amplitude.wait
        ahead = 1 if self._temper is None else self._temper.latency
        if ahead == late:
            return Value.cast(sincos.o.payload.tag)
        # A serial generator's phase keeps its tag for as long as this takes.
        clocks = 0 if self.interval > sincos.latency else sincos.latency + late - ahead
        return delayed(m, Value.cast(self._phase.o.payload.tag), clocks, name="early")

    def _pairs_of_jobs(self, m):
        """Jobs one after the other, a pair every ``interval`` clocks: positions, and pair's tag.

        What goes with a pair stays for all of its interval.
        """
        p = self._p
        free, spare = Signal(range(p.rows + 1), init=p.rows), Signal()
        idle, begins, begun = Signal(init=1), Signal(), Signal()
        tag, job = Signal(self._tag), self.i.payload
        number, final = Signal(range(p.max_pairs)), job.pairs.final
        position = self._phase.i.payload.position.shape()
        positions = Signal(data.ArrayLayout(position, p.axes))

        m.d.comb += [
            self.i.ready.eq(spare & idle),
            begins.eq(self.i.valid & self.i.ready),
        ]
        # The table is asked for pair `number` a clock before that comes, or, where `asks_next`, for
        # the next job's first one, be there a job or not.
        tick, asks_next = Const(1), Signal(init=1)
        if self.interval > 1:
            wait = Signal(range(self.interval))
            tick = wait == 0
            kept = held(m, final, idle, name="kept")
            last = number == kept
            m.d.comb += self.pair_number.eq(number)
            m.d.sync += idle.eq(Mux(idle, ~begins, (wait == 1) & tag.last))
            with m.If(tick | idle):
                m.d.sync += wait.eq(self.interval - 1)
            with m.Else():
                m.d.sync += wait.eq(wait - 1)
            with m.If(idle):
                m.d.sync += asks_next.eq(~begins)
            with m.Elif(wait == 1 + ASKED_AHEAD):
                m.d.sync += [number.eq(Mux(tag.last, 0, number + 1)), asks_next.eq(tag.last)]
        else:  # there is no time to compare: what is left is counted, to 1 for the last pair
            left, last, next_last = Signal.like(number), Signal(), Signal()
            goes_on = begins & ~job.pairs.single
            m.d.comb += [
                next_last.eq(Mux(idle, job.pairs.double, left == 2)),
                asks_next.eq(idle | last),
                self.pair_number.eq(number | begins),  # while `idle`, 0 or with the job's begin 1
            ]
            m.d.sync += [
                idle.eq(Mux(idle, ~goes_on, last)),
                last.eq(next_last),
                left.eq(Mux(idle, final, left - 1)),
            ]
            with m.If(idle):
                m.d.sync += number.eq(begins << 1)
            with m.Else():
                m.d.sync += number.eq(Mux(last | next_last, 0, number + 1))
        m.d.sync += [
            free.eq(counted(free, self.released, begins)),
            spare.eq((free != 0) & ~begins & ~begun),
            begun.eq(begins),
        ]
        with m.If(idle):
            m.d.sync += [
                tag.last.eq(job.pairs.single),
                tag.slot.eq(job.position.slot),
                tag.pure.eq(job.position.pure),
            ]
            if p.temperature:
                m.d.sync += tag.temperature.eq(job.position.temperature)
            for axis in range(p.axes):
                m.d.sync += positions[axis].eq(job.position.position[axis] + job.position.conjugate)
        with m.Elif(tick):
            m.d.sync += tag.last.eq(last)

        m.d.comb += self.pair_slot.eq(Mux(asks_next, self.coming_slot, tag.slot))
        goes = begins | (tick & ~idle)
        valid = delayed(m, goes, Ram.latency - ASKED_AHEAD, reset_less=False, name="valid")
        m.d.comb += self._phase.i.valid.eq(valid)
        return positions, tag
