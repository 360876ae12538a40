# SPDX-License-Identifier: Apache-2.0
"""Cores that no serial port serves, and sizes that do not go together, are named."""

from dataclasses import replace

import pytest

from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.errors import InputError
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.parameters import RopeParameters

CORE = CoreParameters(rope=RopeParameters(lanes=4), bus="registers")
HOSTED = HostedParameters(core=CORE, clock_hz=12_000_000)
CORES = {
    "bus": {"bus": "axi4-lite"},
    "runs": {"runs": False},
    "units": {"alibi": AlibiParameters()},
}
BAD = {
    "baud": 3_000_001,
    "clock_hz": 0,
    "vector_words": 33,
    "result_words": 8,
    "position_words": 2,
    "timeout_us": 19,
    "image": (1 << 32,),
}


@pytest.mark.parametrize("key", CORES)
def test_a_core_that_cannot_be_hosted_is_named(key):
    with pytest.raises(InputError, match=key):
        replace(HOSTED, core=replace(CORE, **CORES[key]))


@pytest.mark.parametrize("key", BAD)
def test_what_is_out_of_range_is_named(key):
    with pytest.raises(InputError, match=key):
        replace(HOSTED, **{key: BAD[key]})


def test_a_fifo_holds_two_beats():
    wide = CoreParameters(rope=RopeParameters(lanes=32, max_head_dim=256), bus="registers")
    with pytest.raises(InputError, match="vector_words"):
        HostedParameters(core=wide, clock_hz=12_000_000, vector_words=32)


def test_a_beat_is_whole_words():
    assert (HOSTED.beat_words, HOSTED.result_beat_words, HOSTED.place_words) == (4, 4, 2)
    narrow = replace(CORE, rope=RopeParameters(lanes=1, data_bits=8, axes=3, temperature=True))
    p = replace(HOSTED, core=narrow)
    assert (p.beat_bits, p.beat_words, p.place_words) == (16, 1, 5)
    assert p.timeout == 1_200_000
