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
        half, active = 2 * self._digits, Signal()
        steps = Signal(self._digits + 2)
        m.d.sync += steps.eq(steps << 1)
        with m.If(self.start):
            m.d.sync += [steps.eq(1), active.eq(1)]
        with m.Elif(active):
            m.d.sync += active.eq(~steps[self._digits - 1])

        # Booth's digits, −2 to 2, from the two bits of each and the one below, a clock ahead.
        count = (self.count | C(0, signed(2 * half)))[: 2 * half]
        sums, lows = [], []
        for name, bits in (
            ("lower", Cat(C(0, 1), count[:half])),
            ("upper", count[half - 1 :]),
        ):
            left = Signal(half + 1, name=f"{name}_left", reset_less=True)
            window = Mux(self.start, bits, left)[:3]
            operand = Signal(len(self.factor) + 1, name=f"{name}_operand", reset_less=True)
            subtract = Signal(name=f"{name}_subtract", reset_less=True)
            one, two = window[0] ^ window[1], (window == 0b011) | (window == 0b100)
            m.d.sync += [
                left.eq(Mux(self.start, bits, left) >> 2),
                operand.eq(Mux(two, self.factor << 1, Mux(one, self.factor, 0))),
                subtract.eq(window[2]),
            ]
            sums.append(self._sum(m, name, active, operand, subtract, lows))

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

    def _sum(self, m, name, active, operand, subtract, lows) -> Signal:
        """Adds a digit's multiple and lays the two lowest bits of the sum aside, in ``lows``."""
        width = len(self.factor) + 3
        total = Signal(signed(width), name=f"{name}_sum", reset_less=True)
        low = Signal(2 * self._digits, name=f"{name}_low", reset_less=True)
        following = add_or_subtract(total, operand, subtract, width)
        with m.If(self.start):
            m.d.sync += total.eq(0)
        with m.Elif(active):
            m.d.sync += [total.eq(following >> 2), low.eq(Cat(low[2:], following[:2]))]
        lows.append(low)
        return total
