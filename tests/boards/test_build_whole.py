# SPDX-License-Identifier: Apache-2.0
"""A whole hosted core, small, through the whole flow to a bitstream that meets its clock."""

import json

import pytest

from ropeway.boards.bitstream import blocks
from ropeway.golden.config import geometry_of

# A head of 16 elements of 8 bits, and none of what a small core can do without.
SMALL = ["--lanes=1", "--bits=8", "--seed=1"]
SMALL += [f"--set=core.{what}=false" for what in ("counters", "bypass", "carried", "keep")]
SMALL += [f"--set=rope.{text}" for text in ("max_head_dim=16", "slots=1", "rows=2")]
SMALL += ["--set=rope.position_bits=16"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "options", "clock_mhz", "multipliers"),
    [
        # Three multipliers a lane, and four of the shared generator; in logic where there are none.
        ("ulx3s-12f", ["--set=rope.generator=shared", "--clock=75"], 75, {"MULT18X18D": 3 + 4}),
        ("ice40hx8k-b-evn", ["--set=rope.generator=serial"], 48, {}),
    ],
)
def test_a_whole_core_gets_a_bitstream(
    board, options, clock_mhz, multipliers, ropeway, tiny, tmp_path
):
    called = ropeway("build", board, *SMALL, *options, "--config", tiny, "-o", tmp_path)
    assert (called.status, called.err) == (0, "")
    record = json.loads((tmp_path / "build.json").read_text())
    assert record["clock_mhz"] == clock_mhz <= record["achieved_mhz"]
    assert record["table_fingerprint"] == geometry_of(tiny).fingerprint
    memories = {name for name in blocks(record) if name in ("DP16KD", "ICESTORM_RAM")}
    assert {n: c for n, c in blocks(record).items() if n not in memories} == multipliers
    assert memories
    assert (tmp_path / record["bitstream"]).stat().st_size > 100_000
