# SPDX-License-Identifier: Apache-2.0
"""A unit of each family as a netlist gives golden's results; every_netlist.py has the others."""

from pathlib import Path

import pytest

from tests.netlist.bridge import Bridge, differs
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


@pytest.mark.slow
def test_a_bridge_s_netlist_does_what_it_is_asked(request):
    folder: Path = request.config.rootpath / "build" / "test-netlist-bridge"
    bridge = Bridge()
    verilog, cells = netlist_of(bridge, "ice40", folder)
    assert cells["SB_RAM40_4K"] == 1
    assert differs(bridge, verilog) is None
