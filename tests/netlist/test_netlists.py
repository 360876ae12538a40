# SPDX-License-Identifier: Apache-2.0
"""A unit of each family as a netlist gives golden's results; every_netlist.py has the others."""

from pathlib import Path

import pytest

from tests.netlist.builds import netlist_of
from tests.netlist.units import UNITS

MULTIPLIERS = {("sinusoidal", "ecp5"): ("MULT18X18D", 7), ("learned", "ice40"): ("SB_MAC16", 0)}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "family"), MULTIPLIERS)
def test_a_netlist_s_results_are_golden_s(name, family, request):
    unit = UNITS[name]()
    folder: Path = request.config.rootpath / "build" / f"test-netlist-{name}-{family}"
    verilog, cells = netlist_of(unit.component, family, folder)
    block, count = MULTIPLIERS[name, family]
    assert cells.get(block, 0) == count
    assert unit.differs(verilog) is None
