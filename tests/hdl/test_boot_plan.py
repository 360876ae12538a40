# SPDX-License-Identifier: Apache-2.0
"""What is written at power-on loads the table, and tests it with what golden expects."""

from dataclasses import replace
from decimal import Decimal

import pytest

from ropeway.golden import InputError
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import SinusoidalGeometry
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.self_test import expected_signature
from ropeway.golden.table import HeadPattern
from ropeway.hdl.boot_plan import boot_writes
from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.host_registers import host_registers
from tests.geometries import geometry

TABLE = geometry(16, HeadPattern(2, 1))
ROWS = SinusoidalGeometry(width=16, inv_freq=tuple(Decimal(10) ** -n for n in range(8)))
CORES = {
    "rope": (CoreParameters(rope=RopeParameters(lanes=2), bus="registers"), TABLE, 12),
    "sinusoidal": (CoreParameters(sinusoidal=AdderParameters(lanes=2), bus="registers"), ROWS, 4),
}


def hosted(core: CoreParameters, image) -> HostedParameters:
    return HostedParameters(
        core=core, clock_hz=12_000_000, image=tuple(image.tolist()), self_test_tokens=7
    )


@pytest.mark.parametrize("name", CORES)
def test_writes_load_the_image_and_then_begin_positions_and_test(name):
    core, held, beats = CORES[name]
    p = hosted(core, held.image())
    maps = core_registers(p.core), host_registers(p)
    found = [
        (at[0].name, at[1], word)
        for address, word in boot_writes(p)
        for registers in maps
        if (at := registers.at(address)) is not None
    ]
    size = len(p.image)
    assert found[0] == ("LOAD", 0, size << 8)
    assert found[1 : size + 1] == [("LOAD_WINDOW", n, word) for n, word in enumerate(p.image)]
    expected = enumerate(expected_signature(core, held, 7))
    assert found[size + 1 :] == [
        *(("SELF_TEST_EXPECTED", lane, word) for lane, word in expected),
        ("SELF_TEST_TOKENS", 0, 7),
        ("SELF_TEST_BEATS", 0, beats),
        ("AUTO_COUNT", 0, 7),
        ("AUTO_CONTROL", 0, 1),
        ("SELF_TEST_CONTROL", 0, 1),
    ]


def test_without_an_image_nothing_is_written():
    assert boot_writes(replace(hosted(CORES["rope"][0], TABLE.image()), image=())) == []


def test_an_image_that_the_core_cannot_serve_is_refused():
    core = CoreParameters(rope=RopeParameters(lanes=1, max_head_dim=8), bus="registers")
    with pytest.raises(InputError, match="head_dim = 16: must be at most 8"):
        boot_writes(hosted(core, TABLE.image()))
    with pytest.raises(InputError, match=r"image\[0\]"):
        boot_writes(hosted(core, ROWS.image()))
