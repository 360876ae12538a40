# SPDX-License-Identifier: Apache-2.0
"""Rotation rows: as many as there is room for, every pair once, and whole before they are read."""

from dataclasses import replace
from functools import partial

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from ropeway.golden.generators import PIPELINED, SHARED
from ropeway.hdl.query_rows import QueryRows
from ropeway.hdl.rotation_row import RotationRow, notice
from ropeway.hdl.row_generator import RowGenerator

from .framing import ROPE
from .opened import Opened
from .proof import Bug, Proof
from .rules import assume, before, counter, cover, free, invariant, prove, sends, takes

__all__ = ["PROOFS"]

WIDE = replace(ROPE, lanes=2, max_head_dim=16)
TEMPERED = replace(ROPE, temperature=True)


def generator(form: str) -> Module:
    m = Module()
    p = replace(WIDE, generator=form, rows=2)
    m.submodules.dut = dut = Opened(RowGenerator(p))
    for name in ("phase", "sincos", "amplitude"):  # numbers alone: they never wait
        dut.cut(name)
    sends(m, dut.i)
    job = dut.i.payload
    assume(m, job.pairs.single == (job.pairs.final == 0), when=dut.i.valid)
    assume(m, job.pairs.double == (job.pairs.final == 1), when=dut.i.valid)
    m.d.comb += [
        dut.released.eq(free(m, 1, "released")),
        dut.pair.eq(free(m, len(dut.pair.as_value()))),
        dut.coming_slot.eq(free(m, len(dut.coming_slot))),
    ]

    assume(m, before(m, dut.coming_slot) == job.position.slot, when=dut.i.valid)
    assume(m, dut.coming_slot == job.position.slot, when=dut.i.valid)

    # No more rows than there are places for.
    begins = dut.i.valid & dut.i.ready
    rows = counter(m, 4, begins, dut.released, name="rows")
    assume(m, rows != 0, when=dut.released)
    prove(m, rows <= p.rows)
    invariant(m, dut["free"] == p.rows - rows)
    invariant(m, dut["free"] != 0, when=dut["spare"])

    # Every pair of a job once, in order, and asked of the table two clocks ahead.
    active, tag = Signal(), dut["tag"]  # while a job's pairs are to go
    pair_goes = active & dut["tick"]
    m.d.sync += active.eq(begins | (active & ~(pair_goes & tag.last)))
    number, final, slot = Signal(4), Signal(4), Signal.like(job.position.slot)
    with m.If(begins):
        m.d.sync += [number.eq(0), final.eq(job.pairs.final), slot.eq(job.position.slot)]
    with m.Elif(pair_goes):
        m.d.sync += number.eq(number + 1)
    prove(m, before(m, dut.pair_number, 2) == number, when=active)
    prove(m, before(m, dut.pair_slot, 2) == slot, when=active)
    prove(m, tag.last == (number == final), when=pair_goes)
    prove(m, ~active | (pair_goes & tag.last), when=begins)

    # It is begun when the table answers, and stays for an interval.
    starts, age = begins | (pair_goes & ~tag.last), Signal(range(p.generator_interval + 1))
    with m.If(starts | active):
        m.d.sync += age.eq(Mux(starts, 1, age + 1))
    prove(m, dut["valid"] == before(m, starts))
    prove(m, pair_goes == (age == p.generator_interval), when=active)
    if p.generator_interval > 1:
        invariant(m, dut["wait"] == p.generator_interval - age, when=active)
        invariant(m, dut["wait"] < p.generator_interval)
    invariant(m, age != 0, when=active)
    invariant(m, number <= final, when=active)
    ends = pair_goes & tag.last
    invariant(m, dut["idle"] == (~active | ends))
    if p.generator_interval == 1:
        left = (final - number)[: len(dut["left"])]
        asked = Mux(dut["idle"] | (left == 1), 0, number + 2)  # of the pair after what goes
        invariant(m, dut["begun"] == before(m, begins))
        invariant(m, dut["number"] == Mux(dut["begun"], 2, asked))
        invariant(m, dut["left"] == left, when=~dut["idle"])
        invariant(m, dut["last"] == (left == 1), when=~dut["idle"])
    else:
        late = active & (age > 1)
        asked = Mux(tag.last, 0, number + 1)
        invariant(m, dut["number"] == Mux(late, asked, Mux(active, number, 0)))
        invariant(m, dut["asks_next"] == (~active | (late & tag.last)))
        invariant(m, dut["kept"] == final, when=active)
    invariant(m, tag.slot == slot, when=active)
    invariant(m, tag.last == (number == final), when=active)
    cover(m, pair_goes & (number == 2) & tag.last, begins & active & (rows == 1))
    return m


def row() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(RotationRow(WIDE))
    for lane in range(WIDE.lanes):
        dut.cut(f"lane_{lane}")
    soon = free(m, 1, "soon")
    valid = before(m, soon, notice(WIDE))
    last = free(m, 1, "last")
    m.d.comb += [dut.soon.eq(soon), dut.i.valid.eq(valid), dut.i.payload.last.eq(last & valid)]
    pair = Signal(range(WIDE.max_pairs))
    ends = valid & last
    with m.If(valid):
        m.d.sync += pair.eq(pair + 1)
    with m.If(ends):
        m.d.sync += pair.eq(0)
    lane = pair[0]
    assume(m, lane, when=ends)
    assume(m, ends, when=valid & pair.all())
    number = counter(m, 3, ends, name="number")
    told = Signal()  # whether the pair that is told of is an entry's last
    m.d.sync += told.eq(told ^ soon)
    prove(m, dut.written == before(m, soon & told))
    prove(m, dut["enables"] == Cat(valid & ~lane, valid & lane))
    prove(m, dut["address"] == Cat(pair[1:], number[:2]), when=valid)
    invariant(m, dut["pair"] == pair)
    invariant(m, dut["row"] == number[:2])
    invariant(m, dut.driven("lane") == told)
    on_their_way = [before(m, soon, clocks) for clocks in range(1, notice(WIDE))]
    invariant(m, told == (pair + valid + sum(on_their_way))[0])
    cover(m, dut.written & (pair == 3) & (number == 3))
    return m


def queries() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(QueryRows(TEMPERED))
    sends(m, dut.i)
    takes(m, dut.o)
    job, out = dut.i.payload, dut.o.payload
    pairs, given = job.pairs, dut.o.valid & dut.o.ready
    hot = Value.cast(job.position.temperature).any()
    tempered = hot & pairs.queries
    assume(m, pairs.repeat != 0, when=dut.i.valid)

    # The rows of a job: queries and others by turns, or queries alone; one where it is untempered.
    number = Signal(9)
    with m.If(given):
        m.d.sync += number.eq(number + 1)
    with m.If(dut.i.valid & dut.i.ready):
        m.d.sync += number.eq(0)
    wanted = Signal(9)
    m.d.comb += wanted.eq(1)
    with m.If(tempered):
        m.d.comb += wanted.eq(pairs.repeat << pairs.others)
    prove(m, dut.i.ready == (dut.o.ready & (number == wanted - 1)), when=dut.i.valid)
    prove(m, dut.o.valid == dut.i.valid)
    prove(m, out.pairs == job.pairs)
    warm = tempered & (~pairs.others | ~number[0])
    temperature = Value.cast(out.position.temperature)
    prove(m, temperature == Value.cast(job.position.temperature), when=dut.o.valid & warm)
    prove(m, temperature == 0, when=dut.o.valid & ~warm)
    invariant(m, number < wanted, when=dut.i.valid)
    invariant(m, number == 0, when=~dut.i.valid)
    group, others = dut["group"], dut["others"]
    invariant(m, others == (tempered & pairs.others & number[0]), when=dut.i.valid)
    invariant(m, ~others, when=~dut.i.valid)
    invariant(m, group == 1 + (number >> (pairs.others & tempered)), when=dut.i.valid)
    invariant(m, group == 1, when=~dut.i.valid)
    cover(m, dut.i.valid & dut.i.ready & (number == 5), given & (number == 0) & ~tempered)
    return m


PROOFS = [
    *(
        Proof(
            f"row generator, {form}",
            "No more rows are begun than are free; a job's pairs go once each, in order, the last"
            " marked, and the table is asked for the pair that is to go and while it does.",
            partial(generator, form),
            bugs,
            depth=16,
            given="No more rows are released than begun. Phase, sine and amplitude are cut out.",
        )
        for form, bugs in (
            (
                PIPELINED,
                (
                    Bug("hdl/row_generator.py", "(free != 0) & ~begins", "free != 0"),
                    Bug(
                        "hdl/row_generator.py",
                        "Mux(last | next_last, 0, number + 1)",
                        "number + 1",
                    ),
                ),
            ),
            (
                SHARED,
                (
                    Bug("hdl/row_generator.py", "(free != 0) & ~begins", "~begins"),
                    Bug("hdl/row_generator.py", "number == kept", "number + 1 == kept"),
                ),
            ),
        )
    ),
    Proof(
        "rotation row",
        "Pair i of row n stands in entry i div lanes, lane i mod lanes, of place n mod rows, and"
        " `written` is that an entry's last pair is told of, a clock later.",
        row,
        (
            Bug("hdl/rotation_row.py", "row.eq(row + 1)", "row.eq(row)"),
            Bug("hdl/rotation_row.py", "lane == p.lanes - 1", "lane == 0"),
        ),
        depth=12,
        given="A row is a whole number of entries, and `soon` is its notice ahead of a pair.",
    ),
    Proof(
        "query rows",
        "A tempered job gives a row for the queries and one for the others of each group, any other"
        " job one row; valid and payload hold.",
        queries,
        (
            Bug(
                "hdl/query_rows.py",
                "others.eq(several & pairs.others & ~others)",
                "others.eq(several & ~others)",
            ),
            Bug(
                "hdl/query_rows.py",
                "self.o.valid.eq(self.i.valid)",
                "self.o.valid.eq(self.i.valid & ~last)",
            ),
        ),
    ),
]
