# SPDX-License-Identifier: Apache-2.0
"""What a core's streams bring and what its registers begin: positions, and words of images."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from ropeway.golden.core_parameters import CoreParameters
from ropeway.hdl.load_port import LoadPort
from ropeway.hdl.position_counter import PositionCounter
from ropeway.hdl.position_source import PositionSource

from .opened import Opened
from .order import in_order
from .proof import Bug, Proof
from .routers import CORE
from .rules import assume, before, cover, free, invariant, prove, sends, takes
from .slices import in_skid
from .units import ALIBI

__all__ = ["PROOFS"]

LOADED = CoreParameters(rope=CORE.rope, sinusoidal=CORE.sinusoidal, alibi=ALIBI)
APART = 4  # clocks between accesses at least; a bus leaves more
TAKES_EFFECT = 3  # clocks from where an access shows until it is made, unless refused


def position_source() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(PositionSource(CORE))
    chosen = dut.open("chosen")
    for port in (dut.i, dut.i_position, dut.i_counted):
        sends(m, port)
    takes(m, dut.o)
    takes(m, dut.o_position)
    carried = dut.carried
    m.d.comb += carried.eq(free(m, 1, "carried"))
    goes, first, placed = Signal(), Signal(init=1), Signal()
    m.d.comb += goes.eq(dut.i.valid & dut.i.ready)
    taken = chosen.i.valid & chosen.i.ready
    with m.If(goes):
        m.d.sync += [first.eq(dut.i.payload.beat.last), placed.eq(0)]
    with m.Elif(taken & carried):
        m.d.sync += placed.eq(1)
    assume(m, carried == before(m, carried), when=~first | before(m, dut.i.valid & ~dut.i.ready))

    # Packets leave as they came.
    prove(m, goes == (dut.o.valid & dut.o.ready))
    prove(m, Value.cast(dut.o.payload) == Value.cast(dut.i.payload.beat), when=dut.o.valid)

    # While carried, each packet brings one position, which is taken before its first beat leaves.
    prove(m, dut.i.valid & first & ~placed, when=taken & carried)
    prove(m, placed, when=dut.o.valid & first & carried)
    invariant(m, first == dut["begins"])
    invariant(m, placed == dut["placed"])
    invariant(m, first & before(m, dut.i.valid & ~dut.i.ready), when=placed)

    # Positions leave once each, in order: the packets', or the counter's before the stream's.
    counts, streams = (port.valid & port.ready for port in (dut.i_counted, dut.i_position))
    prove(m, taken == (counts | streams), when=~carried)
    prove(m, ~counts & ~streams, when=carried)
    prove(m, ~streams, when=dut.i_counted.valid)
    others = Mux(dut.i_counted.valid, dut.i_counted.payload, dut.i_position.payload)
    in_skid(m, chosen, Mux(carried, dut.i.payload.place, others))
    prove(m, Value.cast(dut.o_position.payload) == Value.cast(chosen.o.payload))
    cover(m, goes & carried & first & before(m, goes, 2), counts & before(m, streams))
    cover(m, goes & ~carried & before(m, taken & carried, 3))
    return m


def position_counter() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(PositionCounter(CORE))
    takes(m, dut.o)
    for port in (dut.first, dut.count, dut.start, dut.stop):
        m.d.comb += Value.cast(port).eq(free(m, len(Value.cast(port))))
    out, given = dut.o.payload, dut.o.valid & dut.o.ready
    place, bits = dut.first.shape(), len(out.position[0])
    begins = dut.start & ~dut.o.valid

    # The n-th position of a run is n more than the first, on every axis.
    base, number, total = Signal(place), Signal(bits), Signal(len(dut.count))
    with m.If(begins):
        m.d.sync += [Value.cast(base).eq(Value.cast(dut.first)), number.eq(0), total.eq(dut.count)]
    with m.Elif(given):
        m.d.sync += [number.eq(number + 1), total.eq(Mux(dut.stop, 0, total - 1))]
    with m.Elif(dut.stop & dut.o.valid):
        m.d.sync += total.eq(1)
    for axis in range(CORE.axes):
        position = (base.position[axis] + number)[:bits]
        prove(m, out.position[axis].as_unsigned() == position, when=dut.o.valid)
    for field in ("slot", "conjugate", "pure", "bypass"):
        prove(m, out[field] == base[field], when=dut.o.valid)

    # So many are given as are left; the last of them, or what it was made by a stop, ends the run.
    prove(m, dut.left == total)
    prove(m, dut.o.valid == (total != 0))
    prove(m, dut.ended == before(m, given & ((total == 1) | dut.stop)))
    few = dut["few"]
    invariant(m, dut["final"] == (total == 1), when=dut.o.valid)
    invariant(m, few | (total >= 3) | (total == 1), when=dut.o.valid)
    invariant(m, ~few | (total < 4), when=dut.o.valid)
    cover(m, dut.ended & (number == 5), dut.ended & before(m, dut.stop & ~given, 3))
    return m


def accesses(m: Module, port):
    """Access the port as registers do, each access refused by what was a clock after it showed."""
    shows, kinds = free(m, 1, "shows"), ("begin", "write", "abort")
    assume(m, ~Cat(before(m, shows, clocks) for clocks in range(1, APART)).any(), when=shows)
    kind, asked = free(m, 2, "kind"), (port.target, port.words, port.number, port.word)
    m.d.comb += [signal.eq(free(m, len(signal), signal.name)) for signal in asked]
    given = Cat(kind, *asked)
    assume(m, given == before(m, given), when=~shows)
    effective = before(m, shows, TAKES_EFFECT)
    for number, name in enumerate(kinds):
        made = effective & (kind == number)
        if name != "abort":
            made &= ~before(m, getattr(port, f"{name}_refused"), TAKES_EFFECT - 1)
        m.d.comb += getattr(port, name).eq(made)


def load_port() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(LoadPort(LOADED))
    accesses(m, dut)
    targets, fills = LOADED.load_targets, dut["fills"]

    # The image at hand: what it is for, its words written and left, and that it is given up.
    bits = len(dut.next)
    target, number, left = Signal(8), Signal(bits), Signal(bits)
    active, given_up, last, extra = Signal(), Signal(), Signal(), Signal(2)
    m.d.comb += last.eq((left == 1) ^ given_up)
    with m.If(dut.begin):
        m.d.sync += [target.eq(dut.target), number.eq(0), left.eq(dut.words)]
        m.d.sync += [active.eq(1), extra.eq(0)]
    with m.Elif(fills):
        m.d.sync += [number.eq(number + 1), left.eq(left - 1), extra.eq(extra + given_up)]
        m.d.sync += [active.eq(~last), given_up.eq(given_up & ~last)]
    with m.Elif(dut.abort & active):
        m.d.sync += [active.eq(number != 0), given_up.eq(number != 0)]
    prove(m, (dut.unfinished == active) & (dut.next == number))
    prove(m, extra < 2, when=fills & given_up)

    # What is written in order while nothing waits is taken; nothing else is.
    unknown = ~Cat(dut.target == n for n in targets).any()
    bad = ~active | given_up | dut.pending | (dut.number != number[: len(dut.number)])
    unfit = (dut.words == 0) | (dut.words >= 1 << bits)
    prove(m, dut.begin_refused == before(m, active | unknown | unfit))
    prove(m, dut.write_refused == before(m, bad))
    prove(m, fills == (dut.write | (given_up & ~dut.pending)))
    prove(m, active & ~given_up, when=dut.write)

    # Words leave once each, in order, to the unit of their image.
    valids = []
    for unit in LOADED.units:
        out = getattr(dut, f"o_{unit}")
        takes(m, out)
        mine = Cat(target == n for n, name in targets.items() if name == unit).any()
        slot = target[: len(out.payload.slot)] if unit == "rope" else ()
        item = Cat(Mux(given_up, 0, dut.word), slot, last)
        given = out.valid & out.ready
        order = in_order(m, fills & mine, item, out.valid, given, out.payload, 1)
        invariant(m, order.held == out.valid)
        order.place(0, out.payload)
        valids.append(out.valid)
    prove(m, dut.pending == Cat(valids).any())

    invariant(m, extra == (left == 0), when=active)
    registers_of_loads(m, dut, target, left, number, active, given_up)
    cover(m, fills & last & (number == 2) & ~given_up, fills & last & given_up & (extra == 1))
    cover(m, dut.begin & dut.pending)
    return m


def registers_of_loads(m, dut, target, left, number, active, given_up):
    """What induction needs to know of the port's registers."""
    invariant(m, dut["aborting"] == given_up)
    invariant(m, dut["final"] == before(m, dut["left"] == 1))
    invariant(m, dut["target"] == target, when=active)
    invariant(m, dut["left"] == left, when=active)
    invariant(m, Cat(target == n for n in LOADED.load_targets).any(), when=active)
    invariant(m, given_up, when=active & (left == 0))
    invariant(m, number + left < 1 << len(left), when=active)
    invariant(m, active & (number != 0), when=given_up)


PROOFS = [
    Proof(
        "position source",
        "Positions leave once each, in order. While carried, each packet brings one, which is taken"
        " before its first beat leaves, and no other is taken; else those of the counter go before"
        " those of the stream. Packets leave as they came.",
        position_source,
        (
            Bug(
                "hdl/position_source.py",
                "self.o.valid.eq(self.i.valid & ~brings)",
                "self.o.valid.eq(self.i.valid)",
            ),
            Bug(
                "hdl/position_source.py",
                "placed.eq(0), begins.eq(beat.last)",
                "begins.eq(beat.last)",
            ),
            Bug(
                "hdl/position_source.py",
                "self.i_position.ready.eq(chosen.i.ready)",
                "self.i_position.ready.eq(1)",
            ),
        ),
        given="`carried` is steady while a packet is on offer or under way.",
    ),
    Proof(
        "position counter",
        "A run gives so many positions, each one more than the last on every axis, and `ended`"
        " tells of its last; `left` counts them; one that is stopped gives the position on offer"
        " and no more.",
        position_counter,
        (
            Bug("hdl/position_counter.py", "few.eq(~self.left[2:].any())", "few.eq(1)"),
            Bug("hdl/position_counter.py", "self.start & ~self.o.valid", "self.start"),
            Bug("hdl/position_counter.py", "[final.eq(1), self.left.eq(1)]", "self.left.eq(1)"),
        ),
    ),
    Proof(
        "load port",
        "An image's words go to its target's unit, once each and in order, as many as it was to"
        " have and the last marked; one that is given up ends within two words more. What comes out"
        " of order, while a word waits or while there is no image is refused and changes nothing.",
        load_port,
        (
            Bug("hdl/load_port.py", "final.eq(left == 1)", "final.eq(left == 2)"),
            Bug("hdl/load_port.py", "| self.pending", ""),
            Bug("hdl/load_port.py", "Cat(whose == n for", "Cat(target == n for"),
            Bug("hdl/load_port.py", "ends.eq(final ^ aborting)", "ends.eq(final)"),
            Bug("hdl/load_port.py", "self.unfinished & ~aborting", "self.unfinished"),
        ),
        depth=20,
        reach=40,
        given=f"Accesses are {APART} clocks apart, and made {TAKES_EFFECT} clocks after they show.",
    ),
]
