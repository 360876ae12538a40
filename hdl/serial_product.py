# SPDX-License-Identifier: Apache-2.0
"""A product made by shifts and additions, four bits of one factor a clock."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .fixed import add_or_subtract, add_with_carry
from .streams import delayed

__all__ = ["SerialProduct"]


class SerialProduct(wiring.Component):
    """``product`` = ``factor`` · ``count``, exactly, in logic: no multiplier of the device's.

    The count's lower and upper half are worked off side by side, two bits a clock. Latency: see
    ``latency``, 10 clocks for 28 bits; one product at a time, another ``start`` drops it.

    Parameters
    ----------
    factor_bits, count_bits : of the unsigned factor and the signed count

    Ports
    -----
    start : In
        For one clock; the operands stay until ``done``.
    factor, count : In
    done : Out
        For one clock: ``product`` is there, and stays until the next start.
    product : Out, signed
    """

    start: Signal
    factor: Signal
    count: Signal
    done: Signal
    product: Signal

    def __init__(self, factor_bits: int, count_bits: int):
        self._digits = -(-count_bits // 4)  # of each half, in base 4
        super().__init__(
            {
                "start": In(1),
                "factor": In(factor_bits),
                "count": In(signed(count_bits)),
                "done": Out(1),
                "product": Out(signed(factor_bits + count_bits)),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from ``start`` until ``done``."""
        return self._digits + 3

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        digits, half = self._digits, 2 * self._digits
        active, counts = Signal(), Signal(signed(2 * half))
        triple = Signal(len(self.factor) + 2, reset_less=True)
        steps = Signal(digits + 2)
        m.d.sync += [triple.eq(self.factor + (self.factor << 1)), steps.eq(steps << 1)]
        with m.If(self.start):
            m.d.sync += [steps.eq(1), active.eq(1), counts.eq(self.count)]
        with m.Elif(active):
            m.d.sync += counts.eq(Cat((counts[:half] >> 2)[:half], (counts[half:] >> 2)[:half]))
            m.d.sync += active.eq(~steps[digits - 1])

        # Both halves: add the factor times a digit, lay the two lowest bits of the sum aside.
        width = len(self.factor) + 3
        sums, lows = [], []
        for name, at in (("lower", 0), ("upper", half)):
            upper = Signal(signed(width), name=f"{name}_sum", reset_less=True)
            low = Signal(half, name=f"{name}_low", reset_less=True)
            digit = counts[at : at + 2]
            # The last digit of the upper half is signed: 2 stands for −2, 3 for −1.
            subtract = (steps[digits - 1] & digit[1]) if at else C(0)
            operand = Mux(
                digit[1],
                Mux(digit[0], Mux(subtract, self.factor, triple), self.factor << 1),
                Mux(digit[0], self.factor, 0),
            )
            total = add_or_subtract(upper, operand, subtract, width)
            with m.If(self.start):
                m.d.sync += upper.eq(0)
            with m.Elif(active):
                m.d.sync += [upper.eq(total >> 2), low.eq(Cat(low[2:], total[:2]))]
            sums.append(upper)
            lows.append(low)

        # Two clocks: both together, the upper half's low bits first.
        upper = Cat(lows[1], sums[1]).as_signed()
        split = half
        first = Signal(split + 1, reset_less=True)
        high = Signal(signed(len(upper) - split + 1), reset_less=True)
        m.d.sync += [
            first.eq(upper[:split] + sums[0][:split]),
            high.eq(
                add_with_carry(
                    delayed(m, upper[split:].as_signed(), 1, name="upper"),
                    delayed(m, sums[0][split:].as_signed(), 1, name="lower"),
                    first[-1],
                    len(high),
                )
            ),
            self.done.eq(steps[-1] & ~self.start),
        ]
        low = delayed(m, lows[0], 2, name="low")
        middle = delayed(m, first[:split], 1, name="middle")
        m.d.comb += self.product.eq(Cat(low, middle, high).as_signed())
        return m
