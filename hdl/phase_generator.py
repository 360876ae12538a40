# SPDX-License-Identifier: Apache-2.0
"""Phases from positions: position × increment modulo one turn, exactly, rounded once to 24 bits."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.sincos import PHASE_BITS
from ropeway.golden.table import INCREMENT_BITS

from .primitives import Multiplier
from .streams import delayed, pulse_stream

__all__ = ["PhaseGenerator"]

# Both operands are cut into 16-bit limbs, which every family's multiplier takes. What a product
# adds below bit 16 of the sum can only decide a rounding that bit 23 decides, so the sum begins
# there.
LIMB = 16
SUM_BITS = INCREMENT_BITS - LIMB
HALF = 1 << INCREMENT_BITS - PHASE_BITS - 1 - LIMB


class PhaseGenerator(wiring.Component):
    """One phase a pair: pipelined with five multipliers, or compact with one.

    ========= ======= ======== ===========
    form      latency interval multipliers
    ========= ======= ======== ===========
    pipelined 4       1        5
    compact   8       5        1
    ========= ======= ======== ===========

    With ``relay`` the products pass a register more, and latency is a clock more.

    Ports
    -----
    i : stream of {position, increment, tag}, always ready; at most one every ``interval`` clocks
    o : stream of {phase, tag}
        The phase in units of 2^-24 turn.
    """

    def __init__(self, p: RopeParameters, tag, *, relay: bool = False):
        self._p, self._relay = p, relay
        position = signed(max(p.position_bits, LIMB + 1) + 1)  # the negative of the lowest fits
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
        return (8 if self._p.compact else 4) + self._relay

    @property
    def interval(self) -> int:
        """Clocks a phase."""
        return self._p.generator_interval

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        phase = self._compact(m) if self._p.compact else self._pipelined(m)
        tag = delayed(m, Value.cast(self.i.payload.tag), self.latency, name="tag")
        m.d.comb += [
            self.o.payload.phase.eq(phase),
            Value.cast(self.o.payload.tag).eq(tag),
            self.o.valid.eq(delayed(m, self.i.valid, self.latency, reset_less=False, name="valid")),
        ]
        return m

    def _limbs(self, payload):
        """A position's low and high limb, and an increment's three."""
        position, increment = payload.position, payload.increment
        return (position[:LIMB], position[LIMB:].as_signed()), [
            increment[LIMB * i : LIMB * (i + 1)] for i in range(3)
        ]

    def _pipelined(self, m) -> Value:
        (p0, p1), increment = self._limbs(self.i.payload)
        products = {}
        for name, position, limb in (
            ("p0i0", p0, 0),
            ("p0i1", p0, 1),
            ("p0i2", p0, 2),
            ("p1i0", p1, 0),
            ("p1i1", p1, 1),
        ):
            multiplier = Multiplier(position.shape(), LIMB, relay=self._relay)
            m.submodules[name] = multiplier
            m.d.comb += [multiplier.a.eq(position), multiplier.b.eq(increment[limb])]
            products[name] = multiplier.p

        # Two sums of two; the half that rounds goes where the second has no other addend.
        crossed, straight = Signal(SUM_BITS, reset_less=True), Signal(SUM_BITS, reset_less=True)
        high = Cat(products["p0i0"][LIMB : 2 * LIMB], products["p0i2"][:LIMB])
        m.d.sync += [
            crossed.eq(products["p0i1"] + products["p1i0"]),
            straight.eq(high + Cat(C(HALF, LIMB), products["p1i1"][:LIMB])),
        ]

        turn = Signal(SUM_BITS, reset_less=True)
        m.d.sync += turn.eq(crossed + straight)
        return turn[SUM_BITS - PHASE_BITS :]

    def _compact(self, m) -> Value:
        # The low limb is taken as signed, and what that takes away goes to the high one: so that
        # one multiplier of 16 × 16 bits does for both.
        position = self.i.payload.position
        low, high = position[:LIMB].as_signed(), position[LIMB:].as_signed() + position[LIMB - 1]
        widest = signed(max(LIMB, len(high)))
        m.submodules.multiplier = multiplier = Multiplier(widest, LIMB, relay=self._relay)
        limbs = [Signal(widest, name=f"position_{i}", reset_less=True) for i in range(2)]
        increment = Signal(INCREMENT_BITS, reset_less=True)
        step = Signal(range(5), init=4)
        with m.If(self.i.valid):
            m.d.sync += [limbs[0].eq(low), limbs[1].eq(high), step.eq(0)]
            m.d.sync += increment.eq(self.i.payload.increment)
        with m.Elif(step != 4):
            m.d.sync += step.eq(step + 1)
        with m.Switch(step):
            for number, (limb, other) in enumerate(((0, 0), (0, 1), (1, 0), (0, 2), (1, 1))):
                with m.Case(number):
                    m.d.comb += [
                        multiplier.a.eq(limbs[limb]),
                        multiplier.b.eq(increment.word_select(other, LIMB)),
                    ]

        # The step whose product comes out of the multiplier now.
        arrived = delayed(m, step, multiplier.latency, name="step")
        turn = Signal(SUM_BITS, reset_less=True)
        product = multiplier.p
        with m.Switch(arrived):
            with m.Case(0):
                m.d.sync += turn.eq(product[LIMB:].as_signed() + HALF)
            with m.Case(1, 2):
                m.d.sync += turn.eq(turn + product)
            with m.Default():
                m.d.sync += turn.eq(turn + (product[:LIMB] << LIMB))
        return turn[SUM_BITS - PHASE_BITS :]
