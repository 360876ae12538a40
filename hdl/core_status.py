# SPDX-License-Identifier: Apache-2.0
"""The registers of what happened: sticky flags, what was first, and counters."""

from ropeway.golden.core_parameters import BYPASS, CoreParameters

from .register_fields import value_field
from .registers import BUS_BYTES, Access, Field, Register

__all__ = ["EVENTS", "FIRSTS", "STATUS_BASES", "counter_registers", "flags_of", "status_registers"]

COUNTER_BITS = 48  # wraps after 16 days at 200 MHz
PACKETS = {
    "saturated": "A result did not fit and was saturated.",
    "malformed": "A load was no image that the unit can serve.",
    "misframed": "A packet ended early or late.",
}
FLAGS = {
    "rope": {
        "saturated": PACKETS["saturated"],
        "refused": "A load named a slot in use and changed nothing.",
        "malformed": PACKETS["malformed"],
        "misframed": PACKETS["misframed"],
        "beyond": "A position was at or beyond its slot's trained context.",
    },
    "sinusoidal": PACKETS,
    "learned": PACKETS
    | {
        "out_of_table": "A position has no row; its token passed unchanged.",
        "bus_error": "A row could not be read; its token passed unchanged.",
    },
    "alibi": PACKETS,
    "core": {
        "partial": "A packet had a beat of which some bytes were not kept.",
        "unknown": "A position named a slot that does not exist; its token passed unchanged.",
        "loaded": "A load was completed.",
        "counted": "The last position of a run was taken.",
    },
}
"""Each unit's sticky flags and what they mean; a core's own among them."""

FIRSTS = {
    "misframed": ("first_bad", "The number, from reset, of the first misframed packet."),
    "beyond": ("first_beyond", "The first position beyond its slot's trained context."),
    "out_of_table": ("first_out_of_table", "The first position that has no row."),
    "bus_error": ("first_bus_error", "The first position whose row could not be read."),
}
"""What is kept of the event that set a flag, until the flag is cleared."""

EVENTS = {
    "positions": "Positions accepted.",
    "beats_in": "Beats of data taken.",
    "beats_out": "Beats of results given.",
    "tokens": "Results given to their last beat.",
    "stalled": "Clocks in which a result waited to be taken.",
    "no_data": "Clocks in which a position waited for data.",
    "no_position": "Clocks in which data waited for a position.",
}

FIRST = "Of the event that set the flag; 0 while it is clear."
INTERRUPTS = "Whether that flag raises the interrupt."
STATUS_BASES = {"core": 0x0A0, "rope": 0x0C0, "sinusoidal": 0x0E0, "learned": 0x100, "alibi": 0x120}


def flags_of(p: CoreParameters, unit: str) -> dict[str, str]:
    """The flags of one of a core's units, or of the ``core`` itself, and what they mean."""
    flags = FLAGS[unit]
    if unit != "core":
        return flags
    there = {
        "partial": bool(p.vector_units) and p.keep,
        "unknown": BYPASS in p.slots,
        "loaded": True,
        "counted": bool(p.vector_units) and p.runs,
    }
    return {name: meaning for name, meaning in flags.items() if there[name]}


def status_registers(p: CoreParameters, unit: str) -> list[Register]:
    """A unit's sticky flags, which of them interrupt, and what was first of their events."""
    base, name, flags = STATUS_BASES[unit], unit.upper(), flags_of(p, unit)
    bits = {flag: lsb for lsb, flag in enumerate(FLAGS[unit]) if flag in flags}
    kept = tuple(Field(n.upper(), 1, Access.W1C, flags[n], lsb) for n, lsb in bits.items())
    masks = tuple(Field(n.upper(), 1, Access.RW, INTERRUPTS, lsb) for n, lsb in bits.items())
    registers = [
        Register(f"{name}_FLAGS", base, kept, f"What happened: {unit}."),
        Register(f"{name}_ENABLE", base + BUS_BYTES, masks, "Which flags interrupt."),
    ]
    for flag in flags:
        if flag in FIRSTS:
            first, meaning = FIRSTS[flag]
            signed = flag != "misframed"
            value = value_field(Access.RO, 32, FIRST, signed=signed)
            offset = base + BUS_BYTES * len(registers)
            registers.append(Register(f"{name}_{first.upper()}", offset, value, meaning))
    return registers


def counter_registers(group: str, base: int) -> list[Register]:
    """Counters of what streams do."""
    return [
        Register(
            f"{group}_{name.upper()}",
            base + 8 * number,
            value_field(Access.COUNTER, COUNTER_BITS, "The count."),
            meaning,
            width=64,
        )
        for number, (name, meaning) in enumerate(EVENTS.items())
    ]
