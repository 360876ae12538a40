# SPDX-License-Identifier: Apache-2.0
"""The lane of bf16 and fp16 embeddings: adds one row's word to an element, rounded once."""

from amaranth import *
from amaranth.lib import data, wiring

from ropeway.golden.adder import SCALE_FRACTION_BITS, SCALE_ONE
from ropeway.golden.adder_parameters import AdderParameters

from .adder_layouts import lane_ports
from .float_layouts import classified, number_layout, parted
from .float_rounder import FloatRounder
from .float_row import FloatRow
from .float_sum import FloatSum
from .layouts import special_layout
from .multipliers import Multiplier
from .streams import delayed

__all__ = ["FloatAdderLane"]


class FloatAdderLane(wiring.Component):
    """The word nearest to element · scale + row word, as golden/float_addition.py has it.

    Latency: see ``latency``; an element every clock. Product and sum are exact as far as rounding
    can tell. What passes takes the same way, as a number whatever its exponent, beside a zero.

    Parameters
    ----------
    p : the adder's
    row_bits : of a row's word
    row_fraction_bits : of one that is an integer; None where it is a word of the format

    Ports
    -----
    element, word : In, signed
    passes : In
        The element comes out bit for bit.
    scale : In, with ``scaled``
        Steady.
    o : Out, signed
    saturated : Out
        A finite sum became infinite.
    """

    element: Signal
    word: Signal
    passes: Signal
    scale: data.View
    o: Signal
    saturated: Signal

    interval = 1

    def __init__(self, p: AdderParameters, row_bits: int, row_fraction_bits: int | None):
        assert p.floating is not None
        self._p, self._format = p, p.floating
        significand = p.floating.fraction_bits + 1
        self._product = self._row = None
        if p.scaled:
            self._product = Multiplier(significand, SCALE_FRACTION_BITS + 1, relay=True)
            significand = len(self._product.p)
        if row_fraction_bits is not None:
            self._row = FloatRow(p.floating, row_bits, row_fraction_bits)
            significand = max(significand, row_bits)
        self._sum = FloatSum(p.floating.exponent_bits + p.scaled, significand)
        self._rounder = FloatRounder(p.floating, len(self._sum.magnitude))
        super().__init__(lane_ports(p, row_bits))

    @property
    def _element_clocks(self) -> int:
        """Clocks that an element takes to its number."""
        return 1 + (self._product.latency if self._product else 0)

    @property
    def _row_clocks(self) -> int:
        """Clocks that a row's word takes to its number."""
        return 1 + (self._row.latency if self._row else 0)

    @property
    def _taking(self) -> int:
        """Clocks until both are numbers."""
        return max(self._element_clocks, self._row_clocks)

    @property
    def latency(self) -> int:
        """Clocks from an element to its sum."""
        return self._taking + self._sum.latency + self._rounder.latency

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.sum = total = self._sum
        m.submodules.rounder = rounder = self._rounder
        wait = self._taking - self._element_clocks
        self._take_element(
            m,
            delayed(m, self.element, wait, name="element"),
            delayed(m, self.passes, wait, name="as_word"),
        )
        wait = self._taking - self._row_clocks
        self._take_row(
            m,
            delayed(m, self.word, wait, name="word"),
            delayed(m, self.passes, wait, name="no_row"),
        )
        beside = self._taking + total.latency
        m.d.comb += [
            rounder.magnitude.eq(total.magnitude),
            rounder.negative.eq(total.negative),
            rounder.reach.eq(total.exponent),
            rounder.passes.eq(delayed(m, self.passes, beside, name="passes")),
            rounder.special.eq(self._special(m, beside)),
            self.o.eq(rounder.word.as_signed()),
            self.saturated.eq(rounder.overflow),
        ]
        return m

    def _take_element(self, m, element, passes):
        """Into its parts, and with a multiplier times the scale."""
        sign, exponent, significand = parted(self._format, element)
        shape = number_layout(self._format.exponent_bits, len(significand))
        number, out = Signal(shape, reset_less=True), self._sum.one
        m.d.sync += [
            number.negative.eq(sign),
            number.exponent.eq(exponent),
            number.significand.eq(significand),
        ]
        if not self._product:
            m.d.comb += [
                out.negative.eq(number.negative),
                out.exponent.eq(number.exponent),
                _at_top(out.significand, number.significand),
            ]
            return

        # The product's top bit is one above the element's.
        m.submodules.product = product = self._product
        as_is, waits = delayed(m, passes, 1, name="unscaled"), product.latency
        raised = Signal.like(out.exponent, reset_less=True)
        m.d.sync += raised.eq(number.exponent + 1 + Mux(as_is, 0, self.scale.exponent))
        m.d.comb += [
            product.a.eq(number.significand),
            product.b.eq(Mux(as_is, SCALE_ONE, self.scale.code)),
            out.negative.eq(delayed(m, number.negative, waits, name="negative")),
            out.exponent.eq(delayed(m, raised, waits - 1, name="exponent")),
            _at_top(out.significand, product.p),
        ]

    def _take_row(self, m, word, passes):
        """Into a number, zero for an element that passes."""
        out, wanted = self._sum.other, Signal.like(self.word, reset_less=True)
        m.d.sync += wanted.eq(Mux(passes, 0, word))
        if self._row is None:
            sign, exponent, significand = parted(self._format, wanted)
        else:
            m.submodules.row = row = self._row
            m.d.comb += row.word.eq(wanted)
            number = row.number
            sign, exponent, significand = number.negative, number.exponent, number.significand
        m.d.comb += [
            out.negative.eq(sign),
            out.exponent.eq(exponent),
            _at_top(out.significand, significand),
        ]

    def _special(self, m, beside: int) -> Value:
        """What IEEE 754 makes of terms that are not finite; the sign of a zero else."""
        own, other = Signal(special_layout()), Signal(special_layout())
        m.d.comb += own.eq(classified(self._format, self.element))
        if self._row is None:
            m.d.comb += other.eq(classified(self._format, self.word))  # an integer's zero is +0
        both = own.infinite & other.infinite
        special = Signal(special_layout(), reset_less=True)
        m.d.sync += [
            special.nan.eq(
                ~self.passes & (own.nan | other.nan | (both & (own.negative ^ other.negative)))
            ),
            special.infinite.eq(~self.passes & (own.infinite | other.infinite)),
            special.negative.eq(own.negative & other.negative),
        ]
        with m.If(own.infinite | self.passes):
            m.d.sync += special.negative.eq(own.negative)
        with m.Elif(other.infinite):
            m.d.sync += special.negative.eq(other.negative)
        return delayed(m, special, beside - 1, name="special")


def _at_top(place: Value, significand: Value):
    """A significand at the top of a wider place."""
    return place.eq(Cat(C(0, len(place) - len(significand)), significand))
