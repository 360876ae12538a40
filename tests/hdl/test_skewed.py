# SPDX-License-Identifier: Apache-2.0
"""Sums in pieces are sums."""

import numpy as np
import pytest
from amaranth import C, Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.hdl.skewed import PIECE, pieces, skewed_add, straightened
from ropeway.hdl.streams import delayed
from tests.hdl.benches import clock_through


class Sum(wiring.Component):
    """a + b + 1, a clock a piece."""

    def __init__(self, width: int):
        self._width = width
        word = signed(width)
        super().__init__({"a": In(word), "b": In(word), "o": Out(word)})

    @property
    def latency(self) -> int:
        return -(-self._width // PIECE)

    def elaborate(self, _platform):
        m = Module()
        left, right = (
            [delayed(m, piece, i) for i, piece in enumerate(pieces(value, self._width))]
            for value in (self.a, self.b)
        )
        m.d.comb += self.o.eq(straightened(m, skewed_add(m, left, right, C(1, 1))))
        return m


@pytest.mark.parametrize("width", [20, PIECE, 53, 76, 2 * PIECE])
def test_a_sum_in_pieces_is_exact_one_a_clock(width):
    random = np.random.default_rng(width)
    low = -(1 << width - 2)
    corners = [low, low + 1, -1, 0, 1, (1 << PIECE) % -low - 1, -low - 1]
    words = [low + int(x) % (-2 * low) for x in random.integers(0, 1 << 62, 200)]
    pairs = [(x, y) for x in corners for y in corners] + list(zip(words, words[::-1], strict=True))
    component = Sum(width)
    found = clock_through(
        component,
        {"a": [x for x, _ in pairs], "b": [y for _, y in pairs]},
        ["o"],
        extra=component.latency,
    )["o"]
    assert [int(x) for x in found[component.latency :]] == [x + y + 1 for x, y in pairs]
