# SPDX-License-Identifier: Apache-2.0
"""The registers of a core: what it is, what its units say, loads, positions and counters."""

from ropeway.golden.alibi_parameters import SCALE_FRACTION_BITS
from ropeway.golden.core_parameters import CoreParameters, MemoryTable

from .core_identity import KINDS, identity_registers
from .core_status import STATUS_BASES, counter_registers, status_registers
from .register_fields import packed_fields, value_field
from .registers import Access, Field, Register, RegisterMap
from .row_bursts import STRIDE_BITS

__all__ = ["WINDOW_WORDS", "core_registers"]

WINDOW_WORDS = 1024


def core_registers(p: CoreParameters) -> RegisterMap:
    """The map of a core; a register stands at the same address in every core that has it."""
    registers = (
        *identity_registers(p),
        *_control(p),
        *_settings(p),
        *(_positions(p) if p.vector_units and p.runs else ()),
        *_loads(),
        *(register for unit in ("core", *p.units) for register in status_registers(p, unit)),
        *_targets(p),
        *(counter_registers("VECTOR", 0x300) if p.vector_units and p.counters else ()),
        *(counter_registers("SCORE", 0x380) if p.alibi and p.counters else ()),
        _window(),
    )
    return RegisterMap("ROPEWAY", "The control registers of a Ropeway core.", registers)


def _control(p: CoreParameters) -> list[Register]:
    """What holds for the whole core."""
    what = "Positions come in the first beat's TUSER of each packet, only."
    carried = Field("CARRIED", 1, Access.RW, what)
    counting = Field("COUNTING", 1, Access.RW, "Counters count.", 1, 1)
    modes = (carried,) * p.carried + (counting,) * p.counters
    clear = value_field(Access.WO, 1, "Writing 1 makes every counter 0.")
    groups = tuple(
        Field(n.upper(), 1, Access.RO, f"An enabled flag of {n.upper()}_FLAGS is set.", lsb)
        for lsb, n in enumerate(STATUS_BASES)
        if n == "core" or n in p.units
    )
    what = "Modes; to be changed while no token is on its way."
    registers = [Register("CONTROL", 0x040, modes, what)] if modes else []
    if p.counters:
        registers.append(Register("COUNTERS_CLEAR", 0x044, clear, "Makes counters begin anew."))
    return [*registers, Register("INTERRUPTS", 0x048, groups, "Why the interrupt is raised.")]


def _settings(p: CoreParameters) -> list[Register]:
    """What units are told beside their images."""
    registers = []
    if isinstance(p.table, MemoryTable):
        low = value_field(Access.RW, min(32, p.table.address_bits), "Its lower bits.")
        what = "The byte address of the learned table, steady while tokens are on their way."
        registers.append(Register("TABLE_BASE_LOW", 0x050, low, what))
        if p.table.address_bits > 32:
            high = value_field(Access.RW, p.table.address_bits - 32, "Its upper bits.")
            registers.append(Register("TABLE_BASE_HIGH", 0x054, high, what))
        stride = value_field(Access.RW, STRIDE_BITS, "Words of the bus.")
        what = "From row to row of the learned table, steady while tokens are on their way."
        registers.append(Register("TABLE_STRIDE", 0x058, stride, what))
    if p.alibi and p.alibi.scaled:
        bits, one = SCALE_FRACTION_BITS + 1, 1 << SCALE_FRACTION_BITS
        scale = value_field(
            Access.RW, bits, f"The scale in units of 2^-{SCALE_FRACTION_BITS}.", one
        )
        what = "What scores are multiplied by, steady while scores are on their way."
        registers.append(Register("SCORE_SCALE", 0x05C, scale, what))
    return registers


def _positions(p: CoreParameters) -> list[Register]:
    """Positions that the core counts by itself."""
    base = value_field(Access.RW, 32, "The position on every axis.", signed=True)
    count = value_field(Access.RW, 32, "How many tokens.")
    use = packed_fields(
        Access.RW,
        ("SLOT", 8, "The slot that they pass."),
        ("CONJUGATE", 1, "They turn backwards."),
        ("PURE", 1, "They turn without the amplitude."),
        ("BYPASS", 1, "They do not turn."),
    )
    control = packed_fields(
        Access.WO,
        ("START", 1, "Writing 1 begins a run."),
        ("STOP", 1, "Writing 1 ends one, after the position that is on offer."),
    )
    left = value_field(Access.RO, 32, "Positions not taken yet.")
    registers = [
        Register("AUTO_BASE", 0x060, base, "The first position of a run of counted ones."),
        Register("AUTO_COUNT", 0x064, count, "The length of a run."),
        Register("AUTO_USE", 0x068, use, "What the tokens of a run are."),
    ]
    if p.rope and p.rope.temperature:
        factor = value_field(Access.RW, 19, "As a position's word has it.")
        what = "The temperature of the tokens of a run."
        registers.append(Register("AUTO_TEMPERATURE", 0x06C, factor, what))
    what = "Begins and ends runs; one is not begun while another lasts."
    return [
        *registers,
        Register("AUTO_CONTROL", 0x070, control, what, refuses=True),
        Register("AUTO_LEFT", 0x074, left, "How far a run is."),
    ]


def _loads() -> list[Register]:
    """How images come in, but for their words."""
    begin = packed_fields(
        Access.WO,
        ("TARGET", 8, "The target that is loaded."),
        ("WORDS", 24, "Words of its image, at least one."),
    )
    status = (
        Field("PENDING", 1, Access.RO, "A word waits to be taken by its unit."),
        Field("UNFINISHED", 1, Access.RO, "Words of the image are still to be written.", 1),
        Field("NEXT", 24, Access.RO, "Words of the image written so far.", 8),
    )
    abort = value_field(Access.WO, 1, "Writing 1 gives up the image, which will be malformed.")
    what = "Begins a load; refused while one is unfinished, for no target or far too many words."
    return [
        Register("LOAD", 0x080, begin, what, refuses=True),
        Register("LOAD_STATUS", 0x084, status, "How far a load is."),
        Register("LOAD_ABORT", 0x088, abort, "Ends a load whose words will not come."),
    ]


def _window() -> Register:
    word = value_field(Access.WO, 32, "Word i of an image, written to number i modulo 1024.")
    return Register(
        "LOAD_WINDOW",
        0x1000,
        word,
        "The words of an image in their order; refused out of order, and while one is pending.",
        count=WINDOW_WORDS,
        refuses=True,
    )


def _targets(p: CoreParameters) -> list[Register]:
    """What each target holds."""
    kinds = ", ".join(f"{code} {name}" for code, name in enumerate(KINDS))
    state = (
        Field("LOADED", 1, Access.RO, "It has a geometry."),
        Field("BUSY", 1, Access.RO, "A token that named it is unfinished; 0 of the ALiBi unit.", 1),
        Field("KIND", 3, Access.RO, f"{kinds}.", 2),
        Field("EPOCH", 8, Access.RO, "Loads that it has completed since reset.", 8),
    )
    digest = value_field(Access.RO, 64, "The CRC-64 of the image that it holds, 0 until digested.")
    count = len(p.targets)
    what = "What the hardware made of the image that a target holds."
    return [
        Register("TARGET_STATUS", 0x180, state, "What a target holds.", count=count),
        Register("FINGERPRINT", 0x200, digest, what, count=count, width=64),
    ]
