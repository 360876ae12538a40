# SPDX-License-Identifier: Apache-2.0
"""PLLs are set to make exactly the clock asked for, within what their families allow."""

import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from ropeway.boards.pll import ECP5_PLL, GW1NR_PLL, GW2A_PLL, ICE40_PLL, Dividers
from ropeway.golden.errors import InputError

FAMILIES = {"ecp5": ECP5_PLL, "ice40": ICE40_PLL, "gw1nr": GW1NR_PLL, "gw2a": GW2A_PLL}
SOURCES = (12_000_000, 25_000_000, 27_000_000, 48_000_000, 100_000_000)


def made(family, dividers: Dividers, source: int) -> tuple[Fraction, Fraction, Fraction]:
    """The phase detector's, the oscillator's and the output's frequency, in MHz."""
    detector = Fraction(source, dividers.divide) / 1_000_000
    oscillator = detector * dividers.multiply
    if family.feedback_behind_post:
        oscillator *= dividers.post
    return detector, oscillator, oscillator / dividers.post


@pytest.mark.parametrize("name", FAMILIES)
def test_every_clock_made_is_exact_and_within_the_family_s_limits(name):
    family, solved = FAMILIES[name], 0
    for source in SOURCES:
        for target in range(20_000_000, 160_000_000, 4_000_000):
            try:
                dividers = family.solve(source, target)
            except InputError:
                continue
            solved += 1
            detector, oscillator, output = made(family, dividers, source)
            assert output * 1_000_000 == target
            assert family.detector[0] <= detector <= family.detector[1]
            assert family.oscillator[0] <= oscillator <= family.oscillator[1]
            assert dividers.divide in family.divides
            assert dividers.multiply in family.multiplies
            assert dividers.post in family.posts
    assert solved > 20


def test_a_clock_that_none_makes_is_refused():
    with pytest.raises(InputError, match=r"clock = 101\.3 MHz: no setting .* of 25 MHz"):
        ECP5_PLL.solve(25_000_000, 101_300_000)


def told(tool: str, *options: str) -> str:
    """What one of the vendors' open calculators says."""
    command = Path(sys.executable).parent / tool
    done = subprocess.run([command, *options], capture_output=True, text=True, check=True)
    return done.stdout


def test_icepll_sets_an_ice40_alike():
    text = told("yowasp-icepll", "-i", "12", "-o", "48")
    found = re.findall(r"DIV[RFQ]:\s+(\d+)", text)
    divide, multiply, post = int(found[0]) + 1, int(found[1]) + 1, 1 << int(found[2])
    assert ICE40_PLL.solve(12_000_000, 48_000_000) == Dividers(divide, multiply, post)


def test_ecppll_sets_an_ecp5_alike():
    text = told("yowasp-ecppll", "-i", "25", "-o", "100")
    found = re.findall(r"(?:Refclk|Feedback|clkout0) divisor: (\d+)", text)
    assert ECP5_PLL.solve(25_000_000, 100_000_000) == Dividers(*map(int, found))
