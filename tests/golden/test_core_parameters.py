# SPDX-License-Identifier: Apache-2.0
"""Which units go together in a core, and how what they hold is numbered."""

import pytest

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters, MemoryTable, RamTable
from ropeway.golden.errors import InputError
from ropeway.golden.parameters import RopeParameters

ROPE, ADDER, ALIBI = RopeParameters(), AdderParameters(), AlibiParameters()
REFUSED = {
    "nothing": ({}, "units"),
    "other lanes": ({"rope": ROPE, "sinusoidal": AdderParameters(lanes=2)}, "sinusoidal.lanes"),
    "other bits": (
        {"sinusoidal": ADDER, "learned": AdderParameters(data_bits=8), "table": RamTable(64)},
        "learned.data_bits",
    ),
    "other format": (
        {"rope": ROPE, "sinusoidal": AdderParameters(format="bf16")},
        "sinusoidal.format",
    ),
    "no table": ({"learned": ADDER}, "table"),
    "a table alone": ({"rope": ROPE, "table": RamTable(64)}, "table"),
    "scaled table": (
        {"learned": AdderParameters(scaled=True), "table": RamTable(64)},
        "learned.scaled",
    ),
    "no depth": ({"learned": ADDER, "table": RamTable(0)}, "depth"),
    "narrow bus": ({"learned": ADDER, "table": MemoryTable(64)}, "bus_bits"),
    "few addresses": ({"learned": ADDER, "table": MemoryTable(128, 8)}, "address_bits"),
    "several units and no bypass": ({"rope": ROPE, "sinusoidal": ADDER, "bypass": False}, "bypass"),
    "small behind AXI4-Lite": ({"rope": ROPE, "small": True}, "small"),
    "no such bus": ({"rope": ROPE, "bus": "apb"}, "bus"),
    "narrowed and added": (
        {"rope": RopeParameters(output_bits=8), "sinusoidal": ADDER},
        "rope.output_bits",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_units_that_do_not_go_together_are_refused_by_name(name):
    given, key = REFUSED[name]
    with pytest.raises(InputError) as caught:
        CoreParameters(**given)
    assert caught.value.key == key


@pytest.mark.parametrize("given", [{"rope": ADDER}, {"alibi": 1}, {"rope": ROPE, "table": 64}])
def test_a_wrong_type_is_refused(given):
    with pytest.raises(TypeError):
        CoreParameters(**given)
    with pytest.raises(TypeError):
        RamTable(64.0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError):
        MemoryTable(128, None)  # pyright: ignore[reportArgumentType]


def test_slots_are_numbered_in_the_units_order_and_targets_after_them():
    p = CoreParameters(rope=ROPE, sinusoidal=ADDER, learned=ADDER, table=MemoryTable(), alibi=ALIBI)
    assert p.units == ("rope", "sinusoidal", "learned", "alibi")
    assert p.slots == ("rope",) * 4 + ("sinusoidal", "learned", "bypass")
    assert p.targets == (*p.slots, "alibi")
    assert p.load_targets == {n: t for n, t in enumerate(p.targets) if t != "bypass"}
    assert (p.slot_bits, p.target_bits) == (3, 3)
    assert (p.beat_elements, p.element_bytes, p.score_bytes, p.axes) == (8, 2, 2, 1)


@pytest.mark.parametrize(
    ("p", "slots", "targets", "bits"),
    [
        (CoreParameters(sinusoidal=ADDER), ("sinusoidal", "bypass"), 2, 2),
        (CoreParameters(alibi=ALIBI), (), 1, 1),
        (CoreParameters(rope=RopeParameters(slots=16)), ("rope",) * 16 + ("bypass",), 17, 5),
        (CoreParameters(rope=RopeParameters(output_bits=8)), ("rope",) * 4, 4, 2),
        (CoreParameters(rope=RopeParameters(), bypass=False), ("rope",) * 4, 4, 2),
        (CoreParameters(sinusoidal=ADDER, bypass=False), ("sinusoidal",), 1, 1),
    ],
    ids=["sinusoidal", "alibi", "sixteen slots", "narrowing", "rope alone", "sinusoidal alone"],
)
def test_a_core_of_some_units_has_slots_for_them(p, slots, targets, bits):
    assert p.slots == slots
    assert len(p.targets) == targets
    assert p.slot_bits == bits
    assert p.direct == (bool(slots) and "bypass" not in slots)


@pytest.mark.parametrize(("bits", "size"), [(8, 1), (9, 2), (16, 2), (17, 4), (18, 4)])
def test_elements_take_whole_bytes(bits, size):
    p = CoreParameters(
        sinusoidal=AdderParameters(data_bits=bits), alibi=AlibiParameters(data_bits=bits)
    )
    assert (p.element_bytes, p.output_bytes, p.score_bytes) == (size,) * 3
