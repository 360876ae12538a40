# SPDX-License-Identifier: Apache-2.0
"""Gives each token's position to the unit that its slot belongs to."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.core_parameters import BYPASS, CoreParameters

from .adder_layouts import place_layout as adder_place_layout
from .core_layouts import order_layout, passages, place_layout
from .layouts import position_layout
from .streams import pulse_stream

__all__ = ["PositionRouter", "unit_places"]


def unit_places(p: CoreParameters) -> dict[str, data.StructLayout]:
    """What each unit that takes positions takes, by its name."""
    shapes = {}
    for name in passages(p):
        if name == "rope":
            shapes[name] = position_layout(p.rope)
        elif name != BYPASS:
            shapes[name] = adder_place_layout(getattr(p, name))
    return shapes


class PositionRouter(wiring.Component):
    """A position goes to its unit, and the token's name into the order of all tokens.

    Both in one clock, so that units' tokens come in the order of their data. A position waits until
    its unit takes it, whatever the data do; so do those behind it. A token whose slot does not
    exist passes unchanged, ``unknown``.

    Latency none; a position a clock.

    Ports
    -----
    i : stream of positions
    o_order : stream of tokens, always ready; room : In
    o_<unit> : stream of positions, one for each unit
    unknown : Out
        For one clock: a position was accepted whose slot does not exist.
    """

    i: stream.Interface
    o_order: stream.Interface
    room: Signal
    unknown: Signal

    def __init__(self, p: CoreParameters):
        self._p, self._places = p, unit_places(p)
        super().__init__(
            {
                "i": In(stream.Signature(place_layout(p))),
                "o_order": Out(pulse_stream(order_layout(p))),
                "room": In(1),
                "unknown": Out(1),
            }
            | {f"o_{name}": Out(stream.Signature(shape)) for name, shape in self._places.items()}
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        given, slots = self.i.payload, self._p.slots
        order = self.o_order.payload
        takes, offers, held = Signal(), Signal(), Signal()
        # What has been offered stays on offer: only what is taken fills the order.
        m.d.comb += offers.eq(self.i.valid & (self.room | held))
        m.d.sync += held.eq(offers & ~takes)
        with m.Switch(given.slot):
            for number, name in enumerate(slots):
                if name == BYPASS:
                    continue
                unit = getattr(self, f"o_{name}")
                with m.Case(number):
                    m.d.comb += [
                        order.passage.eq(passages(self._p).index(name)),
                        takes.eq(unit.ready),
                        unit.valid.eq(offers),
                    ]
            with m.Default():  # the bypass, and what is no slot
                m.d.comb += [order.passage.eq(len(passages(self._p)) - 1), takes.eq(1)]
        m.d.comb += [
            order.slot.eq(given.slot),
            order.unknown.eq(given.slot >= len(slots)),
            self.o_order.valid.eq(offers & takes),
            self.i.ready.eq((self.room | held) & takes),
            self.unknown.eq(self.o_order.valid & order.unknown),
        ]
        for name in self._places:
            self._translate(m, name)
        return m

    def _translate(self, m, name: str):
        """A position as the unit takes it."""
        given, taken = self.i.payload, getattr(self, f"o_{name}").payload
        if name == "rope":
            m.d.comb += [taken[field].eq(given[field]) for field, _ in taken.shape()]
        else:
            m.d.comb += taken.position.eq(given.position[0])
