# SPDX-License-Identifier: Apache-2.0
"""Products and sums of products: in any form, of any signs, a latency later."""

import numpy as np
import pytest
from amaranth.back import rtlil
from amaranth.hdl import Elaboratable, Fragment, Shape, signed, unsigned

from ropeway.hdl.multipliers import Multiplier, ProductSum
from tests.hdl.benches import clock_through
from tests.hdl.test_primitives import Platform, instances

HX8K = "iCE40HX8K"


class On(Elaboratable):
    """A component as it is built for a device."""

    def __init__(self, component, device: str):
        self._component, self._device = component, device

    def elaborate(self, _platform):
        return Fragment.get(self._component, Platform(self._device))

    def __getattr__(self, name: str):
        return getattr(self._component, name)


def values_of(shape: Shape, random: np.random.Generator, count: int) -> list[int]:
    low = -(1 << shape.width - 1) if shape.signed else 0
    high = low + (1 << shape.width) - 1
    corners = [low, low + 1, -1 if shape.signed else 1, 0, 1, high - 1, high]
    return corners + random.integers(low, high + 1, count).tolist()


@pytest.mark.parametrize("device", ["", HX8K], ids=["generic", "logic"])
@pytest.mark.parametrize("relay", [False, True])
@pytest.mark.parametrize("b_shape", [signed(18), unsigned(18), unsigned(16)], ids=repr)
@pytest.mark.parametrize("a_shape", [signed(17), unsigned(16), signed(2)], ids=repr)
def test_a_product_of_any_signs_comes_a_latency_later(a_shape, b_shape, relay, device):
    random = np.random.default_rng(0)
    a = values_of(a_shape, random, 20)
    b = values_of(b_shape, random, 20)
    pairs = [(x, y) for x in a for y in b]
    multiplier = On(Multiplier(a_shape, b_shape, relay=relay), device)
    inputs = {"a": [x for x, _ in pairs], "b": [y for _, y in pairs]}
    found = clock_through(multiplier, inputs, ["p"], extra=multiplier.latency)["p"]
    mask = (1 << a_shape.width + b_shape.width) - 1
    products = [x * y & mask for x, y in pairs]
    assert [int(p) & mask for p in found[multiplier.latency :]] == products
    assert multiplier.latency == 2 + relay


@pytest.mark.parametrize("relay", [False, True])
def test_an_ecp5_multiplier_is_one_block_with_its_registers_in_use(relay):
    (block,) = instances(Multiplier(unsigned(18), signed(18), relay=relay))
    assert block.type == "MULT18X18D"
    registers = {f"REG_{name}_CLK": "CLK0" for name in ("INPUTA", "INPUTB", "OUTPUT")}
    assert registers.items() <= block.parameters.items()


def test_an_operand_too_wide_for_the_block_is_inferred():
    assert instances(Multiplier(unsigned(19), signed(18))) == []
    assert instances(Multiplier(unsigned(17), signed(16)), "iCE40UP5K") == []


@pytest.mark.parametrize("signs", [(False, False), (True, False), (False, True), (True, True)])
def test_an_ultraplus_multiplier_is_one_block_with_its_registers_in_use(signs):
    shapes = [Shape(16, sign) for sign in signs]
    (block,) = instances(Multiplier(*shapes, relay=True), "iCE40UP5K")
    assert block.type == "SB_MAC16"
    registers = dict.fromkeys(("A_REG", "B_REG", "PIPELINE_16x16_MULT_REG2"), 1)
    signedness = {"A_SIGNED": signs[0], "B_SIGNED": signs[1]}
    assert (registers | signedness).items() <= block.parameters.items()


@pytest.mark.parametrize("device", [HX8K, "GW1NR-9C"])
def test_a_device_without_multipliers_that_are_modelled_takes_logic(device):
    unit = Multiplier(signed(16), signed(16))
    assert instances(unit, device) == []
    text = rtlil.convert(unit, platform=Platform(device))
    assert "cell $mul" not in text
    assert "cell $add" in text


SUMS = {
    "a lane's": (unsigned(16), signed(16), unsigned(16), signed(16), 33, 15),
    "wide": (unsigned(18), signed(18), unsigned(18), signed(18), 37, 25),
    "a phase's": (unsigned(16), unsigned(16), signed(11), unsigned(16), 32, 0),
}


def summed(kind: str, count: int) -> tuple[dict[str, list[int]], list[int]]:
    """Operands of a sum by port, corners among them, and what each sum is, as unsigned."""
    *shapes, width, addend_bits = SUMS[kind]
    random = np.random.default_rng(len(kind))
    operands = {
        name: random.permutation(values_of(shape, random, count)).tolist()
        for name, shape in zip("abcd", shapes, strict=True)
    }
    size = len(operands["a"])
    signs = {"subtract_ab": [0] * size, "subtract_cd": [0] * size, "addend": [0] * size}
    if addend_bits:
        signs = {name: random.integers(0, 2, size).tolist() for name in signs}
        signs["addend"] = random.integers(0, 1 << addend_bits, size).tolist()
    columns = zip(*operands.values(), *signs.values(), strict=True)
    sums = [
        h + (-a if e else a) * b + (-c if f else c) * d & (1 << width) - 1
        for a, b, c, d, e, f, h in columns
    ]
    return operands | (signs if addend_bits else {}), sums


@pytest.mark.parametrize("device", ["", HX8K], ids=["generic", "logic"])
@pytest.mark.parametrize("kind", SUMS)
def test_a_sum_of_products_comes_four_clocks_later(kind, device):
    *shapes, width, addend_bits = SUMS[kind]
    unit = On(ProductSum(*shapes, width, addend_bits=addend_bits), device)
    inputs, sums = summed(kind, 300)
    found = clock_through(unit, inputs, ["p"], extra=unit.latency)["p"]
    assert unit.latency == 4
    assert [int(p) & (1 << width) - 1 for p in found[4:]] == sums


@pytest.mark.parametrize("kind", SUMS)
def test_a_sum_is_two_blocks_of_an_ultraplus_where_it_fits(kind):
    *shapes, width, addend_bits = SUMS[kind]
    blocks = instances(ProductSum(*shapes, width, addend_bits=addend_bits), "iCE40UP5K")
    assert [block.type for block in blocks] == ["SB_MAC16"] * (0 if kind == "wide" else 2)
