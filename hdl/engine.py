# SPDX-License-Identifier: Apache-2.0
"""The RoPE engine: tokens and positions in, rotated tokens out."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .beat_queue import BeatQueue
from .drain import Drain
from .framer import Framer
from .head_buffer import HeadBuffer
from .heads import Heads
from .intake import Intake
from .layouts import (
    beat_layout,
    coefficient_layout,
    exit_layout,
    job_layout,
    load_layout,
    position_layout,
    result_layout,
    shape_layout,
    step_layout,
    token_layout,
)
from .phase_table import PhaseTable
from .primitives import DelayLine
from .query_rows import QueryRows
from .queue import Queue
from .rotation_row import RotationRow
from .rotator import Rotator
from .row_generator import RowGenerator
from .sequencer import Sequencer, take_of
from .skid import sliced
from .streams import connect, delayed
from .walker import buffer_depth

__all__ = ["RopeEngine", "status_layout"]


def status_layout(p: RopeParameters) -> data.StructLayout:
    """Sticky: an element saturated; a load was refused, or malformed; a packet misframed.

    ``first_bad`` is the number, from reset, of the first misframed token since the flags were
    cleared; ``first_beyond`` the first position ``beyond`` its slot's trained context.
    """
    flags = {"saturated": 1, "refused": 1, "malformed": 1, "misframed": 1, "beyond": 1}
    return data.StructLayout(flags | {"first_bad": 32, "first_beyond": signed(p.position_bits)})


class RopeEngine(wiring.Component):
    """Rotates Q and K of every token by its position, in the geometry of the slot it names.

    Every token takes one position and one packet, in the same order on both streams; either may run
    ahead, up to the depth of the queues, and neither waits for more than the other's next item. One
    beat a clock, without a bubble between heads or tokens, if and only if the token's beats are at
    least pairs · generator interval; else the generator decides. Results depend on data, position
    and slot alone.

    Latency from a position to the first rotated beat, data waiting: ``latency`` clocks for adjacent
    pairs; half-split ones wait for half of the first head's rotary part besides.

    Ports
    -----
    i : stream of beats
        A token's heads in the slot's pattern, element 0 lowest.
    i_position : stream of positions
    i_load : stream of image words
    o : stream of results
        As many beats, in the same order.
    busy, loaded : Out, one bit a slot
        Accepted tokens that name it are unfinished; it has a geometry.
    fingerprint_slot : In, fingerprint : Out
        What the hardware made of a loaded slot's image, at most a clock later.
    status : Out
    clear : In
        Clears the sticky flags.
    """

    i: stream.Interface
    i_position: stream.Interface
    i_load: stream.Interface
    o: stream.Interface
    busy: Signal
    loaded: Signal
    status: data.View
    fingerprint_slot: Signal
    fingerprint: Signal
    clear: Signal

    def __init__(self, p: RopeParameters):
        self.parameters = p
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(p))),
                "i_position": In(stream.Signature(position_layout(p))),
                "i_load": In(stream.Signature(load_layout(p))),
                "o": Out(stream.Signature(result_layout(p))),
                "busy": Out(p.slots),
                "loaded": Out(p.slots),
                "status": Out(status_layout(p)),
                "fingerprint_slot": In(range(p.slots)),
                "fingerprint": Out(64),
                "clear": In(1),
            }
        )
        self._generator = RowGenerator(p)
        self._rotator = Rotator(p)

    @property
    def latency(self) -> int:
        """Clocks from a position to the first rotated beat, adjacent pairs, data waiting."""
        p, queue, drain = self.parameters, 2, 3
        entry = RotationRow.wait(p) + 3 * p.distant
        first_entry = (p.lanes - 1) * self._generator.interval
        rotate = RotationRow.latency + self._rotator.latency
        return queue + self._generator.latency + first_entry + entry + rotate + drain

    @property
    def passing_latency(self) -> int:
        """Clocks from a position to the first beat where that does not turn, data waiting."""
        naming, drain = 14 + 2 * self.parameters.relayed + 2 * self.parameters.distant, 3
        return naming + RotationRow.latency + self._rotator.latency + drain

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self.parameters
        m.submodules.table = table = PhaseTable(p)
        m.submodules.intake = intake = Intake(p)
        m.submodules.generator = generator = self._generator
        m.submodules.row = row = RotationRow(p)
        m.submodules.framer = framer = Framer(p)
        m.submodules.gathered = gathered = HeadBuffer(p, registered=p.relayed)
        m.submodules.sequencer = sequencer = Sequencer(p)
        m.submodules.rotated = rotated = HeadBuffer(p, bits=p.output_bits, registered=p.distant)
        m.submodules.drain = drain = Drain(p)

        connect(m, wiring.flipped(self.i), framer.i)
        connect(m, wiring.flipped(self.i_position), intake.i)
        connect(m, wiring.flipped(self.i_load), table.i_load)
        connect(m, drain.o, wiring.flipped(self.o))

        jobs = self._positions(m, table, intake, generator, row)
        self._tokens(m, table, intake, framer, drain, jobs)
        self._beats(m, framer, gathered, sequencer, drain)
        saturated = self._operations(m, row, gathered, sequencer, rotated, drain)
        told = int(p.distant)  # with the words' addresses
        m.d.comb += [
            row.row.eq(delayed(m, sequencer.row, told, name="row")),
            row.entry.eq(delayed(m, sequencer.operation.entry, told, name="entry")),
            sequencer.written.eq(row.written),
            generator.released.eq(sequencer.row_released),
        ]
        if p.temperature:
            saturated |= generator.clamped
        self._status(m, table, intake, framer, saturated)
        return m

    def _positions(self, m, table, intake, generator, row) -> Queue:
        """Positions become jobs, and jobs rows."""
        p = self.parameters
        m.submodules.jobs = jobs = Queue(position_layout(p), p.tokens, bypass=True, announced=True)
        m.d.comb += [
            jobs.i.valid.eq(intake.o_position.valid),
            jobs.i.payload.eq(intake.o_position.payload),
        ]
        # What turns backwards goes as its complement: its negative, less one.
        for axis in range(p.axes):
            given = intake.o_position.payload.position[axis]
            backwards = intake.o_position.payload.conjugate.replicate(len(given))
            m.d.comb += jobs.i.payload.position[axis].eq(given ^ backwards)
        # How many pairs it has, a job finds in its slot.
        job = stream.Signature(job_layout(p)).create()
        m.d.comb += [
            job.valid.eq(jobs.o.valid),
            job.payload.position.eq(jobs.o.payload),
            job.payload.pairs.eq(table.pairs),
            jobs.o.ready.eq(job.ready),
            table.job_slot.eq(jobs.o.payload.slot),
        ]
        if p.temperature:
            m.submodules.rows = rows = QueryRows(p)
            connect(m, job, rows.i)
            connect(m, rows.o, generator.i)
        else:
            connect(m, job, generator.i)
        m.d.comb += [
            table.context_slot.eq(intake.context_slot),
            intake.context.eq(table.context),
            generator.coming_slot.eq(jobs.coming.slot),
            table.pair_slot.eq(generator.pair_slot),
            table.pair_number.eq(generator.pair_number),
            generator.pair.eq(table.pair),
            table.amplitude_slot.eq(generator.amplitude_slot),
            generator.amplitude.eq(table.amplitude),
        ]
        onward = m.d.sync if p.distant else m.d.comb  # to the memories of all lanes
        onward += [
            row.i.payload.eq(generator.o.payload),
            row.i.valid.eq(generator.o.valid),
            row.soon.eq(generator.soon),
        ]
        return jobs

    def _tokens(self, m, table, intake, framer, drain, jobs):
        """Tokens become heads, and these beats as they come in."""
        p = self.parameters
        m.submodules.tokens = tokens = Queue(token_layout(p), p.tokens, bypass=p.relayed)
        m.submodules.heads = heads = Heads(p)
        connect(m, intake.o_token, tokens.i)
        connect(m, tokens.o, heads.i)
        m.d.comb += [
            table.token_slot.eq(heads.slot),
            heads.pattern.eq(table.pattern),
        ]
        self._name(m, table, heads.o, framer.walker)
        m.d.sync += intake.room.eq(tokens.room & jobs.room)
        m.d.comb += [
            intake.loaded.eq(table.loaded),
            intake.bypass.eq(table.bypass),
            intake.claimed.eq(table.claimed),
            intake.claimed_slot.eq(table.claimed_slot),
            intake.finished.eq(drain.finished),
            intake.finished_slot.eq(drain.finished_slot),
            table.busy.eq(intake.busy),
        ]

    def _name(self, m, table, heads, walker):
        """Two register slices, two heads each, bridge the naming between tokens."""
        p = self.parameters
        head = sliced(m, "named_0", heads)
        # With registers between, a head's shape is looked up on the way; else at the walker.
        ahead = p.relayed and p.slots > 1
        shaped = data.StructLayout({"head": head.payload.shape(), "looked_up": shape_layout(p)})
        named = stream.Signature(shaped if ahead else head.payload.shape()).create()
        m.d.comb += [named.valid.eq(head.valid), head.ready.eq(named.ready)]
        m.d.comb += (named.payload.head if ahead else named.payload).eq(head.payload)
        m.d.comb += table.head_slot.eq(head.payload.slot if ahead else walker.slot)
        if ahead:
            m.d.comb += named.payload.looked_up.eq(table.shape)
        named = sliced(m, "named_1", named)
        m.d.comb += [
            walker.i.valid.eq(named.valid),
            named.ready.eq(walker.i.ready),
            walker.i.payload.eq(named.payload.head if ahead else named.payload),
            walker.shape.eq(named.payload.looked_up if ahead else table.shape),
        ]

    def _beats(self, m, framer, gathered, sequencer, drain):
        """Beats come into the first head buffer."""
        p, depth = self.parameters, buffer_depth(self.parameters)
        arrival = gathered.write_latency + p.relayed - 1

        # An operation reads three clocks after what `arrived` at the earliest: there is time for a
        # register.
        def waited(value, clocks=int(p.relayed), **options):
            return delayed(m, value, clocks, name="arriving", **options)

        address = waited(framer.address, reset_less=False)  # the framer's own register, once more
        exchanged = waited(framer.exchanged)
        words = [waited(word) for word in framer.words]
        if p.distant:
            blank = waited(framer.blank).replicate(len(words[0]))
            words = [word & ~blank for word in words]
        m.d.comb += [
            gathered.write_enable.eq(waited(framer.write, reset_less=False)),
            gathered.write_words[0].eq(Mux(exchanged, words[1], words[0])),
            gathered.write_words[1].eq(Mux(exchanged, words[0], words[1])),
            gathered.write_addresses[0].eq(address),
            gathered.write_addresses[1].eq(address),
            sequencer.arrived.eq(waited(framer.write, arrival, reset_less=False)),
            framer.consumed.eq(sequencer.issue),
        ]
        # What is to be known of a beat stands beside it: for its operation and for its way out.
        m.submodules.steps = steps = BeatQueue(step_layout(p), depth)
        m.submodules.exits = exits = BeatQueue(exit_layout(p), 2 * depth)
        relay = m.d.sync if p.relayed else m.d.comb
        relay += [
            steps.i.valid.eq(framer.write),
            steps.i.payload.eq(framer.step),
            exits.i.valid.eq(framer.write),
            exits.i.payload.eq(framer.exit),
        ]
        if p.relayed:
            m.d.sync += steps.i.payload.take.eq(take_of(framer.step))
        connect(m, steps.o, sequencer.i)
        connect(m, exits.o, drain.i)

    def _operations(self, m, row, gathered, sequencer, rotated, drain) -> Value:
        """The free-running part: words and coefficients meet, turn, and are written."""
        p = self.parameters
        operation = sequencer.operation
        m.submodules.rotator = rotator = self._rotator

        # To many lanes it takes a clock.
        def sent(value, *, reset_less=True):
            return delayed(m, value, int(p.distant), reset_less=reset_less, name="sent")

        swap, first, second = operation.exchanged, operation.first, operation.second
        m.d.comb += [
            gathered.read_addresses[0].eq(sent(Mux(swap, second, first))),
            gathered.read_addresses[1].eq(sent(Mux(swap, first, second))),
        ]
        issue, swap = sent(sequencer.issue, reset_less=False), sent(swap)
        split, turns = sent(operation.split), sent(operation.turns)

        # Words and coefficients come two clocks later.
        def waited(value, clocks, *, reset_less=True):
            return delayed(m, value, clocks, reset_less=reset_less, name="waited")

        # Distant lanes are told what does not turn, which resets their registers as it is; through
        # an inverter it would come late.
        ends, told = waited(split, 2), waited(~turns if p.distant else turns, 2)
        passing, tempered = self._identity(), C(0)
        if p.temperature:
            scaled = waited(sent(operation.scaled), 2)
            passing, tempered = self._scaling(scaled), scaled.tempered
        if p.floating:
            passes = told if p.distant else ~told
            m.d.comb += [
                rotator.passes.eq(passes & ~tempered),
                rotator.apart.eq(passes & tempered),
            ]
        elements = data.ArrayLayout(signed(p.data_bits), p.beat_elements)
        beat = data.View(elements, Cat(*gathered.read_words))
        for lane in range(p.lanes):
            turning = Value.cast(row.coefficients[lane])
            either = (passing, turning) if p.distant else (turning, passing)
            m.d.comb += [
                rotator.first[lane].eq(Mux(ends, beat[lane], beat[2 * lane])),
                rotator.second[lane].eq(Mux(ends, beat[p.lanes + lane], beat[2 * lane + 1])),
                Value.cast(rotator.coefficients[lane]).eq(Mux(told, *either)),
            ]
        m.d.comb += rotator.exchanged.eq(waited(swap, 2))

        # Results go where the words came from, in a buffer of the same depth.
        through = RotationRow.latency + rotator.latency
        # Where that is comes as late as they do.
        place = Cat(*gathered.read_addresses, swap, split)
        m.submodules.places = places = DelayLine(len(place), through)
        m.d.comb += places.i.eq(place)
        bits = len(first)
        exchanged, ends = places.o[2 * bits :]
        adjacent = Cat(
            *(value[lane] for lane in range(p.lanes) for value in (rotator.x, rotator.y))
        )
        x, y, width = Value.cast(rotator.x), Value.cast(rotator.y), p.lanes * p.output_bits
        valid = waited(issue, through, reset_less=False)
        m.d.comb += [
            rotated.write_enable.eq(valid),
            # Half-split pairs alone are exchanged.
            rotated.write_words[0].eq(Mux(exchanged, y, Mux(ends, x, adjacent[:width]))),
            rotated.write_words[1].eq(Mux(exchanged, x, Mux(ends, y, adjacent[width:]))),
            rotated.write_addresses[0].eq(places.o[:bits]),
            rotated.write_addresses[1].eq(places.o[bits : 2 * bits]),
            drain.done.eq(waited(issue, through + rotated.write_latency - 2, reset_less=False)),
            rotated.read_enable.eq(drain.read_enable),
            rotated.read_addresses[0].eq(drain.address),
            rotated.read_addresses[1].eq(drain.address),
            drain.words[0].eq(rotated.read_words[0]),
            drain.words[1].eq(rotated.read_words[1]),
        ]
        m.d["sync" if p.relayed else "comb"] += sequencer.drained.eq(drain.left)
        return waited(rotator.saturated & valid, 1, reset_less=False)

    def _identity(self) -> Value:
        """Coefficients that pass a pair bit for bit: cos 1, sin 0."""
        p = self.parameters
        one = 1 << p.fraction_bits
        fields = {"quadrant": 0, "scale": 0, "cos": one}
        if p.multipliers == 3:
            fields |= {"sum": one, "difference": one, "negative": 1}
        else:
            fields |= {"sin": 0}
        return Value.cast(Const(fields, coefficient_layout(p)))

    def _scaling(self, scaled) -> Value:
        """Coefficients that multiply a pair by a temperature, or pass it: sin 0."""
        p = self.parameters
        cos = Mux(scaled.tempered, scaled.cos, 1 << p.fraction_bits)
        word = C(0, p.coefficient_bits)
        fields = {"quadrant": C(0, 2), "scale": scaled.tempered & scaled.scale, "cos": cos}
        if p.multipliers == 3:
            fields |= {"sum": cos, "difference": cos, "negative": C(1, 1)}
        else:
            fields |= {"sin": word}
        return Cat(
            fields[name][: Shape.cast(field.shape).width] for name, field in coefficient_layout(p)
        )

    def _status(self, m, table, intake, framer, saturated):
        status, number = self.status, Signal(32)
        m.d.comb += [
            self.busy.eq(intake.busy),
            self.loaded.eq(table.holds),
            table.fingerprint_slot.eq(self.fingerprint_slot),
        ]
        # That of an only slot is in registers.
        m.d["comb" if self.parameters.slots == 1 else "sync"] += self.fingerprint.eq(
            table.fingerprint
        )

        # With registers between, what clears and all that sets comes a clock late, with distant
        # lanes two; misframing comes so in any engine.
        far = self.parameters.distant

        def told(value, clocks=int(self.parameters.relayed), **options):
            return delayed(m, value, clocks + far, name="told", **options)

        def event(value, *late):
            return told(value, *late, reset_less=False)

        clear, beyond = event(self.clear), event(intake.beyond)
        position = told(intake.beyond_position)
        misframed = event(framer.judged & framer.bad, 1)
        m.d.sync += number.eq(number + event(framer.judged, 1))
        with m.If(clear):
            m.d.sync += Value.cast(status).eq(0)
        m.d.sync += [
            flag.eq((flag & ~clear) | happens)
            for flag, happens in (
                (status.saturated, event(saturated)),
                (status.refused, event(table.refused)),
                (status.malformed, event(table.malformed)),
                (status.misframed, misframed),
                (status.beyond, beyond),
            )
        ]
        with m.If(misframed & (~status.misframed | clear)):
            m.d.sync += status.first_bad.eq(number)
        with m.If(beyond & (~status.beyond | clear)):
            m.d.sync += status.first_beyond.eq(position)
