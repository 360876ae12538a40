# SPDX-License-Identifier: Apache-2.0
"""A memory deeper than a block is several, with a register that chooses between them."""

import numpy as np
import pytest

from ropeway.hdl.banked_ram import BankedRam
from tests.hdl.benches import clock_through
from tests.hdl.test_primitives import instances


@pytest.mark.parametrize("depth", [5, 1024, 1025, 2048, 2500])
def test_every_word_comes_a_latency_later(depth):
    random = np.random.default_rng(depth)
    words = random.integers(0, 1 << 24, depth)
    order = random.permutation(depth)
    corners = [depth - 1, 0, min(1023, depth - 1), min(1024, depth - 1), depth // 2]
    read = [*corners, *random.integers(0, depth, 400).tolist()]
    ram = BankedRam(24, depth)
    found = clock_through(
        ram,
        {
            "write_enable": [1] * depth + [0] * len(read),
            "write_address": [*order, *[0] * len(read)],
            "write_data": [*words[order], *[0] * len(read)],
            "read_address": [0] * depth + read,
        },
        ["read_data"],
        extra=ram.latency,
    )["read_data"]
    assert found[depth + ram.latency :].tolist() == words[read].tolist()
    assert ram.latency == (2 if depth <= 1024 else 3)


def test_a_write_that_is_not_enabled_changes_no_bank():
    read = [3, 1027, 2051] * 2
    ram = BankedRam(8, 2100)
    found = clock_through(
        ram,
        {
            "write_enable": [1, 1, 1, 0, 0, 0, *[0] * 6],
            "write_address": [3, 1027, 2051, 3, 1027, 2051, *[0] * 6],
            "write_data": [7, 8, 9, 1, 2, 3, *[0] * 6],
            "read_address": [0] * 6 + read,
        },
        ["read_data"],
        extra=ram.latency,
    )["read_data"]
    assert found[6 + ram.latency :].tolist() == [7, 8, 9] * 2


@pytest.mark.parametrize(("depth", "blocks"), [(512, 1), (1024, 2), (2048, 4), (2500, 5)])
def test_on_ecp5_every_bank_is_blocks_with_their_output_registers_in_use(depth, blocks):
    found = instances(BankedRam(36, depth))
    assert [block.type for block in found] == ["DP16KD"] * blocks
    assert {block.parameters["REGMODE_B"] for block in found} == {"OUTREG"}
