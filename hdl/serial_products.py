# SPDX-License-Identifier: Apache-2.0
"""Products of several factors with one count, two of its bits a clock: adders, no multiplier."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .digits import digit_count, multiple, next_digit
from .fixed import add_with_carry

__all__ = ["SerialProducts", "serial_latency"]


def serial_latency(count_shape: Shape) -> int:
    """Clocks that products with a count of this shape take."""
    return digit_count(count_shape) + 1


class SerialProducts(wiring.Component):
    """``products[i]`` = (``initial`` + ``factors[i]`` · ``count``) div 2^``drop``.

    The count's lowest digit comes first, and what is added moves down by two bits a digit. Latency:
    see ``latency``, from ``start`` until ``done``. Another ``start`` drops what is under way.

    Parameters
    ----------
    factors, factor_bits : how many, and of how many bits; unsigned
    count_shape : of the count
    drop : bits of the products that are not wanted, at most two a digit
    initial : what the products begin at
    modulo : bits that the products need before ``drop`` (default: all that they have)

    Ports
    -----
    start : In
        For one clock; ``count`` is taken. The factors are taken from the next clock on and stay
        until ``done``.
    factors, count : In
    done : Out
        For one clock: the products are there. They stay until the next start.
    products : Out, signed
    """

    start: Signal
    count: Signal
    factors: data.View
    done: Signal
    products: data.View

    def __init__(
        self,
        factors: int,
        factor_bits: int,
        count_shape: Shape,
        *,
        drop: int = 0,
        initial: int = 0,
        modulo: int = 0,
    ):
        modulo = modulo or factor_bits + count_shape.width
        self._drop, self._initial = drop, initial
        self._digits = digit_count(count_shape)
        self.latency = serial_latency(count_shape)
        self._sum_bits = min(modulo, factor_bits + 3)
        super().__init__(
            {
                "start": In(1),
                "count": In(count_shape),
                "factors": In(data.ArrayLayout(factor_bits, factors)),
                "done": Out(1),
                "products": Out(data.ArrayLayout(signed(modulo - drop), factors)),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        left = Signal(2 * self._digits, reset_less=True)
        carry, waiting, active = Signal(reset_less=True), Signal(range(self._digits + 1)), Signal()
        code, above = next_digit(left[:2], carry)
        m.d.comb += active.eq(waiting != 0)
        m.d.sync += self.done.eq((waiting == 1) & ~self.start)
        with m.If(self.start):
            m.d.sync += [left.eq(self.count), carry.eq(0), waiting.eq(self._digits)]
        with m.Elif(active):
            m.d.sync += [left.eq(left >> 2), carry.eq(above), waiting.eq(waiting - 1)]
        for number, factor in enumerate(self.factors):
            total = Signal(signed(self._sum_bits - 2), reset_less=True, name=f"sum_{number}")
            low = Signal(2 * self._digits - self._drop, reset_less=True, name=f"low_{number}")
            bits, one = multiple(code, factor, self._sum_bits)
            following = add_with_carry(total, bits.as_signed(), one, self._sum_bits)
            with m.If(self.start):
                m.d.sync += total.eq(self._initial)
            with m.Elif(active):
                m.d.sync += [total.eq(following >> 2), low.eq(Cat(low, following[:2]) >> 2)]
            m.d.comb += self.products[number].eq(Cat(low, total).as_signed())
        return m
