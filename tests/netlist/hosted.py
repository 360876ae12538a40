# SPDX-License-Identifier: Apache-2.0
"""A hosted core's netlist, driven over its serial port as a board is."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ropeway.golden.rotation import rope
from ropeway.hdl.host_registers import HOST_IDENTIFICATION
from ropeway.hdl.hosted_core import HostedCore
from ropeway.sim.native import NativeModel
from tests.netlist.builds import netlist_of
from tests.sim.serial_host import SerialHost
from tests.sim.test_hosted_core import ENGINE, SMALL, TABLE, random_tokens

ENGINES = {
    "ice40": replace(ENGINE, coefficient_bits=16, multipliers=4),
    "gowin": replace(ENGINE, generator="serial"),
}


def hosted_netlist(family: str, folder: Path) -> tuple[SerialHost, dict[str, int]]:
    """A host of the small core's netlist for a family, and its cells."""
    p = replace(SMALL, core=replace(SMALL.core, rope=ENGINES[family]))
    hosted = HostedCore(p)
    verilog, cells = netlist_of(hosted, family, folder)
    model = NativeModel(hosted, streams=(), verilog=verilog)
    return SerialHost(p, model), cells


def check_a_token(host: SerialHost):
    """It identifies, passes its self-test at power-on, and turns a token as golden does."""
    assert host.read("BOARD_IDENT") == [HOST_IDENTIFICATION]
    host.wait(3000)
    assert [host.model.peek(name) for name in ("busy", "passed", "failed")] == [0, 1, 0]
    tokens, position = random_tokens(1), -1234
    host.put(tokens, [position])
    engine = host.parameters.core.rope
    assert engine is not None
    wanted, _ = rope(engine, TABLE, tokens, np.array([position]))
    assert (host.get(tokens) == wanted).all()
    assert host.flags() == set()
