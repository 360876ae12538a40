# SPDX-License-Identifier: Apache-2.0
"""Phases from positions: position × increment modulo one turn, exactly, rounded once to 24 bits."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.generators import PIPELINED, SERIAL, SHARED, generator_interval
from ropeway.golden.sincos import PHASE_BITS
from ropeway.golden.table import INCREMENT_BITS

from .multipliers import Multiplier, ProductSum
from .serial_products import SerialProducts, serial_latency
from .streams import delayed, held, pulse_stream, strobes

__all__ = ["PhaseGenerator"]

# Both operands are cut into 16-bit limbs, which every family's multiplier takes. What a product
# adds below bit 16 of the sum can only decide a rounding that bit 23 decides, so the sum begins
# there.
LIMB = 16
SUM_BITS = INCREMENT_BITS - LIMB
HALF = 1 << INCREMENT_BITS - PHASE_BITS - 1


class PhaseGenerator(wiring.Component):
    """One phase a pair.

    ========= ============== ============== ===========
    form      latency        interval       multipliers
    ========= ============== ============== ===========
    pipelined 5              1              5
    shared    8              3              2
    serial    16 at 26 bits  15             none
    ========= ============== ============== ===========

    A shared or serial one's operands and tag stay as they are for ``interval`` clocks, or until the
    next ones; so does what comes out, or for two clocks at least.

    Ports
    -----
    i : stream of {position, increment, tag}, always ready; at most one every ``interval`` clocks
    o : stream of {phase, tag}
        The phase in units of 2^-24 turn.
    """

    def __init__(self, generator: str, position_bits: int, tag):
        self._generator = generator
        self.interval = generator_interval(generator, position_bits)
        # Digits enough that what is dropped of the product has gone with them.
        self._count = signed(max(position_bits + 1, INCREMENT_BITS - PHASE_BITS - 1))
        position = signed(max(position_bits, LIMB + 1) + 1)  # the negative of the lowest fits
        operands = {"position": position, "increment": INCREMENT_BITS, "tag": tag}
        super().__init__(
            {
                "i": In(pulse_stream(data.StructLayout(operands))),
                "o": Out(pulse_stream(data.StructLayout({"phase": PHASE_BITS, "tag": tag}))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a position and increment to their phase."""
        if self._generator == PIPELINED:
            return 5
        return 8 if self._generator == SHARED else serial_latency(self._count) + 1

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        forms = {PIPELINED: self._pipelined, SHARED: self._shared, SERIAL: self._serially}
        phase, tag, valid = forms[self._generator](m)
        m.d.comb += [
            self.o.payload.phase.eq(phase),
            Value.cast(self.o.payload.tag).eq(tag),
            self.o.valid.eq(valid),
        ]
        return m

    def _limbs(self, payload):
        """A position's low and high limb, and an increment's three."""
        position, increment = payload.position, payload.increment
        return (position[:LIMB], position[LIMB:].as_signed()), [
            increment[LIMB * i : LIMB * (i + 1)] for i in range(3)
        ]

    def _pipelined(self, m) -> tuple[Value, ...]:
        (p0, p1), increment = self._limbs(self.i.payload)
        products = {}
        for name, position, limb in (
            ("p0i0", p0, 0),
            ("p0i1", p0, 1),
            ("p0i2", p0, 2),
            ("p1i0", p1, 0),
            ("p1i1", p1, 1),
        ):
            multiplier = Multiplier(position.shape(), LIMB, relay=True)
            m.submodules[name] = multiplier
            m.d.comb += [multiplier.a.eq(position), multiplier.b.eq(increment[limb])]
            products[name] = multiplier.p

        # Two sums of two; the half that rounds goes where the second has no other addend.
        crossed, straight = Signal(SUM_BITS, reset_less=True), Signal(SUM_BITS, reset_less=True)
        high = Cat(products["p0i0"][LIMB : 2 * LIMB], products["p0i2"][:LIMB])
        m.d.sync += [
            crossed.eq(products["p0i1"] + products["p1i0"]),
            straight.eq(high + Cat(C(HALF >> LIMB, LIMB), products["p1i1"][:LIMB])),
        ]

        turn = Signal(SUM_BITS, reset_less=True)
        m.d.sync += turn.eq(crossed + straight)
        tag = delayed(m, Value.cast(self.i.payload.tag), self.latency, name="tag")
        valid = delayed(m, self.i.valid, self.latency, reset_less=False, name="valid")
        return turn[SUM_BITS - PHASE_BITS :], tag, valid

    def _shared(self, m) -> tuple[Value, ...]:
        """By columns: p0·i0, p0·i1 + p1·i0, p0·i2 + p1·i1, each 16 bits above the one before."""
        valid = strobes(m, self.i.valid, self.latency)
        (p0, p1), increment = self._limbs(self.i.payload)
        m.submodules.column = column = ProductSum(p0.shape(), LIMB, p1.shape(), LIMB, SUM_BITS)
        limb, below = Signal(LIMB), Signal(LIMB, reset_less=True)
        m.d.comb += limb.eq(Mux(valid[1], increment[1], Mux(valid[2], increment[2], increment[0])))
        m.d.sync += below.eq(Mux(valid[0] | valid[1], limb, 0))
        m.d.comb += [column.a.eq(p0), column.b.eq(limb), column.c.eq(p1), column.d.eq(below)]

        # What a column leaves goes with the next; the half that rounds, with the first.
        low, over = Signal(LIMB, reset_less=True), Signal(LIMB + 1, reset_less=True)
        total = Signal(SUM_BITS + 1)
        first, second, third = valid[column.latency : column.latency + 3]
        m.d.comb += total.eq(column.p.as_unsigned() + (over | Mux(first, HALF, 0)))
        m.d.sync += [low.eq(total), over.eq(Mux(first | second, total[LIMB:], 0))]

        # Bits 24 to 31 of the product come with the second column, the others with the third.
        middle = held(m, low[LIMB // 2 :], third, name="middle")
        high = held(m, low, valid[column.latency + 3], name="high")
        tag = Value.cast(self.i.payload.tag)
        for clock in (2, 5, 7):
            tag = held(m, tag, valid[clock], name=f"tag_{clock + 1}")
        return Cat(middle, high), tag, valid[-1]

    def _serially(self, m) -> tuple[Value, ...]:
        given = self.i.payload
        m.submodules.product = serial = SerialProducts(
            1,
            INCREMENT_BITS,
            self._count,
            drop=INCREMENT_BITS - PHASE_BITS,
            initial=HALF,
            modulo=INCREMENT_BITS,
        )
        m.d.comb += [
            serial.start.eq(self.i.valid),
            serial.count.eq(given.position),
            serial.factors[0].eq(given.increment),
        ]
        taken = held(m, Value.cast(given.tag), self.i.valid, name="taken")
        return (
            held(m, serial.products[0], serial.done, name="phase"),
            held(m, taken, serial.done, name="tag"),
            delayed(m, serial.done, 1, reset_less=False, name="valid"),
        )
