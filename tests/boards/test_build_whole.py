# SPDX-License-Identifier: Apache-2.0
"""A whole hosted core, small, through the whole flow to a bitstream that meets its clock."""

import json

import pytest

from ropeway.boards.bitstream import blocks
from ropeway.golden.config import geometry_of

# A head of 16 elements of 8 bits, and none of what a small core can do without.
SMALL = ["--lanes=1", "--bits=8"]
SMALL += [f"--set=core.{what}=false" for what in ("counters", "bypass", "carried", "keep")]
ROPE = ["rope.max_head_dim=16", "rope.slots=2", "rope.rows=2", "rope.position_bits=16"]


@pytest.mark.slow
def test_an_ecp5_board_gets_a_bitstream(ropeway, tiny, tmp_path):
    options = [*SMALL, *(f"--set={text}" for text in ROPE), "--clock=75", "--seed=1"]
    called = ropeway("build", "ulx3s-12f", *options, "--config", tiny, "-o", tmp_path)
    assert (called.status, called.err) == (0, "")
    record = json.loads((tmp_path / "build.json").read_text())
    assert record["clock_mhz"] == 75 <= record["achieved_mhz"]
    assert record["table_fingerprint"] == geometry_of(tiny).fingerprint
    # Three a lane; five for the phase, two corrections and two amplitudes of the generator.
    assert blocks(record)["MULT18X18D"] == 3 + 5 + 2 + 2
    assert (tmp_path / record["bitstream"]).stat().st_size > 100_000
