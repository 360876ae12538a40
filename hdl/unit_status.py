# SPDX-License-Identifier: Apache-2.0
"""Statuses of units in registers: flags that are cleared one by one, and the interrupt."""

from amaranth import *
from amaranth.lib import data

from ropeway.golden.core_parameters import CoreParameters

from .core_status import FIRSTS, FLAGS
from .engine import status_layout
from .learned_adder import learned_status_layout
from .register_file import port_name
from .sticky import packet_status_layout

__all__ = ["keep_status", "raise_interrupt", "status_layouts"]


def status_layouts(p: CoreParameters) -> dict[str, data.StructLayout]:
    """Each unit's status, by the unit's name."""
    layouts = {}
    for unit in p.units:
        if unit == "rope":
            layouts[unit] = status_layout(p.rope)
        elif unit == "learned":
            layouts[unit] = learned_status_layout(p.learned)
        else:
            layouts[unit] = packet_status_layout()
    return layouts


def keep_status(m, registers, unit: str, status, clear: Signal):
    """A unit's flags become events, each with what came first."""
    m.d.comb += clear.eq(Cat(status[flag] for flag in FLAGS[unit]).any())
    for flag in FLAGS[unit]:
        name, event = f"{unit}_flags_{flag}", status[flag]
        m.d.comb += getattr(registers, f"{name}_event").eq(event)
        if flag in FIRSTS:
            first, cleared = FIRSTS[flag][0], getattr(registers, f"{name}_clear")
            shown, kept = getattr(registers, f"{unit}_{first}"), getattr(registers, name)
            value = Signal.like(shown, reset_less=True, name=f"{unit}_{first}")
            with m.If(event & (~kept | cleared)):
                m.d.sync += value.eq(status[first])
            # Nothing while the flag is clear: so the register is never reset, which is smaller.
            m.d.comb += shown.eq(Mux(kept, value, 0))


def raise_interrupt(m, registers, units: tuple[str, ...], irq: Signal):
    """Enabled flags that are set, by group and at all."""
    groups = []
    for unit in units:
        group = getattr(registers, f"interrupts_{unit}")
        flags, masks = registers.registers[f"{unit}_FLAGS".upper()], f"{unit}_enable_"
        raised = [
            getattr(registers, port_name(flags, field))
            & getattr(registers, masks + field.name.lower())
            for field in flags.fields
        ]
        m.d.sync += group.eq(Cat(raised).any())
        groups.append(group)
    m.d.sync += irq.eq(Cat(groups).any())
