# SPDX-License-Identifier: Apache-2.0
"""A unit's only geometry: its load is a barrier, and every position becomes the request it must."""

from amaranth.hdl import Cat, Module, Signal, Value

from ropeway.golden.table import identification
from ropeway.hdl.image_reader import ImageReader
from ropeway.hdl.learned_table import LearnedTable
from ropeway.hdl.position_gate import COUNTED

from .framing import ADDER
from .opened import Opened
from .order import in_order
from .proof import Bug, Proof
from .rules import assume, before, counter, cover, free, invariant, prove, sends, takes

__all__ = ["PROOFS", "any_digest"]

SCHEME, LIMIT = 7, 3  # an image's number, and its words at most
DIGESTED = 16  # clocks at least from an image's last word until it is digested


def image_reader() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(ImageReader(SCHEME, LIMIT))
    sends(m, dut.i_load)
    any_digest(m, dut)
    served = free(m, 1, "served")
    expected = free(m, len(dut.expected), "expected")
    m.d.comb += [dut.served.eq(served), dut.expected.eq(expected)]

    # Whatever is accepted while it is not closed is counted two clocks later.
    accepted, finished = free(m, 1, "accepted") & ~dut.closed, free(m, 1, "finished")
    users = counter(m, 4, accepted, finished, name="users")
    assume(m, users != 0, when=finished)
    assume(m, users != 15, when=accepted)
    m.d.comb += dut.idle.eq(before(m, users) == 0)
    load, word = dut.i_load, dut.i_load.payload
    taken = load.valid & load.ready
    prove(m, (users == 0) & ~accepted, when=taken)

    # From the first word until the verdict nothing is accepted.
    loading = Signal()
    with m.If(dut["judged"]):
        m.d.sync += loading.eq(0)
    with m.Elif(taken):
        m.d.sync += loading.eq(1)
    prove(m, dut.closed & ~dut.loaded, when=loading)
    prove(m, ~accepted, when=taken | loading)

    # The words come out in their order, numbered, no more than fit.
    number, count = Signal(8), Signal(8)
    with m.If(taken):
        m.d.sync += number.eq(number + 1)
        with m.If(word.last):
            m.d.sync += number.eq(0)
    assume(m, number != 255)
    prove(m, dut.valid == before(m, taken & (number < LIMIT)))
    prove(m, dut.word == before(m, word.word), when=dut.valid)
    prove(m, dut.index == before(m, number), when=dut.valid)
    with m.If(taken & word.last):
        m.d.sync += count.eq(number + 1)

    # The verdict: the scheme's image, as long as it says, and one that the unit serves.
    scheme, first = Signal(32), taken & (number == 0)
    with m.If(first):
        m.d.sync += scheme.eq(word.word)
    right = scheme == identification(SCHEME)
    good = before(m, right & served & (count == before(m, expected)), 1)
    verdict = before(m, dut["judged"])
    prove(m, dut.loaded == before(m, good), when=verdict)
    prove(m, dut.malformed == (verdict & ~before(m, good)))
    prove(m, dut.loaded == before(m, dut.loaded), when=~verdict & ~before(m, taken | loading))
    cover(m, dut.loaded & (users == 2), dut.malformed & (count == 5))
    return m


def any_digest(m: Module, dut: Opened):
    """Cut the digest out: after each image's last word it is done once, but not soon."""
    digest, wait, busy = dut.cut("digest"), Signal(range(DIGESTED)), Signal()
    ends, number = digest.valid & digest.last, digest.number
    m.d.comb += [digest.done.eq(free(m, 1, "done")), digest.fingerprint.eq(free(m, 64))]
    with m.If(ends):
        m.d.sync += [busy.eq(1), wait.eq(DIGESTED - 1), digest.final.eq(number)]
    with m.Elif(digest.done):
        m.d.sync += busy.eq(0)
    with m.If(digest.done):
        m.d.sync += number.eq(0)
    with m.Elif(digest.valid):
        m.d.sync += number.eq(number + 1)
    with m.If(wait != 0):
        m.d.sync += wait.eq(wait - 1)
    assume(m, busy & (wait == 0), when=digest.done)
    prove(m, ~busy, when=ends)


def table() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(LearnedTable(ADDER, 16))
    gate, reader = dut.open("gate"), dut.open("reader")
    any_digest(m, reader)
    for port in (dut.i, dut.i_load):
        sends(m, port)
    takes(m, dut.o)
    for port in (dut.fits, dut.barred, dut.finished):
        m.d.comb += port.eq(free(m, 1))
    accepted, given = dut.i.valid & dut.i.ready, dut.o.valid & dut.o.ready
    users = counter(m, 7, accepted, dut.finished, name="users")
    answered = counter(m, 7, given, dut.finished, name="answered")
    assume(m, (users != 0) & (answered != 0), when=dut.finished)
    assume(m, users < COUNTED - 1, when=accepted)

    # A geometry changes only when nothing uses it.
    prove(m, ~accepted & (users == 0), when=dut.i_load.valid & dut.i_load.ready)
    prove(m, ~accepted, when=dut.barred)
    rows, offset, width = dut["rows"], dut["offset"], dut["width"]
    geometry = Cat(rows, offset, width, dut.final, dut.loaded)
    prove(m, geometry == before(m, geometry), when=(users != 0) & before(m, users != 0))
    invariant(m, gate["unfinished"] == users)

    # Every position is one request, in order: its row, and whether there is one.
    item, out = Value.cast(dut.i.payload), dut.o.payload
    order = in_order(m, accepted, item, dut.o.valid, given, out.position.as_unsigned(), 17)
    invariant(m, users == answered + order.held)
    row = out.position + offset[: ADDER.position_bits - 1]
    exists = (row >= 0) & (row < rows.as_signed())
    prove(m, out.good == exists, when=dut.o.valid)
    prove(m, out.row == row.as_unsigned()[: len(out.row)], when=dut.o.valid & exists)
    cover(
        m, given & out.good & (rows == 3) & (out.row == 2), given & ~out.good & (out.position < 0)
    )
    return m


PROOFS = [
    Proof(
        "image reader",
        "A load is a barrier: its first word is taken when all that was accepted is finished, and"
        " nothing more is accepted until its verdict. Words come numbered, no more than fit;"
        " `loaded` and `malformed` are the verdict: the scheme's image, of its own length, that the"
        " unit serves.",
        image_reader,
        (
            Bug("hdl/image_reader.py", "COUNTED = 4", "COUNTED = 1"),
            Bug("hdl/image_reader.py", "~wrong & ~strange", "~wrong"),
        ),
        depth=24,
        reach=50,
        bounded=True,
    ),
    Proof(
        "learned table",
        "Every position is one request, in order, for row position + offset, `good` where there is"
        " such a row; none is accepted while barred or while a load is offered or taken; a geometry"
        " changes only while no token uses it.",
        table,
        (
            Bug("hdl/learned_table.py", "reader.closed | self.barred", "self.barred"),
            Bug("hdl/learned_table.py", "~summed & ~judged & ~self.o.valid", "~summed & ~judged"),
        ),
        depth=30,
        reach=60,
        bounded=True,
    ),
]
