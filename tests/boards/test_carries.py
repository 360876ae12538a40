# SPDX-License-Identifier: Apache-2.0
"""Of an ECP5's carries those that something takes stay, and the others are open."""

import copy

from ropeway.boards.carries import open_carries


def carry(carry_in: int | str, sums: list, carry_out: int) -> dict:
    return {
        "type": "CCU2C",
        "port_directions": {"CIN": "input", "S0": "output", "S1": "output", "COUT": "output"},
        "connections": {"CIN": [carry_in], "S0": [sums[0]], "S1": [sums[1]], "COUT": [carry_out]},
    }


def lut(given: int, made: int) -> dict:
    return {
        "type": "LUT4",
        "port_directions": {"A": "input", "Z": "output"},
        "connections": {"A": [given], "Z": [made]},
    }


CELLS = {
    "low": carry("0", [2, 3], 10),  # the next carry takes it
    "high": carry(10, [4, 5], 11),  # nothing does
    "compared": carry("1", [6, 7], 12),  # a LUT does
    "given": carry("1", [8, 9], 13),  # a port is
    "lut": lut(12, 14),
    "dangling": lut(12, 15),  # no carry
}
NETLIST = {
    "creator": "test",
    "modules": {"top": {"ports": {"o": {"direction": "output", "bits": [13]}}, "cells": CELLS}},
}


def test_a_carry_that_nothing_takes_is_open_and_all_else_as_it_was():
    given = copy.deepcopy(NETLIST)
    opened = open_carries(given)
    assert given == NETLIST
    assert opened["modules"]["top"]["cells"]["high"]["connections"].pop("COUT") == ["x"]
    del given["modules"]["top"]["cells"]["high"]["connections"]["COUT"]
    assert opened == given
