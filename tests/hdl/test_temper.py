# SPDX-License-Identifier: Apache-2.0
"""The amplitude of tempered queries is golden's product, in its range and out of it."""

from dataclasses import replace

import numpy as np

from ropeway.golden.table import LARGEST_UNSCALED_CODE, HeadPattern
from ropeway.golden.temperature import tempered
from ropeway.hdl.temper import Temper
from tests.geometries import geometry
from tests.hdl.benches import clock_through

TABLE = geometry(64, HeadPattern(1, 1))
CODES = [0, 1, -1, 49870, -72090, LARGEST_UNSCALED_CODE, -(1 << 17), 57593]


def test_every_product_is_golden_s_a_latency_later():
    random = np.random.default_rng(0)
    codes = random.choice(
        [*CODES, *random.integers(-(1 << 17), LARGEST_UNSCALED_CODE, 8)], (4000, 2)
    )
    words = (codes & (1 << 18) - 1) | random.integers(0, 2, codes.shape) << 18
    words[random.random(len(words)) < 0.3, 1] = 0
    found = clock_through(
        Temper(),
        {"amplitude": words[:, 0].tolist(), "temperature": words[:, 1].tolist()},
        ["product.code", "product.scale", "clamped"],
        extra=Temper.latency,
    )
    for number, (amplitude, temperature) in enumerate(words.tolist()):
        table = replace(TABLE, amplitude=int(codes[number, 0]), scale=amplitude >> 18)
        expected, clamped = tempered(table, temperature)
        at = number + Temper.latency
        product = found["product.code"][at], found["product.scale"][at]
        assert product == (expected.amplitude, expected.scale), (amplitude, temperature)
        assert found["clamped"][at] == clamped
