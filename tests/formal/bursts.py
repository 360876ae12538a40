# SPDX-License-Identifier: Apache-2.0
"""Reading a table over AXI4: bursts that cover each row, and words that always find their place."""

from amaranth.hdl import Module, Signal, Value

from ropeway.hdl.row_bursts import PAGE, RowBursts
from ropeway.hdl.row_reader import BEATS, RowReader

from .framing import ADDER
from .opened import Opened
from .proof import Bug, Proof
from .rules import assume, before, constant, counter, cover, free, invariant, prove, sends, takes

__all__ = ["PROOFS"]

BUS, ADDRESS, WORDS = 256, 16, 200  # bits, bits, and words in a row: bursts of up to 128


def bursts() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(RowBursts(ADDRESS, BUS, WORDS))
    size = BUS // 8
    sends(m, dut.i)
    takes(m, dut.o)
    product = dut.cut("first")
    m.d.comb += [product.p.eq(free(m, len(product.p), "product")), dut.free.eq(free(m, 1, "free"))]
    words, base = constant(m, len(dut.words), "words"), constant(m, ADDRESS, "base")
    m.d.comb += [dut.words.eq(words), dut.base.eq(base), dut.stride.eq(1)]
    assume(m, (words != 0) & (words <= WORDS) & (base % size == 0))

    # The row at hand: where it begins is the multiplier's answer, two clocks after its number.
    begins = dut.i.valid & dut.i.ready
    start, done, active = Signal(ADDRESS), Signal(len(words) + 1), Signal()
    burst, given = dut.o.payload, dut.o.valid & dut.o.ready
    length = (burst.length + 1)[:9]
    with m.If(before(m, begins, 2)):
        m.d.sync += start.eq(base + (product.p.as_unsigned() << 5))
    with m.If(begins):
        m.d.sync += [done.eq(0), active.eq(1)]
    with m.Elif(given):
        m.d.sync += [done.eq(done + length), active.eq(done + length != words)]

    # Bursts follow each other through the row, to its end and no further, none over a page's end.
    prove(m, active, when=dut.o.valid)
    prove(m, burst.address == (start + done * size)[:ADDRESS], when=dut.o.valid)
    prove(m, done + length <= words, when=dut.o.valid)
    prove(m, (burst.address % PAGE) + length * size <= PAGE, when=dut.o.valid)
    prove(m, ~active, when=begins)
    full = (burst.address + length * size) % PAGE == 0
    prove(m, full | (done + length == words), when=dut.o.valid)

    # A place is reserved once a row, before its first burst.
    reserved = Signal()
    with m.If(begins):
        m.d.sync += reserved.eq(0)
    with m.Elif(dut.reserves):
        m.d.sync += reserved.eq(1)
    prove(m, reserved, when=dut.o.valid)
    prove(m, ~reserved & active & dut.free, when=dut.reserves)
    invariants_of_bursts(m, dut, words, start, done, active, reserved)
    cover(m, given & (done != 0) & (done + length == words), given & (length == 128))
    return m


def invariants_of_bursts(m, dut, words, start, done, active, reserved):
    step, left, address = dut["step"], dut["left"], dut["address"]
    accept, multiply, addressing, reserve, burst, answer, until = (step[i] for i in range(7))
    size = BUS // 8
    at = (start + done * size)[:ADDRESS]
    invariant(m, sum(step[i] for i in range(7)) == 1)
    invariant(m, active == ~accept)
    invariant(m, dut.o.valid == answer)
    invariant(m, done < words, when=active)
    invariant(m, left == words - done, when=active)
    invariant(m, start % size == 0, when=reserve | burst | answer | until)
    invariant(m, address == at, when=reserve | burst | answer | until)
    invariant(m, reserved, when=burst | answer | until)
    invariant(m, ~reserved & (done == 0), when=multiply | addressing | reserve)
    invariant(m, multiply == before(m, accept & dut.i.valid))
    invariant(m, addressing == before(m, multiply))
    distance = (128 - address[5:12])[:8]
    invariant(m, dut["until"] == distance, when=burst)
    further = distance < left
    length = dut["burst"]
    reach = Signal(9)
    m.d.comb += reach.eq(distance)
    with m.If(~further):
        m.d.comb += reach.eq(left)
    invariant(m, length == reach, when=answer)
    invariant(m, dut["ends"] == ~further, when=answer)


def reader() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(RowReader(ADDER, 4, 3, 2))
    sends(m, dut.i)
    beats = dut.cut("beats")  # it gives what it was given, in order
    m.d.comb += [port.eq(free(m, 1)) for port in (beats.o.valid, dut.o.ready)]
    final = constant(m, len(dut.final), "final")
    assume(m, final < ADDER.max_beats)
    m.d.comb += [dut.final.eq(final), dut.word.eq(free(m, len(dut.word), "word"))]

    # The beats of an order: final + 1 of them, two in a word of the memory, the last marked.
    taken, goes, ends = dut.i.valid & dut.i.ready, dut["goes"], dut["ends"]
    order, active, number = Signal(dut.i.payload.shape()), Signal(), Signal(len(final))
    with m.If(taken):
        m.d.sync += [Value.cast(order).eq(Value.cast(dut.i.payload)), active.eq(1), number.eq(0)]
    with m.Elif(goes):
        m.d.sync += [number.eq(number + 1), active.eq(number != final)]
    prove(m, active, when=goes)
    prove(m, dut.done == (goes & (number == final)))
    prove(m, ends | ~active, when=taken)
    prove(m, dut.address == (order.address + (number >> 1))[:4], when=goes)
    settled = before(m, 1, 2)
    invariant(m, dut["active"] == active)
    invariant(m, Value.cast(dut["beat"]) == number, when=active)
    invariant(m, dut["order"].error == order.error, when=active)
    invariant(m, dut["order"].address == (order.address + (number >> 1))[:4], when=active)
    invariant(m, dut["final"] == (number == final), when=active & settled)
    invariant(m, number <= final, when=active)

    # What has been read comes to the queue as it was read, and finds a place.
    unread = counter(m, 5, goes, dut.o.valid & dut.o.ready, name="unread")
    assume(m, unread != 0, when=dut.o.valid)
    prove(m, unread <= BEATS - 1)
    invariant(m, dut["places"] == BEATS - 1 - unread)
    item = beats.i.payload
    prove(m, beats.i.valid == before(m, goes, 3))
    prove(m, item.last == before(m, ends, 3), when=beats.i.valid)
    prove(m, item.error == before(m, order.error, 3), when=beats.i.valid)
    width = len(dut.word) // 2
    chosen = dut.word.word_select(before(m, number[0], 3), width)
    prove(m, Value.cast(item.data) == chosen, when=beats.i.valid)
    cover(m, taken & ends & (number == 2), unread == BEATS - 2)
    return m


PROOFS = [
    Proof(
        "row bursts",
        "A row's bursts follow each other from its first word to its last, each to the row's end or"
        " as far as its page and AXI allow, none over 4 KB; a row's place is reserved once, before"
        " them.",
        bursts,
        (
            Bug("hdl/row_bursts.py", "Mux(further, until, left)", "Mux(further, longest, left)"),
            Bug(
                "hdl/row_bursts.py",
                "self.o.payload.length.eq(burst - 1)",
                "self.o.payload.length.eq(burst)",
            ),
            Bug(
                "hdl/row_bursts.py",
                "step[Step.BURST] | (self.o.valid & ~self.o.ready)",
                "step[Step.BURST]",
            ),
        ),
        depth=14,
    ),
    Proof(
        "row reader",
        "An order is final + 1 beats, each from its word of the memory, the last marked; what is"
        " read comes to the queue as it was read, with its order's error, and finds a place.",
        reader,
        (
            Bug("hdl/row_reader.py", "places > 2", "places != 0"),
            Bug("hdl/row_reader.py", "beat == penultimate", "beat == self.final"),
        ),
        depth=26,
        given="The queue gives what it was given.",
    ),
]
