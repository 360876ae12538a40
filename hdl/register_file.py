# SPDX-License-Identifier: Apache-2.0
"""The hardware of a table of registers: decoded, kept, counted and read back."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from .register_bus import Answer, answer_layout, request_layout
from .registers import BUS_BYTES, Access, Field, Register, RegisterMap
from .sticky import stick
from .streams import pulse_stream

__all__ = ["RegisterFile", "port_name"]

LOOKUP = 3  # clocks from an array's number until what it names is read
FAN_IN = 4  # words that one stage of reading joins


def stages(count: int) -> int:
    """Stages that join as many words into one, a few in each."""
    return 1 if count <= FAN_IN else 1 + stages(-(-count // FAN_IN))


def joined(
    m, sources: list[tuple[Value, list[Value | None]]], name: str, *, staged: bool = True
) -> Value:
    """The word of 32 bits whose source is chosen, by all stages but the last one's register.

    Of each source there are its choice, and its bits, None where one is always 0. A source's word
    is reset where it is not chosen, which costs a register and no logic. What is not ``staged`` is
    the logic alone.
    """
    bits: list[list] = [[] for _ in range(32)]
    for number, (chosen, word) in enumerate(sources):
        there = [bit for bit in range(32) if word[bit] is not None]
        gated = Signal(len(there), reset_less=True, name=f"{name}_{number}")
        given = Cat(word[bit] for bit in there)
        m.d["sync" if staged else "comb"] += gated.eq(Mux(chosen, given, 0))
        for part, bit in zip(gated, there, strict=True):
            bits[bit].append(part)
    for level in range(stages(len(sources)) - 1 if staged else 0):
        for bit, parts in enumerate(bits):
            bits[bit] = []
            for number in range(0, len(parts), FAN_IN):
                part = Signal(reset_less=True, name=f"{name}_{level}_{bit}_{number // FAN_IN}")
                m.d.sync += part.eq(Cat(parts[number : number + FAN_IN]).any())
                bits[bit].append(part)
    return Cat(Cat(parts).any() if parts else C(0, 1) for parts in bits)


def port_name(register: Register, field: Field) -> str:
    """The name of a field's port."""
    return register.full_name(field).lower()


def _shape(field: Field) -> Shape:
    return signed(field.bits) if field.signed else unsigned(field.bits)


def _field_ports(register: Register, field: Field) -> list[tuple[str, wiring.Member]]:
    name, shape = port_name(register, field), _shape(field)
    match field.access:
        case Access.RO | Access.POP:
            return [(name, In(shape))]
        case Access.RW:
            return [(name, Out(shape, init=field.reset))]
        case Access.WO:
            return [(name, Out(shape))]
        case Access.W1C:
            return [(name, Out(1)), (f"{name}_event", In(1)), (f"{name}_clear", Out(1))]
        case Access.COUNTER:
            return [(f"{name}_event", In(1))]
    return []


def _ports(registers: RegisterMap) -> dict[str, wiring.Member]:
    """What a table has for ports."""
    found: list[tuple[str, wiring.Member]] = []
    for register in registers:
        name = register.name.lower()
        for field in register.fields:
            found += _field_ports(register, field)
        if any(field.access is Access.WO for field in register.fields):
            found.append((f"{name}_written", Out(1)))
        if register.pops:
            found.append((f"{name}_popped", Out(1)))
        if register.refuses:
            found.append((f"{name}_refused", In(1)))
        if register.count > 1:
            found.append((f"{name}_number", Out(range(register.count))))
    return dict(found)


class RegisterFile(wiring.Component):
    """Every register of a table, behind a bus of one access at a time.

    An access outside all registers is answered DECERR; one that reads what is only written, or
    writes what is only read, SLVERR; so is one that writes less than all bytes of a register that
    must be written whole, or that the hardware refuses. Such an access does nothing. Other writes
    write the bytes that are strobed; the two lowest bits of an address do not matter.

    Latency: ``latency`` clocks from a request to its answer; the next one may come with that. A
    write takes effect 4 clocks after its request, and is refused as ``refused`` was 2 clocks before
    that; what is read is the value 4 clocks after a request, 3 after an array's number shows.

    Parameters
    ----------
    registers : the table
    small : with few registers, for devices where one costs as much as a look-up table
        Requests must then hold until they are answered.

    Ports
    -----
    request, answer : streams, always ready
    <register>_<field>, <register> of a field VALUE :
        In of what is ro or pop, Out of rw and wo, and of w1c its flag.
    <field>_event : In, of what is w1c or a counter
    <field>_clear : Out, of what is w1c
        For one clock: the flag is cleared.
    <register>_written : Out, of what is wo
        For one clock, beside its fields.
    <register>_popped : Out, of what is pop
        For one clock: what its fields show is read.
    <register>_refused : In, of what refuses
    <register>_number : Out, of an array
    counting, clear_counters : In, with counters
        A cleared counter is 0 in the next clock, whatever happens.
    """

    request: stream.Interface
    answer: stream.Interface

    def __init__(self, registers: RegisterMap, *, small: bool = False):
        self.registers, self._small = registers, small
        counts = any(f.access is Access.COUNTER for r in registers for f in r.fields)
        super().__init__(
            {
                "request": In(pulse_stream(request_layout(registers.address_bits))),
                "answer": Out(pulse_stream(answer_layout())),
            }
            | _ports(registers)
            | ({"counting": In(1), "clear_counters": In(1)} if counts else {})
        )

    @property
    def latency(self) -> int:
        """Clocks from a request to its answer."""
        wide = any(register.width == 64 for register in self.registers)
        readable = sum(register.readable for register in self.registers)
        return 2 + LOOKUP + self._stages(readable + wide)

    def _stages(self, words: int) -> int:
        """Stages in which so many are joined, beside the answer's own register."""
        return 0 if self._small else stages(words)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        request = Signal(request_layout(self.registers.address_bits))
        step = Signal(self.latency - 1)
        m.d.sync += step.eq(Cat(self.request.valid, step))
        if self._small:
            m.d.comb += request.eq(self.request.payload)
        else:
            with m.If(self.request.valid):
                m.d.sync += request.eq(self.request.payload)

        hits = self._hits(m, request.address)
        code, writes = self._judged(m, request, hits, step[2])
        words = [
            self._register(m, register, request, written)
            for register, written in zip(self.registers, writes, strict=True)
        ]
        self._answer(m, request, hits, words, code, step)
        return m

    def _hits(self, m, address: Value) -> list[Signal]:
        """For each register whether the address is its own, from 2 clocks after a request."""
        hits = []
        for register in self.registers:
            hit = Signal(name=f"hit_{register.name.lower()}")
            span = exact_log2(1 << (register.size - 1).bit_length())
            inside = address[span:] == register.offset >> span
            if register.size != 1 << span:
                inside &= address[:span] < register.size
            m.d.sync += hit.eq(inside)
            if register.count > 1:
                number = getattr(self, f"{register.name.lower()}_number")
                m.d.comb += number.eq(address[exact_log2(register.stride) : span])
            hits.append(hit)
        return hits

    def _judged(self, m, request, hits, judging: Value) -> tuple[Value, list[Signal]]:
        """What becomes of an access, 4 clocks after its request; and which register it writes."""

        def among(holds) -> Signal:
            found = Signal()
            pairs = zip(self.registers, hits, strict=True)
            m.d.sync += found.eq(Cat(hit for register, hit in pairs if holds(register)).any())
            return found

        known, readable = among(lambda _: True), among(lambda register: register.readable)
        writable, whole = among(lambda r: r.writable), among(lambda r: r.whole)
        refused = Signal()
        m.d.sync += refused.eq(
            Cat(
                hit & getattr(self, f"{register.name.lower()}_refused")
                for register, hit in zip(self.registers, hits, strict=True)
                if register.refuses
            ).any()
        )
        code, permitted, partial = Signal(Answer), Signal(), Signal()
        m.d.sync += partial.eq(~request.strobe.all())
        m.d.comb += permitted.eq(
            Mux(request.write, writable & ~(whole & partial) & ~refused, readable)
        )
        with m.If(judging):
            wrong = Mux(known, Answer.SLVERR, Answer.DECERR)
            m.d.sync += code.eq(Mux(permitted, Answer.OKAY, wrong))
        writes = []
        for register, hit in zip(self.registers, hits, strict=True):
            written = Signal(name=f"{register.name.lower()}_write")
            if register.writable:
                m.d.sync += written.eq(judging & request.write & permitted & hit)
            writes.append(written)
            if register.pops:
                popped = getattr(self, f"{register.name.lower()}_popped")
                m.d.sync += popped.eq(judging & ~request.write & permitted & hit)
        return code, writes

    def _register(self, m, register: Register, request, written: Value) -> list:
        """Keep a register's fields, in the clock of ``written``; what is read of it.

        That is bit by bit, None where it is always 0.
        """
        strobes = Cat(strobe.replicate(8) for strobe in request.strobe)
        bits: list = [None] * register.width
        if any(field.access is Access.WO for field in register.fields):
            m.d.comb += getattr(self, f"{register.name.lower()}_written").eq(written)
        for field in register.fields:
            place = slice(field.lsb, field.lsb + field.bits)
            value = self._field(m, register, field, written, request.word[place], strobes[place])
            if field.access is Access.CONST:
                constant = field.encode(field.reset) >> field.lsb
                read = {n: value[n] for n in range(field.bits) if constant >> n & 1}
            elif field.access.readable:
                read = dict(enumerate(value))
            else:
                continue
            for number, bit in read.items():
                bits[field.lsb + number] = bit
        return bits

    def _field(self, m, register, field, written, given, strobed) -> Value:
        """Keep a field; what is read of it."""
        name = port_name(register, field)
        match field.access:
            case Access.CONST:
                return C(field.reset, _shape(field)).as_unsigned()
            case Access.COUNTER:
                count = Signal(field.bits, name=name)
                with m.If(self.clear_counters):
                    m.d.sync += count.eq(0)
                with m.Elif(self.counting & getattr(self, f"{name}_event")):
                    m.d.sync += count.eq(count + 1)
                return count
        value = getattr(self, name)
        match field.access:
            case Access.RW:
                for bit, strobe in enumerate(strobed):
                    with m.If(written & strobe):
                        m.d.sync += value[bit].eq(given[bit])
            case Access.WO:
                m.d.comb += value.eq(given)
                return C(0, field.bits)
            case Access.W1C:
                clear = getattr(self, f"{name}_clear")
                m.d.comb += clear.eq(written & given)
                stick(m, value, getattr(self, f"{name}_event"), clear)
        return value.as_unsigned()

    def _answer(self, m, request, hits, words, code, step):
        """Join what all registers read into one word, a few in each stage.

        Reading the low half of a wide register keeps the high half, which the word above is.
        """
        upper = request.address[exact_log2(BUS_BYTES)]
        sources, halves = [], []
        for register, hit, word in zip(self.registers, hits, words, strict=True):
            low = hit
            if register.width == 64:
                low = hit & ~upper
                halves.append((hit, word[32:]))
            if register.readable:
                sources.append((low, word[:32]))
        if halves:
            wide, high = Signal(), Signal(32)
            m.d.sync += wide.eq(Cat(hit for hit, _ in halves).any())
            sources.append((wide & upper, list(high)))
            kept = joined(m, halves, "high", staged=not self._small)
            clock = step[LOOKUP + self._stages(len(halves))]
            with m.If(clock & wide & ~upper & ~request.write):
                m.d.sync += high.eq(kept)
        read = joined(m, sources, "read", staged=not self._small)

        done, answer = step[-1], self.answer.payload
        with m.If(~request.write & (code == Answer.OKAY)):
            m.d.sync += answer.word.eq(read)
        with m.Else():
            m.d.sync += answer.word.eq(0)
        m.d.sync += [self.answer.valid.eq(done), answer.code.eq(code)]
