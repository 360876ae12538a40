# SPDX-License-Identifier: Apache-2.0
"""The simulated board that tests share, so that it is compiled once."""

from pathlib import Path

from ropeway.golden import geometry_of
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern

__all__ = ["CACHE", "DEFAULT", "SILENCE", "SIMULATED"]

DEFAULT = geometry_of("llama-3.2-1b").table(HeadPattern(2, 1))  # what it has at power-on
CACHE = Path(__file__).parents[2] / "build" / "native"  # as the suite has it
SILENCE = 0.02  # seconds after which it gives a request up

# Four clocks a bit are the fastest to simulate.
SIMULATED = HostedParameters(
    core=CoreParameters(rope=RopeParameters(lanes=2, max_head_dim=128, slots=2), bus="registers"),
    clock_hz=4_000_000,
    baud=1_000_000,
    image=tuple(DEFAULT.image().tolist()),
    self_test_tokens=20,
    timeout_us=int(SILENCE * 1e6),
)
