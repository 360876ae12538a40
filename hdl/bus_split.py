# SPDX-License-Identifier: Apache-2.0
"""One register bus for the registers of two, by their addresses."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .register_bus import answer_layout, request_layout
from .streams import pulse_stream

__all__ = ["BusSplit"]


class BusSplit(wiring.Component):
    """Accesses below ``boundary`` go to ``low``, all others to ``high``, which answer them.

    Latency none, in either direction.

    Parameters
    ----------
    address_bits, low_bits : of byte addresses, on the bus and on that of ``low``
    boundary : a power of two

    Ports
    -----
    request, answer : streams, always ready
        As RegisterFile has them.
    low_request, low_answer, high_request, high_answer : streams, always ready
    """

    request: stream.Interface
    answer: stream.Interface
    low_request: stream.Interface
    low_answer: stream.Interface
    high_request: stream.Interface
    high_answer: stream.Interface

    def __init__(self, address_bits: int, low_bits: int, boundary: int):
        self._boundary = boundary
        answer = pulse_stream(answer_layout())
        request, low = (pulse_stream(request_layout(bits)) for bits in (address_bits, low_bits))
        super().__init__(
            {
                "request": In(request),
                "answer": Out(answer),
                "low_request": Out(low),
                "low_answer": In(answer),
                "high_request": Out(request),
                "high_answer": In(answer),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        given, low = self.request.payload, self.low_request.payload
        below = given.address < self._boundary
        m.d.comb += [
            self.low_request.valid.eq(self.request.valid & below),
            self.high_request.valid.eq(self.request.valid & ~below),
            self.high_request.payload.eq(given),
            *(low[name].eq(given[name]) for name, _ in low.shape()),
            self.answer.valid.eq(self.low_answer.valid | self.high_answer.valid),
            self.answer.payload.eq(self.high_answer.payload),
        ]
        with m.If(self.low_answer.valid):
            m.d.comb += self.answer.payload.eq(self.low_answer.payload)
        return m
