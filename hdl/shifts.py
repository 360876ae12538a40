# SPDX-License-Identifier: Apache-2.0
"""Shifts by any amount, two bits of it a clock, the largest first."""

from amaranth import *

from .streams import delayed

__all__ = ["shift_clocks", "shifted_down", "shifted_up"]

STEP_BITS = 2  # of the amount: a choice of four is one level of logic


def shift_clocks(amount_bits: int) -> int:
    """Clocks that a shift takes."""
    return -(-amount_bits // STEP_BITS)


def shifted_up(m, value: Value, amount: Value) -> Value:
    """``value`` · 2^amount, as wide as it was, ``shift_clocks`` later."""
    width = len(value)
    for step in reversed(range(shift_clocks(len(amount)))):
        low = STEP_BITS * step
        moved = Signal(width, reset_less=True, name=f"up_by_{1 << low}")
        m.d.sync += moved.eq(value << (amount[low : low + STEP_BITS] << low))
        value, amount = moved, delayed(m, amount, 1, name="amount")
    return value


def shifted_down(m, value: Value, amount: Value) -> tuple[Value, Value]:
    """``value`` / 2^amount and whether a one was lost below, ``shift_clocks`` later."""
    width, lost = len(value), C(0)
    for step in reversed(range(shift_clocks(len(amount)))):
        low, unit = STEP_BITS * step, 1 << STEP_BITS * step
        times = amount[low : low + STEP_BITS]
        moved = Signal(width, reset_less=True, name=f"down_by_{unit}")
        sticky = Signal(reset_less=True, name=f"lost_by_{unit}")
        parts = [
            value[unit * part : unit * (part + 1)].any() for part in range((1 << STEP_BITS) - 1)
        ]
        gone = Cat(any_one & (times > part) for part, any_one in enumerate(parts))
        m.d.sync += [moved.eq(value >> (times << low)), sticky.eq(lost | gone.any())]
        value, lost, amount = moved, sticky, delayed(m, amount, 1, name="amount")
    return value, lost
