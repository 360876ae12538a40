# SPDX-License-Identifier: Apache-2.0
"""Packets pass whole: each goes where its token does, and comes back with ticket and verdict."""

from collections.abc import Iterator

from amaranth.hdl import Module, Signal, Value

from ropeway.hdl.beat_router import BeatRouter
from ropeway.hdl.core_layouts import ticket_layout
from ropeway.hdl.result_merger import ResultMerger
from ropeway.hdl.streams import connect

from .opened import Opened
from .proof import Bug, Proof
from .routers import CORE, PASSAGES, ROOMY, SLOTS, goes, queued
from .rules import assume, cover, free, invariant, prove, sends, takes

__all__ = ["PROOFS"]


def sides(dut, prefix: str) -> Iterator[tuple[int, object]]:
    """The streams of all passages that a block has, with their numbers."""
    for number, name in enumerate(PASSAGES):
        yield number, getattr(dut, f"{prefix}_{name}")


def routed(m: Module, dut: Opened, tickets: Opened, stored) -> Signal:
    """Let tokens and packets come in any way; returns whether a packet's next beat is its first."""
    sends(m, dut.i)
    sends(m, dut.i_order)
    assume(m, dut.i_order.payload.passage < len(PASSAGES), when=dut.i_order.valid)
    m.d.comb += dut.room.eq(tickets.room)
    first = Signal(init=1)
    with m.If(goes(dut.i)):
        m.d.sync += first.eq(dut.i.payload.last)
    invariant(m, dut["begins"] == first)
    invariant(m, stored <= ROOMY, when=dut["held"] & first)
    invariant(m, dut.i.valid & dut.i_order.valid, when=dut["held"])
    return first


def beat_router() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(BeatRouter(CORE))
    tickets, stored = queued(m, "tickets", ticket_layout(CORE), dut.o_ticket)
    m.d.comb += tickets.o.ready.eq(free(m, 1, "drains"))
    m.d.comb += Value.cast(dut.epochs).eq(free(m, len(Value.cast(dut.epochs)), "epochs"))
    first = routed(m, dut, tickets, stored)
    beat, token, beats = dut.i.payload, dut.i_order.payload, goes(dut.i)

    # A beat goes to its token's passage, as it is; the token stays until the last one has gone.
    for number, out in sides(dut, "o"):
        takes(m, out)
        named = token.passage == number
        prove(m, goes(out) == (beats & named))
        prove(m, Value.cast(out.payload) == Value.cast(beat)[:-1], when=out.valid)
        offers = dut.i.valid & dut.i_order.valid & (dut.room | ~first)
        prove(m, out.valid, when=offers & named)
    prove(m, dut.i_order.valid, when=beats)
    prove(m, goes(dut.i_order) == (beats & beat.last))

    # One ticket with the first beat, one verdict with the last.
    ticket, slot = dut.o_ticket.payload, token.slot
    prove(m, dut.o_ticket.valid == (beats & first))
    named = (ticket.passage == token.passage) & (ticket.slot == slot)
    prove(m, named, when=dut.o_ticket.valid)
    epoch = Value.cast(dut.epochs).word_select(slot, len(ticket.epoch))
    prove(m, ticket.epoch == epoch, when=dut.o_ticket.valid & (slot < len(SLOTS)))
    spoilt = Signal()
    with m.If(beats):
        m.d.sync += spoilt.eq(~beat.last & (spoilt | beat.partial))
    verdict = spoilt | beat.partial | token.unknown
    prove(m, dut.o_verdict.valid == (beats & beat.last))
    prove(m, dut.o_verdict.payload == verdict, when=dut.o_verdict.valid)
    prove(m, dut.incomplete == (beats & beat.last & (spoilt | beat.partial)))
    invariant(m, dut["partial"] == spoilt)
    invariant(m, ~spoilt, when=first)
    invariant(m, dut.i_order.valid, when=~first)

    cover(m, beats & beat.last & ~first & spoilt & ~beat.partial, beats & ~dut.room & first)
    return m


def result_merger() -> Module:
    m = Module()
    m.submodules.dut = dut = ResultMerger(CORE)
    sends(m, dut.i_ticket)
    sends(m, dut.i_verdict)
    takes(m, dut.o)
    ticket, out, given = dut.i_ticket.payload, dut.o.payload, goes(dut.o)
    assume(m, ticket.passage < len(PASSAGES), when=dut.i_ticket.valid)

    # A result goes as it came, from the passage of the ticket, which stays until its last beat.
    for number, result in sides(dut, "i"):
        sends(m, result)
        beat, named = result.payload, ticket.passage == number
        prove(m, goes(result) == (given & named))
        judged = dut.i_ticket.valid & (dut.i_verdict.valid | ~beat.last)
        prove(m, dut.o.valid == (result.valid & judged), when=named)
        error = beat.error | (beat.last & dut.i_verdict.payload)
        same = (Value.cast(out.data) == Value.cast(beat.data)) & (out.last == beat.last)
        prove(m, same & (out.error == error), when=dut.o.valid & named)
    prove(m, dut.i_ticket.valid, when=dut.o.valid)
    prove(m, (out.slot == ticket.slot) & (out.epoch == ticket.epoch), when=dut.o.valid)
    ends = given & out.last
    for port in (dut.i_ticket, dut.i_verdict):
        prove(m, goes(port) == ends)
    prove(m, dut.finished == ends)
    cover(m, ends & ~dut.i_rope.payload.error & out.error, given & ~out.last)
    return m


def verdicts() -> Module:
    m = Module()
    m.submodules.beats = beats = Opened(BeatRouter(CORE))
    m.submodules.results = results = ResultMerger(CORE)
    tickets, stored = queued(m, "tickets", ticket_layout(CORE), beats.o_ticket)
    judged, known = queued(m, "verdicts", 1, beats.o_verdict)
    first = routed(m, beats, tickets, stored)
    connect(m, tickets.o, results.i_ticket)
    connect(m, judged.o, results.i_verdict)
    for _, out in sides(beats, "o"):
        m.d.comb += out.ready.eq(free(m, 1, "takes"))
    for _, result in sides(results, "i"):
        sends(m, result)
    takes(m, results.o)

    # As many verdicts as tickets are on their way, or one fewer while a packet comes in.
    awaited, given = stored + tickets.o.valid, known + judged.o.valid
    prove(m, awaited == given + ~first)
    prove(m, goes(judged.o) == goes(tickets.o))
    invariant(m, stored <= ROOMY + 1)
    cover(m, (given == 3) & ~first, known == ROOMY, goes(judged.o) & judged.o.payload)
    return m


PROOFS = [
    Proof(
        "beat router",
        "A packet goes whole to the passage of the next token, which stays until its last beat. One"
        " ticket goes with the first beat and finds a place, one verdict with the last: whether any"
        " was partial or the slot does not exist; `incomplete` is the former.",
        beat_router,
        (
            Bug("hdl/beat_router.py", "self.room | ~begins | held", "self.room | ~begins"),
            Bug("hdl/beat_router.py", "ready.eq(goes & beat.last)", "ready.eq(goes & begins)"),
            Bug("hdl/beat_router.py", "partial | beat.partial |", "beat.partial |"),
            Bug(
                "hdl/beat_router.py",
                "partial.eq(~beat.last & (partial | beat.partial))",
                "partial.eq(partial | beat.partial)",
            ),
        ),
        depth=24,
        given="The order names passages that there are.",
    ),
    Proof(
        "result merger",
        "Results leave as they came, packet by packet in the tickets' order, each from its ticket's"
        " passage and with its slot and epoch; the last beat waits for the verdict and is marked"
        " where that says so; ticket and verdict go with it.",
        result_merger,
        (
            Bug("hdl/result_merger.py", "self.i_verdict.valid | ~beat.last", "C(1)"),
            Bug(
                "hdl/result_merger.py",
                "result.ready.eq(self.o.ready & judged)",
                "result.ready.eq(self.o.ready)",
            ),
            Bug(
                "hdl/result_merger.py",
                "(beat.last & self.i_verdict.payload)",
                "self.i_verdict.payload",
            ),
        ),
        given="Tickets name passages that there are.",
    ),
    Proof(
        "tickets and verdicts",
        "Between the routers each packet's verdict stands beside its own ticket, and finds a place"
        " though its queue is never asked for one.",
        verdicts,
        (
            Bug(
                "hdl/beat_router.py",
                "self.o_verdict.valid.eq(goes & beat.last)",
                "self.o_verdict.valid.eq(goes)",
            ),
            Bug(
                "hdl/result_merger.py",
                "self.i_ticket.ready.eq(ends)",
                "self.i_ticket.ready.eq(self.o.valid & self.o.ready)",
            ),
            Bug("hdl/beat_router.py", "ticket.valid.eq(goes & begins)", "ticket.valid.eq(goes)"),
        ),
        depth=14,
        given="The order names passages that there are; the passages give any results.",
    ),
]
