# SPDX-License-Identifier: Apache-2.0
"""No item lost, given twice or out of order: the n-th out is the n-th in, for any n."""

from dataclasses import dataclass

from amaranth.hdl import Module, Signal, Value

from .rules import constant, invariant, prove

__all__ = ["Order", "in_order"]


@dataclass(frozen=True)
class Order:
    """What is between the two ends: how many items, and the marked one among them.

    ``ahead`` items go before the marked one, which is ``present`` where it is on its way and holds
    ``value``; ``place`` tells induction where it stands.
    """

    m: Module
    held: Value
    ahead: Value
    present: Value
    value: Signal

    def place(self, ahead, there, *, when=1):
        """Let induction know that the marked item stands ``there`` when so many go before it."""
        invariant(
            self.m,
            Value.cast(there) == self.value,
            when=self.present & (self.ahead == ahead) & when,
        )


def in_order(m: Module, taken, item, gives, given, out, capacity: int) -> Order:
    """Prove that items ``given`` leave as they were ``taken``, at most ``capacity`` between.

    ``gives`` is that the next item, ``out``, is offered; ``given`` that it leaves. Items are
    counted modulo more than ``capacity``, and the marked one is any.
    """
    bits = (capacity + 1).bit_length()
    sent, left = Signal(bits, name="sent"), Signal(bits, name="left")
    number, value = constant(m, bits, "marked"), Signal(len(Value.cast(item)), name="marked_item")
    m.d.sync += [sent.eq(sent + taken), left.eq(left + given)]
    with m.If(taken & (sent == number)):
        m.d.sync += value.eq(item)
    held, ahead = (sent - left)[:bits], (number - left)[:bits]
    prove(m, held != 0, when=gives)
    prove(m, held <= capacity)
    prove(m, Value.cast(out) == value, when=gives & (left == number))
    return Order(m, held, ahead, ahead < held, value)
