# SPDX-License-Identifier: Apache-2.0
"""The registers that say what a core is and what its units can do."""

from importlib.metadata import version

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.core_parameters import BYPASS, CoreParameters, MemoryTable, RamTable

from .register_fields import packed_fields, value_field
from .registers import Access, Register

__all__ = ["IDENTIFICATION", "KINDS", "identity_registers"]

IDENTIFICATION = 0x524F5045  # "ROPE", the first letter highest
KINDS = ("rope", "sinusoidal", "learned", "bypass", "alibi")
FORMAT_CODES = ("fixed", "bf16", "fp16")
FRACTION_BITS = ("FRACTION_BITS", 6, "An element's last bit is 2 to minus this, signed.")


def identity_registers(p: CoreParameters) -> list[Register]:
    """Words that never change, from address 0."""
    return [*_whole(p), *_units(p)]


def _whole(p: CoreParameters) -> list[Register]:
    """What was built, in words that never change: the whole of it."""
    major, minor, patch = (int(part) for part in version("ropeway").split(".")[:3])
    numbers = packed_fields(
        Access.CONST,
        ("PATCH", 8, "The third number.", patch),
        ("MINOR", 8, "The second number.", minor),
        ("MAJOR", 8, "The first number.", major),
    )
    units = packed_fields(
        Access.CONST,
        *((n.upper(), 1, f"There is the unit {n}.", n in p.units) for n in KINDS if n != BYPASS),
        ("BYPASS", 1, "There is a slot that changes nothing.", BYPASS in p.slots),
        ("COUNTERS", 1, "There are counters.", p.counters),
        ("CARRIED", 1, "Positions may come in TUSER.", bool(p.vector_units) and p.carried),
        ("KEEP", 1, "There is TKEEP.", bool(p.vector_units) and p.keep),
        ("RUNS", 1, "The core can count positions by itself.", bool(p.vector_units) and p.runs),
    )
    vectors = packed_fields(
        Access.CONST,
        ("ELEMENTS", 8, "Elements in a beat.", p.beat_elements),
        ("DATA_BITS", 6, "Bits of an element.", p.data_bits),
        ("OUTPUT_BITS", 6, "Bits of an element of a result.", p.output_bits),
        ("FORMAT", 2, "0 fixed point, 1 bf16, 2 fp16.", _format(p)),
        ("AXES", 3, "Positions of a token.", p.axes),
    )
    targets = packed_fields(
        Access.CONST,
        ("SLOTS", 8, "Slots, of which a token names one.", len(p.slots)),
        ("TARGETS", 8, "Targets: the slots, and then the ALiBi unit.", len(p.targets)),
        ("ROPE_SLOTS", 8, "Slots of the RoPE engine, which are the first.", p.slots.count("rope")),
    )
    ident = value_field(Access.CONST, 32, "ROPE, the first letter highest.", IDENTIFICATION)
    return [
        Register("IDENT", 0x000, ident, "Says that this is such a core."),
        Register("VERSION", 0x004, numbers, "The release that made it."),
        Register("UNITS", 0x008, units, "Which units there are, and what else."),
        Register("VECTORS", 0x00C, vectors, "What vectors are made of."),
        Register("TARGETS", 0x010, targets, "How slots and targets are numbered."),
    ]


def _format(p: CoreParameters) -> int:
    return FORMAT_CODES.index(p.vector_units[0].format) if p.vector_units else 0


def _units(p: CoreParameters) -> list[Register]:
    """What each unit can do, in words that never change."""
    positions = ("POSITION_BITS", 6, "Bits of a position.")
    registers = []
    if p.rope:
        rows = (
            ("MAX_HEAD_DIM", 13, "Elements of the largest head.", p.rope.max_head_dim),
            (*positions, p.rope.position_bits),
            ("TEMPERATURE", 1, "Whether tokens carry a temperature.", p.rope.temperature),
            ("COEFFICIENT_BITS", 5, "Bits of a sine or cosine.", p.rope.coefficient_bits),
            ("PAIR_CLOCKS", 6, "Clocks that a pair of a row takes.", p.rope.generator_interval),
        )
        fields = packed_fields(Access.CONST, *rows)
        registers.append(Register("ROPE", 0x014, fields, "What the RoPE engine can do."))
    for name, offset in (("sinusoidal", 0x018), ("learned", 0x01C)):
        unit: AdderParameters | None = getattr(p, name)
        if unit:
            rows = (
                ("MAX_WIDTH", 17, "Elements of the widest row.", unit.max_width),
                (*positions, unit.position_bits),
                ("SCALED", 1, "Whether embeddings are scaled.", unit.scaled),
                (*FRACTION_BITS, unit.fraction_bits & 0x3F),
            )
            fields, what = packed_fields(Access.CONST, *rows), f"What the {name} unit can do."
            registers.append(Register(name.upper(), offset, fields, what))
    if isinstance(p.table, RamTable):
        depth = packed_fields(Access.CONST, ("DEPTH", 17, "Beats that fit.", p.table.depth))
        registers.append(Register("TABLE_RAM", 0x020, depth, "The learned table in block RAM."))
    if isinstance(p.table, MemoryTable):
        rows = (
            ("BUS_BITS", 11, "Bits of the bus.", p.table.bus_bits),
            ("ADDRESS_BITS", 7, "Bits of its byte addresses.", p.table.address_bits),
        )
        fields, what = packed_fields(Access.CONST, *rows), "The learned table in external memory."
        registers.append(Register("TABLE_MEMORY", 0x024, fields, what))
    if p.alibi:
        rows = (
            ("LANES", 5, "Scores in a beat.", p.alibi.lanes),
            ("DATA_BITS", 6, "Bits of a score.", p.alibi.data_bits),
            (*FRACTION_BITS, p.alibi.fraction_bits),
            ("SCALED", 1, "Whether scores are scaled.", p.alibi.scaled),
            ("MAX_HEADS", 11, "Heads of which slopes are held.", p.alibi.max_heads),
        )
        fields = packed_fields(Access.CONST, *rows)
        registers.append(Register("ALIBI", 0x028, fields, "What the ALiBi unit can do."))
    return registers
