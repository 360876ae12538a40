# SPDX-License-Identifier: Apache-2.0
"""Multiplications with their device's registers, in its multipliers or in logic.

As hdl/primitives.py: every form has the same ports and the same latency, and the family follows
from the ``device`` of the platform elaborated for.
"""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .families import is_ecp5, is_ultraplus, multiplies_in_logic
from .fixed import add_or_subtract, add_with_carry
from .soft_product import soft_product
from .streams import delayed

__all__ = ["Multiplier", "ProductSum"]

# Inputs of an SB_MAC16 that none of ours uses.
UNUSED_OF_MAC16 = (
    *("AHOLD", "BHOLD", "CHOLD", "DHOLD", "IRSTTOP", "IRSTBOT", "ORSTTOP", "ORSTBOT"),
    *("OLOADTOP", "OLOADBOT", "OHOLDTOP", "OHOLDBOT"),
    *("CI", "ACCUMCI", "SIGNEXTIN"),
)
SHARED_OF_MAC16 = {"p_A_REG": 1, "p_B_REG": 1} | {f"i_{name}": Const(0) for name in UNUSED_OF_MAC16}


def _mac16(a: Value, b: Value, addend: Value, subtract: Value, product: Signal, **parameters):
    """An SB_MAC16 whose operands are registered within; ``product`` is its output, 32 bits."""
    operands = {}
    for letter, value in (("A", a), ("B", b)):
        signs = value.shape().signed
        wide = (value | C(0, Shape(16, signs)))[:16]
        operands |= {f"i_{letter}": wide, f"p_{letter}_SIGNED": int(signs)}
    return Instance(
        "SB_MAC16",
        i_CLK=ClockSignal(),
        i_CE=Const(1),
        i_C=addend[16:32],
        i_D=addend[:16],
        i_ADDSUBTOP=subtract,
        i_ADDSUBBOT=subtract,
        o_O=product,
        **operands,
        **SHARED_OF_MAC16,
        **parameters,
    )


class Multiplier(wiring.Component):
    """A registered multiplication, ``p`` = ``a`` · ``b``.

    Latency 2 clocks, 3 with ``relay``; a result every clock. Operand and product are registered
    within the device's multiplier; a relay is one more register in the fabric, which halves the
    wire from a multiplier's column to what follows. A device without multipliers adds: a
    coefficient that several have in common goes to ``a``, whose digits they then share.

    Parameters
    ----------
    a_shape, b_shape : integer shapes; at most 18 bits each for one MULT18X18D, 16 for one SB_MAC16

    Ports
    -----
    a, b : In
        Operands.
    p : Out, signed, as wide as both operands together
        Product. An unsigned product is the same bits.
    """

    a: Signal
    b: Signal
    p: Signal

    def __init__(self, a_shape: ShapeLike, b_shape: ShapeLike, *, relay: bool = False):
        self._a_shape, self._b_shape = Shape.cast(a_shape), Shape.cast(b_shape)
        self._relay = relay
        width = self._a_shape.width + self._b_shape.width
        super().__init__({"a": In(a_shape), "b": In(b_shape), "p": Out(signed(width))})

    @property
    def latency(self) -> int:
        """Clocks from operands to product."""
        return 3 if self._relay else 2

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        if is_ecp5(platform) and max(self._a_shape.width, self._b_shape.width) <= 18:
            product = self._ecp5(m)
        elif is_ultraplus(platform) and max(self._a_shape.width, self._b_shape.width) <= 16:
            product = self._ultraplus(m)
        elif multiplies_in_logic(platform):
            product = soft_product(m, self.a, self.b)
        else:
            a = Signal(self._a_shape, reset_less=True)
            b = Signal(self._b_shape, reset_less=True)
            product = Signal.like(self.p, reset_less=True)
            m.d.sync += [a.eq(self.a), b.eq(self.b), product.eq(a * b)]
        m.d["sync" if self._relay else "comb"] += self.p.eq(product)
        return m

    def _ecp5(self, m) -> Signal:
        """A MULT18X18D with its input and output registers."""
        product = Signal(36)
        ports: dict = {"i_CLK0": ClockSignal(), "i_CE0": Const(1), "i_RST0": Const(0)}
        for letter, value in (("A", self.a), ("B", self.b)):
            wide = Signal(Shape(18, value.shape().signed))
            m.d.comb += wide.eq(value)
            ports |= {f"i_{letter}{i}": wide[i] for i in range(18)}
            ports |= {f"i_SIGNED{letter}": Const(int(value.shape().signed))}
            ports |= {f"i_SOURCE{letter}": Const(0)}
        ports |= {f"i_C{i}": Const(0) for i in range(18)}
        ports |= {f"o_P{i}": product[i] for i in range(36)}
        m.submodules.mult18x18d = Instance(
            "MULT18X18D",
            p_REG_INPUTA_CLK="CLK0",
            p_REG_INPUTB_CLK="CLK0",
            p_REG_OUTPUT_CLK="CLK0",
            p_GSR="DISABLED",
            **ports,
        )
        return product

    def _ultraplus(self, m) -> Signal:
        """An SB_MAC16 with its input registers and the one behind its adder.

        Instantiated, since Yosys 0.70's ``ice40_dsp`` removes a multiplier whose product passes two
        registers without reset, and says so in its log alone.
        """
        product = Signal(32)
        m.submodules.sb_mac16 = _mac16(
            self.a,
            self.b,
            C(0, 32),
            C(0, 1),
            product,
            p_PIPELINE_16x16_MULT_REG2=1,
            p_TOPOUTPUT_SELECT=3,
            p_BOTOUTPUT_SELECT=3,
        )
        return product


class ProductSum(wiring.Component):
    """``p`` = ``addend`` ± ``a`` · ``b`` ± ``c`` · ``d``, modulo 2^width.

    Latency 4 clocks; a result every clock. Two SB_MAC16 do all of it. Elsewhere two Multipliers,
    whose products pass a relay where there is no addend.

    Parameters
    ----------
    a_shape, b_shape, c_shape, d_shape : integer shapes, as a Multiplier's
    width : bits of the result; beyond 32, each product has a signed factor, and the addend with
        the first one fits 32 bits
    addend_bits : of the addend, which is unsigned; 0 where there is none, nor any subtraction

    Ports
    -----
    a, b, c, d : In
    addend, subtract_ab, subtract_cd : In
        Only with an addend.
    p : Out, signed(width)
    """

    latency = 4

    def __init__(
        self,
        a_shape: ShapeLike,
        b_shape: ShapeLike,
        c_shape: ShapeLike,
        d_shape: ShapeLike,
        width: int,
        *,
        addend_bits: int = 0,
    ):
        self._width, self._addend_bits = width, addend_bits
        signs = {"addend": In(addend_bits), "subtract_ab": In(1), "subtract_cd": In(1)}
        shapes = {"a": a_shape, "b": b_shape, "c": c_shape, "d": d_shape}
        self._multiplier_bits = max(Shape.cast(shape).width for shape in shapes.values())
        super().__init__(
            {name: In(shape) for name, shape in shapes.items()}
            | (signs if addend_bits else {})
            | {"p": Out(signed(width))}
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        fits = self._multiplier_bits <= 16 and self._width <= 33
        if is_ultraplus(platform) and fits:
            self._ultraplus(m)
        else:
            self._multiplied(m)
        return m

    def _multiplied(self, m):
        """Two clocks for the products, and two for a relay and the sum, or for two sums."""
        products = []
        for name, left, right in (("ab", self.a, self.b), ("cd", self.c, self.d)):
            multiplier = Multiplier(left.shape(), right.shape(), relay=not self._addend_bits)
            m.submodules[name] = multiplier
            m.d.comb += [multiplier.a.eq(left), multiplier.b.eq(right)]
            products.append(multiplier.p)
        total = Signal(signed(self._width), reset_less=True)
        if not self._addend_bits:
            m.d.sync += total.eq(products[0] + products[1])
            m.d.comb += self.p.eq(total)
            return

        # Both together first, and their sign with the addend.
        differ = delayed(m, self.subtract_ab ^ self.subtract_cd, 2, name="differ")
        negative = delayed(m, self.subtract_ab, 3, name="negative")
        addend = delayed(m, self.addend, 3, name="addend")
        ab, cd = products
        m.d.sync += total.eq(add_or_subtract(ab, cd, differ, self._width))
        signed_total = total ^ negative.replicate(self._width).as_signed()
        p = Signal(signed(self._width), reset_less=True)
        m.d.sync += p.eq(add_with_carry(signed_total, addend, negative, self._width))
        m.d.comb += self.p.eq(p)

    def _ultraplus(self, m):
        """Two SB_MAC16, one clock apart: the first one's sum is what the second adds to."""
        adds = dict.fromkeys(("p_TOPADDSUB_LOWERINPUT", "p_BOTADDSUB_LOWERINPUT"), 2)
        adds |= dict.fromkeys(("p_TOPADDSUB_UPPERINPUT", "p_BOTADDSUB_UPPERINPUT"), 1)
        adds |= dict.fromkeys(("p_TOPOUTPUT_SELECT", "p_BOTOUTPUT_SELECT"), 1)
        adds |= {"p_TOPADDSUB_CARRYSELECT": 2, "p_BOTADDSUB_CARRYSELECT": 0}
        adds |= {"p_C_REG": 1, "p_D_REG": 1}
        waits = ("TOP_8x8_MULT_REG", "BOT_8x8_MULT_REG", "PIPELINE_16x16_MULT_REG1")
        first, both = Signal(32), Signal(32)
        addend, minus_ab, minus_cd = C(0, 32), C(0, 1), C(0, 1)
        if self._addend_bits:
            addend = (self.addend | C(0, 32))[:32]
            minus_ab = delayed(m, self.subtract_ab, 1, name="minus_ab")
            minus_cd = delayed(m, self.subtract_cd, 3, name="minus_cd")
        m.submodules.first = _mac16(self.a, self.b, addend, minus_ab, first, **adds)
        m.submodules.second = _mac16(
            self.c,
            self.d,
            first,
            minus_cd,
            both,
            p_PIPELINE_16x16_MULT_REG2=1,
            **{f"p_{name}": 1 for name in waits},
            **adds,
        )
        if self._width <= 32:
            m.d.comb += self.p.eq(both)
            return

        # The bit that the sum of two numbers of one sign has lost: their sign.
        first_sign = delayed(m, first[-1], 2, name="first_sign")
        signs = [value[-1] for value in (self.c, self.d) if value.shape().signed]
        sign = Cat(signs).xor() ^ (self.subtract_cd if self._addend_bits else 0)
        alike = first_sign == delayed(m, sign, 4, name="second_sign")
        m.d.comb += self.p.eq(Cat(both, Mux(alike, first_sign, both[-1])).as_signed())
