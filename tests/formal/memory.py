# SPDX-License-Identifier: Apache-2.0
"""Rows read ahead from external memory: none overwrites another, none is given too soon."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from ropeway.hdl.learned_memory import SLOTS, LearnedMemory

from .framing import ADDER
from .opened import Opened
from .proof import Bug, Proof
from .rules import assume, before, constant, counter, cover, free, invariant, keeps, prove, sends

__all__ = ["PROOFS"]

BITS = 4  # of a count of rows, modulo more than there are slots


def memory() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(LearnedMemory(ADDER, 16, 16))
    sends(m, dut.i)
    axi, bursts = dut.m_axi, dut.cut("bursts")
    reader, asked, buffer = dut.cut("reader"), dut.cut("asked"), dut.cut("buffer")
    final = constant(m, len(dut.final), "final")
    assume(m, final < ADDER.max_beats)
    m.d.comb += dut.final.eq(final)
    for port in (asked.o.valid, reader.i.ready, reader.done, bursts.reserves):
        m.d.comb += port.eq(free(m, 1))
    m.d.comb += Value.cast(asked.o.payload).eq(free(m, len(Value.cast(asked.o.payload))))
    keeps(m, asked.o, assume)
    m.d.comb += [axi.rvalid.eq(free(m, 1, "rvalid")), axi.rresp.eq(free(m, 2, "rresp"))]

    # Rows reserved, received, given to the reader and released: each after the one before.
    word, ends = Signal(len(final)), Signal()
    m.d.comb += ends.eq(axi.rvalid & (word == final))
    with m.If(axi.rvalid):
        m.d.sync += word.eq(Mux(ends, 0, word + 1))
    taken, good = asked.o.valid & asked.o.ready, asked.o.payload.good
    reading, waits = Signal(), Signal()
    with m.If(taken):
        m.d.sync += [reading.eq(1), waits.eq(good)]
    with m.Elif(reader.done):
        m.d.sync += reading.eq(0)
    assume(m, reading, when=reader.done)
    assume(m, ~reading | reader.done, when=reader.i.ready)
    reserved = counter(m, BITS, bursts.reserves, name="reserved")
    received = counter(m, BITS, ends, name="received")
    given = counter(m, BITS, taken & good, name="given")
    released = counter(m, BITS, reader.done & waits, name="released")
    assume(m, bursts.free, when=bursts.reserves)
    assume(m, reserved != received, when=axi.rvalid)

    def rows(first, last):
        return (first - last)[:BITS]

    prove(m, axi.rready)
    prove(m, rows(reserved, released) <= SLOTS)
    prove(m, rows(received, released) < SLOTS, when=axi.rvalid)
    prove(m, rows(before(m, received), given) != 0, when=taken & good)
    prove(m, buffer.write_enable == axi.rvalid)
    prove(m, buffer.write_address == Cat(word[:2], received[:2]), when=axi.rvalid)
    prove(m, reader.i.payload.address == given[:2] << 2, when=taken & good)
    prove(m, taken == (reader.i.valid & reader.i.ready))

    # A row with a bad response is marked, and no other.
    row, bad = constant(m, BITS, "row"), Signal()
    with m.If(axi.rvalid & (received == row)):
        m.d.sync += bad.eq(axi.rresp[1] | (bad & (word != 0)))
    marked = reader.i.payload.error
    prove(m, marked == bad, when=taken & good & (given == row))
    prove(m, marked, when=taken & ~good)
    prove(m, dut.bus_error == before(m, taken & good & marked))

    invariant(m, buffer.write_address == Cat(word[:2], received[:2]))
    invariant(m, reader.i.payload.address == given[:2] << 2)
    held = rows(reserved, released)
    invariant(m, dut["free"] == SLOTS - held)
    invariant(m, rows(received, released) <= held)
    invariant(m, rows(given, released) == (reading & waits))
    invariant(m, dut["holds"] == waits, when=reading)
    invariant(m, dut["whole"] == rows(before(m, received), given))
    invariant(m, rows(given, released) <= rows(received, released))
    invariant(m, rows(before(m, received), given) <= SLOTS)
    invariant(m, word <= final)
    invariant(m, (rows(reserved, received) != 0) | (word == 0))
    begun = rows(received, row) == 0
    present = (rows(row, released) < rows(received, released)) | (begun & (word != 0))
    invariant(m, dut["failed"].bit_select(row[:2], 1) == bad, when=present)
    cover(m, (held == SLOTS) & (rows(received, given) == 3), taken & good & marked)
    return m


PROOFS = [
    Proof(
        "learned memory",
        "No word comes without a place: `rready` holds, a row is written to a slot that no unread"
        " row has, read when it is whole, and marked if and only if a response was bad.",
        memory,
        (
            Bug("hdl/learned_memory.py", "order.o.valid & (~good | (whole != 0))", "order.o.valid"),
            Bug("hdl/learned_memory.py", "reader.done & holds", "reader.done"),
            Bug(
                "hdl/learned_memory.py",
                "bad | (failed[number] & (word != 0))",
                "bad | failed[number]",
            ),
        ),
        given="The memory answers only what was asked of it; bursts, reader and queue keep to their"
        " own proofs.",
    ),
]
