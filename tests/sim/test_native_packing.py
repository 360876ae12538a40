# SPDX-License-Identifier: Apache-2.0
"""Blocks of items are packed as Amaranth's layouts say, and unpacked to what they were."""

import numpy as np
import pytest
from amaranth.hdl import signed, unsigned
from amaranth.lib import data

from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.layouts import beat_layout, position_layout
from ropeway.sim.native_packing import pack_items, unpack_items

LAYOUTS = {
    "odd widths that straddle words": data.StructLayout(
        {"a": data.ArrayLayout(signed(18), 5), "b": 1, "c": unsigned(31), "d": signed(7)}
    ),
    "whole words and more": data.StructLayout(
        {"one": 1, "word": 32, "signed": signed(32), "long": unsigned(48), "longest": signed(64)}
    ),
    "one bit": data.StructLayout({"last": 1}),
    "beats": beat_layout(RopeParameters(lanes=2, data_bits=12)),
}


def columns_of(shape) -> tuple[int, data.ArrayLayout | None]:
    array = isinstance(shape, data.ArrayLayout)
    return (shape.length if array else 1), (shape.elem_shape if array else shape)


def random_fields(layout: data.StructLayout, items: int) -> dict[str, np.ndarray]:
    random, fields = np.random.default_rng(0), {}
    for name, field in layout:
        length, shape = columns_of(field.shape)
        bits, sign = (shape.width, shape.signed) if hasattr(shape, "width") else (shape, False)
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, (1 << bits) - 1)
        values = random.integers(
            low, high, (items, length), dtype=np.int64 if sign else np.uint64, endpoint=True
        )
        values[0], values[-1] = low, high
        fields[name] = values if isinstance(field.shape, data.ArrayLayout) else values[:, 0]
    return fields


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_items_have_the_bits_that_the_layout_gives_them(layout):
    fields = random_fields(layout, 50)
    words = pack_items(layout, fields)
    assert words.shape == (50, (layout.size + 31) // 32)
    for number, item in enumerate(words):
        expected = layout.const({name: values[number].tolist() for name, values in fields.items()})
        assert int.from_bytes(item.tobytes(), "little") == expected.as_value().value
    for name, values in unpack_items(layout, words).items():
        assert np.array_equal(values, fields[name]), name


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_any_signed_type_is_packed_and_what_does_not_fit_is_cut_off(kind):
    layout = data.StructLayout({"a": signed(12), "b": signed(40)})
    values = np.array([-1, -128, 127, 0], dtype=kind)
    found = unpack_items(layout, pack_items(layout, {"a": values, "b": values}))
    assert found["a"].tolist() == found["b"].tolist() == values.tolist()
    wide = pack_items(layout, {"a": np.array([0x7FFF_F123]), "b": np.array([0])})
    assert wide.tolist() == [[0x123, 0]]


def test_results_are_of_32_bits_where_that_is_enough():
    layout = LAYOUTS["whole words and more"]
    found = unpack_items(layout, pack_items(layout, random_fields(layout, 2)))
    kinds = {name: str(values.dtype) for name, values in found.items()}
    assert kinds == {
        "one": "uint32",
        "word": "uint32",
        "signed": "int32",
        "long": "uint64",
        "longest": "int64",
    }


def test_a_structure_within_is_given_as_one_integer():
    layout = position_layout(RopeParameters(temperature=True))
    names = [name for name, _ in layout]
    fields = {name: np.zeros((2, 1) if name == "position" else 2, np.int64) for name in names}
    fields["temperature"] = np.array([0, 0x7_FFFF])
    offset = layout["temperature"].offset
    words = pack_items(layout, fields)
    assert int.from_bytes(words[1].tobytes(), "little") == 0x7_FFFF << offset
