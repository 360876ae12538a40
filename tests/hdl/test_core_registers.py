# SPDX-License-Identifier: Apache-2.0
"""The registers of a core say what it is, and stand where every core has them."""

import tomllib
from pathlib import Path

import pytest

from ropeway.boards.documents import FULL
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters, MemoryTable, RamTable
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.core_control import CoreControl
from ropeway.hdl.core_events import events_layout
from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.core_status import EVENTS, FIRSTS, FLAGS
from ropeway.hdl.registers import Access
from ropeway.hdl.unit_status import status_layouts

ADDER = AdderParameters(data_bits=16)
CORES = {
    "full": FULL,
    "rope": CoreParameters(rope=RopeParameters()),
    "sixteen slots and all": CoreParameters(
        rope=RopeParameters(slots=16, axes=3),
        sinusoidal=ADDER,
        learned=ADDER,
        table=MemoryTable(address_bits=20),
        alibi=AlibiParameters(),
    ),
    "small": CoreParameters(
        rope=RopeParameters(lanes=1),
        counters=False,
        bypass=False,
        carried=False,
        keep=False,
        runs=False,
    ),
    "narrowing": CoreParameters(rope=RopeParameters(output_bits=8)),
    "sinusoidal": CoreParameters(sinusoidal=AdderParameters(format="fp16")),
    "learned": CoreParameters(learned=ADDER, table=RamTable(4096)),
    "alibi": CoreParameters(alibi=AlibiParameters()),
}
UNITS = ("rope", "sinusoidal", "learned", "alibi")
OF_VECTORS = ("carried", "keep", "runs")
FEATURES = ("bypass", "counters", *OF_VECTORS)
VERSION = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
    "version"
]


@pytest.fixture(params=CORES)
def p(request) -> CoreParameters:
    return CORES[request.param]


def test_a_register_stands_where_every_core_has_it_with_its_fields(p):
    full = core_registers(FULL)
    for register in core_registers(p):
        if register.name == "TABLE_RAM":
            assert full.at(register.offset) is None
            continue
        there = full[register.name]
        assert (register.offset, register.width) == (there.offset, there.width)
        places = {field.name: (field.lsb, field.access) for field in there.fields}
        assert all(places[field.name] == (field.lsb, field.access) for field in register.fields)


def test_constants_say_what_the_core_is(p):
    registers = core_registers(p)

    def of(name: str) -> dict[str, int]:
        return registers[name].decode(registers[name].reset)

    assert registers["IDENT"].reset.to_bytes(4, "big") == b"ROPE"
    major, minor, patch = map(int, VERSION.split("."))
    assert of("VERSION") == {"major": major, "minor": minor, "patch": patch}
    there = [name for name, said in of("UNITS").items() if said]
    assert [name for name in there if name in UNITS] == list(p.units)
    vectors = {name: bool(p.vector_units) and getattr(p, name) for name in OF_VECTORS}
    built = vectors | {"bypass": "bypass" in p.slots, "counters": p.counters}
    assert [name for name in there if name not in UNITS] == [n for n in FEATURES if built[n]]
    vectors = of("VECTORS")
    assert vectors["elements"] == p.beat_elements
    assert (vectors["data_bits"], vectors["output_bits"]) == (p.data_bits, p.output_bits)
    formats = [unit.format for unit in p.vector_units] or ["fixed"]
    assert ("fixed", "bf16", "fp16")[vectors["format"]] == formats[0]
    targets = of("TARGETS")
    assert (targets["slots"], targets["targets"]) == (len(p.slots), len(p.targets))
    if p.rope:
        assert targets["rope_slots"] == p.rope.slots
        assert of("ROPE")["max_head_dim"] == p.rope.max_head_dim
        assert of("ROPE")["coefficient_bits"] == p.rope.coefficient_bits
        assert of("ROPE")["pair_clocks"] == p.rope.generator_interval
    if p.sinusoidal:
        assert of("SINUSOIDAL")["max_width"] == p.sinusoidal.max_width
        assert of("SINUSOIDAL")["fraction_bits"] == p.sinusoidal.fraction_bits
    if p.alibi:
        assert of("ALIBI")["max_heads"] == p.alibi.max_heads
        assert of("ALIBI")["lanes"] == p.alibi.lanes
    if isinstance(p.table, RamTable):
        assert of("TABLE_RAM") == {"depth": p.table.depth}


def test_largest_parameters_fit_their_fields():
    core_registers(
        CoreParameters(
            rope=RopeParameters(lanes=64, max_head_dim=4096, position_bits=32, data_bits=18),
            alibi=AlibiParameters(lanes=16, max_heads=1024, data_bits=32, fraction_bits=32),
        )
    )
    widest = AdderParameters(lanes=16, data_bits=8, max_width=65536, fraction_bits=-14)
    for table in (MemoryTable(1024, 64), RamTable(65536)):
        core = CoreParameters(sinusoidal=widest, learned=widest, table=table)
        found = core_registers(core)["LEARNED"]
        assert found.decode(found.reset)["fraction_bits"] == -14 % 64


def test_every_flag_of_a_unit_has_its_bit_and_its_mask_and_what_was_first(p):
    registers = core_registers(p)
    for unit, layout in status_layouts(p).items():
        single = [name for name, field in layout if field.shape == 1 or field.width == 1]
        assert single == list(FLAGS[unit])
        flags, masks = (registers[f"{unit.upper()}_{what}"] for what in ("FLAGS", "ENABLE"))
        assert [f.name.lower() for f in flags.fields] == single
        assert [(f.name, f.lsb) for f in masks.fields] == [(f.name, f.lsb) for f in flags.fields]
        firsts = {FIRSTS[flag][0] for flag in single if flag in FIRSTS}
        assert firsts == {name for name, _ in layout} - set(single)
        assert all(f"{unit}_{first}".upper() in registers for first in firsts)


def test_every_event_of_the_streams_has_a_counter():
    assert [name for name, _ in events_layout()] == list(EVENTS)


def test_what_a_core_has_not_has_no_registers():
    registers = core_registers(CORES["alibi"])
    assert not [r.name for r in registers if r.name.startswith(("AUTO", "VECTOR_", "TABLE"))]
    assert [f.name for f in registers["CORE_FLAGS"].fields] == ["LOADED"]
    assert "SCORE_SCALE" not in registers
    assert "TABLE_BASE_HIGH" not in core_registers(CORES["sixteen slots and all"])
    assert registers["FINGERPRINT"].count == 1


def test_control_has_a_port_for_all_of_it(p):
    from amaranth.back import rtlil

    control = CoreControl(p)
    assert f"load_{p.units[0]}" in control.signature.members
    assert rtlil.convert(control)
    kinds = {field.access for register in control.map for field in register.fields}
    assert kinds == set(Access) - {Access.POP} - ({Access.COUNTER} if not p.counters else set())
