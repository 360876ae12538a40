# SPDX-License-Identifier: Apache-2.0
"""The lane of fixed-point embeddings: adds one row's word to an element, rounded once."""

from amaranth import *
from amaranth.lib import data, wiring

from ropeway.golden.adder import EXPONENT_BITS, SCALE_FRACTION_BITS, spare_bits
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.fixed import limits

from .adder_layouts import lane_ports
from .fixed import overflows
from .multipliers import Multiplier
from .streams import delayed

__all__ = ["AdderLane"]


class AdderLane(wiring.Component):
    """saturate(round half up(element · scale + row word)), from an exact product and sum.

    Latency: see ``latency``; an element every clock.

    Parameters
    ----------
    p : the adder's
    row_bits, row_fraction_bits : of a row's word

    Ports
    -----
    element, word : In, signed
    passes : In
        The element comes out as it is.
    scale : In, with ``scaled``
        Steady.
    o : Out, signed
    saturated : Out
    """

    element: Signal
    word: Signal
    passes: Signal
    scale: data.View
    o: Signal
    saturated: Signal

    interval = 1

    def __init__(self, p: AdderParameters, row_bits: int, row_fraction_bits: int):
        self._p = p
        self._spare = spare_bits(p, row_fraction_bits)
        self._row_shift = self._spare + p.fraction_bits - row_fraction_bits
        self._product = (
            Multiplier(signed(p.data_bits), SCALE_FRACTION_BITS + 1) if p.scaled else None
        )
        super().__init__(lane_ports(p, row_bits))

    @property
    def _scaling(self) -> int:
        """Clocks from an element until it is scaled."""
        return self._product.latency + 1 if self._product else 1

    @property
    def latency(self) -> int:
        """Clocks from an element to its sum."""
        return self._scaling + 3

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p, spare, clocks = self._p, self._spare, self._scaling

        # The element in the sum's units, and the row with the half that rounds.
        if self._product:
            m.submodules.product = product = self._product
            m.d.comb += [product.a.eq(self.element), product.b.eq(self.scale.code)]
            wide = spare - SCALE_FRACTION_BITS
            width = len(product.p) + (1 << EXPONENT_BITS) - 1
            scaled = Signal(signed(width + wide), reset_less=True)
            shifted = (product.p << self.scale.exponent) << wide
            m.d.sync += scaled.eq(shifted)
        else:
            element = delayed(m, self.element, clocks, name="element")
            scaled = Cat(C(0, spare), element).as_signed()
        half = 1 << spare - 1 if spare else 0
        addend = Cat(C(0, self._row_shift), self.word).as_signed()
        row = Signal(signed(max(len(addend), spare) + 1), reset_less=True)
        m.d.sync += row.eq(addend + half)
        total = Signal(signed(max(len(scaled), len(row)) + 1), reset_less=True)
        m.d.sync += total.eq(scaled + delayed(m, row, clocks - 1, name="row"))

        # Whether it fits, and what is given.
        rounded = total[spare:].as_signed()
        held = Signal(signed(p.data_bits), reset_less=True)
        out = Signal(signed(p.data_bits), reset_less=True)
        wrong, negative, over = (Signal(reset_less=True) for _ in range(3))
        passed = delayed(m, self.passes, clocks + 1, name="passed")
        element = delayed(m, self.element, clocks + 1, name="waited")
        low, high = limits(p.data_bits)
        m.d.sync += [
            held.eq(Mux(passed, element, rounded)),
            wrong.eq(overflows(rounded, p.data_bits) & ~passed),
            negative.eq(rounded[-1]),
            out.eq(Mux(wrong, Mux(negative, low, high), held)),
            over.eq(wrong),
        ]
        m.d.comb += [self.o.eq(out), self.saturated.eq(over)]
        return m
