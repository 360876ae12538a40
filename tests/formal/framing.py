# SPDX-License-Identifier: Apache-2.0
"""Packets meet their tokens one by one, whatever their length, in the framer and in the adder."""

from amaranth.hdl import Cat, Module, Value

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.adder import Adder
from ropeway.hdl.framer import Framer
from ropeway.hdl.packet_frame import PacketFrame
from ropeway.hdl.walker import buffer_depth

from .opened import Opened
from .proof import Bug, Proof
from .rules import assume, before, counter, cover, free, invariant, prove, sends

__all__ = ["ADDER", "PROOFS", "ROPE", "packets"]

ROPE = RopeParameters(
    lanes=1, data_bits=8, max_head_dim=4, slots=2, position_bits=8, generator="shared"
)
ADDER = AdderParameters(lanes=1, data_bits=8, max_width=8, position_bits=8)
LEADS, LAGS = 1, 3  # a packet that has ended before its token, and one that has not; modulo 4


def packets(m: Module, valid, ready, ends, goes, last, zero) -> Value:
    """Prove that a token's beats are its own packet's; returns packets ended less tokens ended.

    ``valid``, ``ready`` and ``ends`` are the packets' stream, ``ends`` that its beat is the last.
    ``goes`` is that a token's beat goes and is its ``last``; ``zero`` that it is made of nothing. A
    beat of a packet that is longer than its token goes nowhere.
    """
    taken = valid & ready
    lead = counter(m, 2, taken & ends, goes & last, name="lead")
    prove(m, lead != 2)
    prove(m, taken == (lead == 0), when=goes)
    prove(m, lead != LAGS, when=goes)
    prove(m, zero, when=goes & (lead == LEADS))
    prove(m, lead == LAGS, when=taken & ~goes)
    prove(m, ready, when=lead == LAGS)
    cover(m, goes & (lead == LEADS) & last, before(m, lead == LAGS) & (lead == 0) & goes)
    return lead


def framer() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(Framer(ROPE))
    sends(m, dut.i)
    m.d.comb += dut.consumed.eq(free(m, 1, "consumed"))

    # Any walker: it stands where it is until it is told to go on.
    walker = dut.cut("walker")
    said = Cat(Value.cast(walker.step), Value.cast(walker.exit))
    for port in (walker.valid, walker.step, walker.exit):
        m.d.comb += Value.cast(port).eq(free(m, len(Value.cast(port)), "walker"))
    held = before(m, walker.valid & ~walker.advance)
    assume(m, walker.valid & (said == before(m, said)), when=held)
    prove(m, walker.advance == (dut.write | ~walker.valid))
    prove(m, walker.valid, when=dut.write)

    words, given = Cat(*dut.words), dut.i.payload
    last = walker.exit.last
    lead = packets(m, dut.i.valid, dut.i.ready, given.last, dut.write, last, ~words.any())
    prove(m, words == Value.cast(given.data), when=dut.write & (lead == 0))
    bad = (lead != 0) | ~given.last
    prove(m, dut.exit.bad == (last & bad), when=dut.write)
    prove(m, dut.judged == before(m, dut.write & last))
    prove(m, dut.bad == before(m, bad), when=dut.judged)
    feeding, padding, dropping = (dut[name] for name in ("feeding", "padding", "dropping"))
    invariant(m, (lead == 0) == feeding)
    invariant(m, (lead == 1) == padding)
    invariant(m, (lead == 3) == dropping)

    # Beats are written one after the other, never into a full buffer.
    depth = buffer_depth(ROPE) - ROPE.max_head_beats
    written = counter(m, len(dut.address), dut.write, name="written")
    prove(m, dut.address == written)
    unread = counter(m, len(dut["room"]), dut.write, dut.consumed, name="unread")
    assume(m, unread != 0, when=dut.consumed)
    prove(m, unread <= depth)
    invariant(m, dut["room"] == depth - unread)
    invariant(m, unread <= depth - 2, when=dut["spacious"])
    cover(m, (unread == 2) & dut.judged & ~dut.bad)
    return m


def packet_frame() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(PacketFrame())
    for port in (dut.valid, dut.last, dut.present, dut.final, dut.room):
        m.d.comb += port.eq(free(m, 1))
    # A beat that is offered stays, and so does a partner.
    held = before(m, dut.valid & ~dut.ready)
    assume(m, dut.valid & (dut.last == before(m, dut.last)), when=held)
    held = before(m, dut.present & ~dut.goes)
    assume(m, dut.present & (dut.final == before(m, dut.final)), when=held)
    ends, goes, final = dut.last, dut.goes, dut.final
    lead = packets(m, dut.valid, dut.ready, ends, goes, final, dut.filling)
    prove(m, dut.present & dut.room, when=goes)
    prove(m, goes, when=dut.present & dut.room & dut.valid & (lead == 0))
    prove(m, goes, when=dut.present & dut.room & (lead == LEADS))
    prove(m, dut.filling == (lead == LEADS))
    prove(m, dut.spoilt == ((lead == LEADS) | ~ends), when=goes & final)
    invariant(m, dut["dropping"] == (lead == LAGS))
    return m


def adder() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(Adder(ADDER))
    depth, latency = dut["depth"], dut.latency - 2
    for port in (dut.i, dut.i_row):
        sends(m, port)
    for number in range(ADDER.beat_elements):
        dut.cut(f"lane_{number}")
    results, frame, row = dut.cut("results"), dut["frame"], dut.i_row.payload
    m.d.comb += [port.eq(free(m, 1)) for port in (results.o.valid, dut.o.ready)]
    goes = frame.goes
    prove(m, dut.i_row.ready == goes)
    prove(m, dut.i_row.valid & (dut.i.valid | frame.filling), when=goes)
    unread = counter(m, 7, goes, dut.o.valid & dut.o.ready, name="unread")
    assume(m, unread != 0, when=dut.o.valid)
    prove(m, unread <= depth - 1)
    invariant(m, dut["places"] == depth - 1 - unread)
    item, spoilt = results.i.payload, row.last & frame.spoilt
    prove(m, results.i.valid == before(m, goes, latency))
    prove(m, item.last == before(m, row.last, latency), when=results.i.valid)
    prove(m, item.error == before(m, row.error | spoilt, latency), when=results.i.valid)
    prove(m, dut.finished == before(m, goes & row.last))
    prove(m, dut.misframed == before(m, goes & spoilt))
    cover(m, unread == depth - 2, dut.misframed & before(m, frame.filling))
    return m


PROOFS = [
    Proof(
        "packet frame",
        "A partner's beat goes with its own packet's, with nothing where that has ended, and what"
        " is left of it is dropped; the next packet goes with the next partner; `spoilt` is that"
        " the two differ in length.",
        packet_frame,
        (
            Bug("hdl/packet_frame.py", "self.filling | self.last)", "self.last)"),
            Bug("hdl/packet_frame.py", "ends & ~self.filling & ~self.last", "ends & ~self.last"),
        ),
    ),
    Proof(
        "adder",
        "A beat goes with its row's, its result comes to the queue with its marks, and finds a"
        " place; tokens are counted once.",
        adder,
        (
            Bug("hdl/adder.py", "places > 2", "places != 0"),
            Bug(
                "hdl/adder.py", "waited(row.error | (row.last & frame.spoilt))", "waited(row.error)"
            ),
        ),
        depth=42,
        reach=45,
        given="The lanes are cut out; the queue gives what it was given.",
    ),
    Proof(
        "framer",
        "A token's beats are its packet's, zeros where that has ended, and what is left of it is"
        " dropped; the next packet goes with the next token; `bad` is that the two differ in"
        " length, and goes with the last beat. Beats are written one after the other, once each,"
        " never into a full buffer.",
        framer,
        (
            Bug("hdl/framer.py", "feeds & ~given.last & last", "0"),
            Bug("hdl/framer.py", "dropping & ~(drops & given.last)", "dropping & ~given.last"),
            Bug(
                "hdl/framer.py",
                "self.i.ready.eq(dropping | (goes & ~padding))",
                "self.i.ready.eq(goes & ~padding)",
            ),
            Bug("hdl/framer.py", "self.exit.bad.eq(last & bad)", "self.exit.bad.eq(bad)"),
        ),
        depth=12,
        given="The walker is any that stands until told to go on; no more beats are consumed than"
        " written.",
    ),
]
