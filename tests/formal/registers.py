# SPDX-License-Identifier: Apache-2.0
"""Buses to registers: every access is made once, and answered once, in its order."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from ropeway.hdl.axi_lite import AxiLite
from ropeway.hdl.register_bus import Answer
from ropeway.hdl.register_file import RegisterFile
from ropeway.hdl.wishbone import Wishbone
from tests.hdl.register_model import SAMPLE

from .opened import Opened
from .order import in_order
from .proof import Bug, Proof
from .rules import assume, before, cover, free, invariant, prove

__all__ = ["PROOFS"]

ADDRESS = 4  # bits


def answered(m: Module, dut) -> Signal:
    """Answer each access once, at any time after it; prove that there is one at a time."""
    pending = Signal()
    m.d.comb += [
        dut.answer.valid.eq(free(m, 1, "answers")),
        Value.cast(dut.answer.payload).eq(free(m, 34, "answer")),
    ]
    with m.If(dut.request.valid):
        m.d.sync += pending.eq(1)
    with m.Elif(dut.answer.valid):
        m.d.sync += pending.eq(0)
    assume(m, pending, when=dut.answer.valid)
    prove(m, ~pending | dut.answer.valid, when=dut.request.valid)
    return pending


def holds(m: Module, valid, ready, payload, rule):
    """AXI's rule of a channel: nothing after reset, and what is offered stays until it is taken."""
    waiting, started = before(m, valid & ~ready), before(m, 1)
    rule(m, ~valid, when=~started)
    rule(m, valid & (payload == before(m, payload)), when=waiting)


def axi_lite() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(AxiLite(ADDRESS))
    axi, request, answer = dut.s_axi, dut.request.payload, dut.answer.payload
    inputs = (
        "awaddr",
        "awvalid",
        "wdata",
        "wstrb",
        "wvalid",
        "bready",
        "araddr",
        "arvalid",
        "rready",
    )
    for name in inputs:
        port = getattr(axi, name)
        m.d.comb += port.eq(free(m, len(port), name))
    pending = answered(m, dut)
    written, responses = Cat(axi.wdata, axi.wstrb), Cat(axi.rresp, axi.rdata)
    holds(m, axi.awvalid, axi.awready, axi.awaddr, assume)
    holds(m, axi.wvalid, axi.wready, written, assume)
    holds(m, axi.arvalid, axi.arready, axi.araddr, assume)
    holds(m, axi.bvalid, axi.bready, axi.bresp, prove)
    holds(m, axi.rvalid, axi.rready, responses, prove)

    # Each address, and a write's data, is one access, in order.
    valid, word = dut.request.valid, Cat(request.word, request.strobe)
    writes, reads = valid & request.write, valid & ~request.write
    places = (axi.awvalid & axi.awready, axi.awaddr, writes, request.address, "place")
    words = (axi.wvalid & axi.wready, written, writes, word, "word")
    sources = (axi.arvalid & axi.arready, axi.araddr, reads, request.address, "source")
    for taken, item, goes, out, kept in (places, words, sources):
        order = in_order(m, taken, item, goes, goes, out, 1)
        full = dut["word_full" if kept == "word" else f"{kept}_full"]
        invariant(m, order.held == full)
        order.place(
            0, dut["word"] if kept == "word" else dut[kept if kept == "source" else "places"]
        )

    # Each access is one response on its own channel, with what came of it.
    kind = Signal()
    with m.If(valid):
        m.d.sync += kind.eq(request.write)
    ends, told = dut.answer.valid, Cat(answer.code, answer.word)
    b = in_order(m, ends & kind, answer.code, axi.bvalid, axi.bvalid & axi.bready, axi.bresp, 1)
    r = in_order(m, ends & ~kind, told, axi.rvalid, axi.rvalid & axi.rready, responses, 1)
    invariant(m, b.held == axi.bvalid)
    invariant(m, r.held == axi.rvalid)
    b.place(0, axi.bresp)
    r.place(0, responses)
    invariant(m, dut["waits"] == pending)
    invariant(m, kind == dut["writes"])
    invariant(m, ~axi.bvalid, when=pending & kind)
    invariant(m, ~axi.rvalid, when=pending & ~kind)

    # A read that a write went before goes before the next write.
    passed = Signal()
    m.d.sync += passed.eq((passed | (writes & dut["may_read"])) & ~reads)
    prove(m, ~writes, when=passed)
    invariant(m, dut["source_full"] & ~axi.rvalid, when=passed)
    invariant(m, Mux(pending, kind, axi.bvalid), when=passed)
    cover(m, axi.bvalid & axi.rvalid & axi.bready, writes & before(m, ends & ~kind))
    return m


def wishbone() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(Wishbone(ADDRESS))
    bus = dut.bus
    for name in ("cyc", "stb", "we", "adr", "sel", "dat_w"):
        port = getattr(bus, name)
        m.d.comb += port.eq(free(m, len(port), name))
    pending = answered(m, dut)
    asks, ends = bus.cyc & bus.stb, bus.ack | bus.err
    cycle = Cat(bus.we, bus.adr, bus.sel, bus.dat_w)
    assume(m, ~asks | (cycle == before(m, cycle)), when=before(m, asks & ~ends))

    # Each cycle is one access; it is ended once, by its own answer, unless it was given up.
    request, mine = dut.request.payload, Signal()
    asked = asks & ~ends
    with m.If(dut.request.valid):
        m.d.sync += mine.eq(1)
    with m.Elif(~asked):
        m.d.sync += mine.eq(0)
    prove(m, asked, when=dut.request.valid)
    prove(
        m,
        ~mine,
        when=dut.request.valid
        & before(m, asked)
        & before(m, mine & asked)
        & ~before(m, dut.answer.valid),
    )
    prove(m, ~(bus.ack & bus.err))
    answers, code = before(m, dut.answer.valid & mine & asked), before(m, dut.answer.payload.code)
    prove(m, bus.ack == (answers & (code == Answer.OKAY)))
    prove(m, bus.err == (answers & (code != Answer.OKAY)))
    prove(m, bus.dat_r == before(m, dut.answer.payload.word), when=bus.ack)
    prove(m, request.address == bus.adr << 2, when=dut.request.valid)
    prove(m, request.write == bus.we, when=dut.request.valid)
    prove(m, Cat(request.word, request.strobe) == Cat(bus.dat_w, bus.sel), when=dut.request.valid)
    invariant(m, dut["waits"] == pending)
    invariant(m, dut["held"] == mine)
    cover(m, bus.ack & bus.we, bus.err, before(m, pending & ~asked, 4) & bus.ack)
    return m


def register_file() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(RegisterFile(SAMPLE))
    request, latency = dut.request, dut.latency
    m.d.comb += [
        request.valid.eq(free(m, 1, "asks")),
        Value.cast(request.payload).eq(free(m, len(Value.cast(request.payload)), "request")),
    ]
    lately = sum(before(m, request.valid, clocks) for clocks in range(1, latency))
    assume(m, lately == 0, when=request.valid)
    prove(m, dut.answer.valid == before(m, request.valid, latency))
    answer, asked = dut.answer.payload, before(m, request.payload.address, latency)
    known = Cat((asked >= r.offset) & (asked < r.offset + r.size) for r in SAMPLE).any()
    prove(m, (answer.code == Answer.DECERR) == ~known, when=dut.answer.valid)
    prove(m, answer.word == 0, when=dut.answer.valid & (answer.code != Answer.OKAY))
    cover(m, dut.answer.valid & (answer.code == Answer.OKAY) & before(m, dut.answer.valid, latency))
    cover(m, dut.answer.valid & (answer.code == Answer.SLVERR))
    cover(m, dut.answer.valid & (answer.code == Answer.DECERR))
    return m


PROOFS = [
    Proof(
        "AXI4-Lite",
        "Every address, with a write's data, is one access, in order; every access one response on"
        " its channel, in order; responses hold; a read that a write went before goes before the"
        " next write.",
        axi_lite,
        (
            Bug(
                "hdl/axi_lite.py",
                "place_full & word_full & ~axi.bvalid & ~waits",
                "place_full & word_full & ~waits",
            ),
            Bug("hdl/axi_lite.py", "read.eq(may_read & ~write)", "read.eq(may_read)"),
            Bug("hdl/axi_lite.py", "(axi.bvalid & ~axi.bready) | (ended", "axi.bvalid | (ended"),
        ),
        given="The registers answer each access once.",
    ),
    Proof(
        "Wishbone",
        "Every cycle is one access, and is ended once by its own answer; one that is given up is"
        " not.",
        wishbone,
        (
            Bug("hdl/wishbone.py", "self.answer.valid & held & asked", "self.answer.valid & asked"),
            Bug("hdl/wishbone.py", "asked & ~waits)", "asked)"),
        ),
        given="The registers answer each access once.",
    ),
    Proof(
        "register file",
        "Every access is answered once, after its latency, with DECERR where it is outside all"
        " registers; an error reads as 0.",
        register_file,
        (
            Bug("hdl/register_file.py", "Mux(known, Answer.SLVERR", "Mux(readable, Answer.SLVERR"),
            Bug(
                "hdl/register_file.py",
                "step.eq(Cat(self.request.valid, step))",
                "step.eq(Cat(self.request.valid & ~self.request.payload.write, step))",
            ),
        ),
        depth=20,
        given="One access at a time.",
    ),
]
