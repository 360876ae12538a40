# SPDX-License-Identifier: Apache-2.0
"""A phase generator that adds where the one in use multiplies, to be measured against it."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.sincos import PHASE_BITS
from ropeway.golden.table import INCREMENT_BITS

from .primitives import Ram
from .streams import delayed, pulse_stream

__all__ = ["AddedPhase"]

HALF = INCREMENT_BITS // 2


class AddedPhase(wiring.Component):
    """Each pair's phase is kept, and its increment added at every token.

    Exact, since a turn is a power of two; but a token can only be the one after the last: no other
    sequence between them, nothing rolled back, no position out of the blue. Latency 5 clocks, a
    pair every clock; a pair comes again after 8 clocks or more.

    Parameters
    ----------
    pairs : how many phases are kept

    Ports
    -----
    i : stream of {pair, increment, first}, always ready
        ``first`` begins a sequence: the pair's phase is 0.
    o : stream of the phase in units of 2^-24 turn
    """

    latency = 5

    def __init__(self, pairs: int):
        self._pairs = pairs
        given = {"pair": range(pairs), "increment": INCREMENT_BITS, "first": 1}
        super().__init__(
            {
                "i": In(pulse_stream(data.StructLayout(given))),
                "o": Out(pulse_stream(unsigned(PHASE_BITS))),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.kept = kept = Ram(INCREMENT_BITS, self._pairs)
        m.d.comb += kept.read_address.eq(self.i.payload.pair)

        # Two clocks to read the phase, then one for either half of the sum.
        given = delayed(m, self.i.payload, 2)
        valid = [delayed(m, self.i.valid, n, reset_less=False) for n in range(6)]
        before = Signal(INCREMENT_BITS)
        m.d.comb += before.eq(Mux(given.first, 0, kept.read_data))
        lower, upper = Signal(HALF + 1), Signal(HALF)
        m.d.sync += lower.eq(before[:HALF] + given.increment[:HALF])
        held, added = delayed(m, before[HALF:], 1), delayed(m, given.increment[HALF:], 1)
        m.d.sync += upper.eq(held + added + lower[HALF])
        after = Cat(delayed(m, lower[:HALF], 1), upper)

        # What was given is the phase of this token; the sum is that of the next.
        m.d.comb += [
            kept.write_enable.eq(valid[4]),
            kept.write_address.eq(delayed(m, given.pair, 2)),
            kept.write_data.eq(after),
        ]
        phase = Signal(PHASE_BITS)
        whole = delayed(m, before, 2)
        m.d.sync += phase.eq(whole[-PHASE_BITS:] + whole[-PHASE_BITS - 1])
        m.d.comb += [self.o.valid.eq(valid[5]), self.o.payload.eq(phase)]
        return m
