# SPDX-License-Identifier: Apache-2.0
"""Both ledgers say what a sum of all that came and was needed would say."""

import numpy as np
import pytest

from ropeway.hdl.ledger import Ledger, UnitLedger
from tests.hdl.benches import clock_through

CLOCKS = 3000


def traffic(takes, seed: int):
    """Gains, loads and takes, none loaded before what is owed has come; and the balances.

    The balances are of the clock itself.
    """
    random = np.random.default_rng(seed)
    balance, rows, busy = 0, [], seed % 2
    for clock in range(CLOCKS):
        gain = int(random.random() < (0.7 if (clock // 50 + busy) % 2 else 0.3) and balance < 30)
        take = int(random.choice(takes))
        load = int(balance >= 0 and random.random() < 0.6)
        rows.append((gain, load, take, balance))
        balance += gain + take * load
    return [list(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_ledger_answers_for_what_has_come(seed):
    gain, loads, take, balances = traffic([0, -1, -2, -7], seed)
    found = clock_through(
        Ledger(40), {"gain": gain, "loads": loads, "take": take}, ["enough", "enough_after"]
    )
    goes = np.array(balances) + take
    assert found["enough"].tolist() == [int(balance >= 0) for balance in balances]
    assert found["enough_after"].tolist() == [int(balance >= 0) for balance in goes]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_unit_ledger_answers_for_the_next_clock(seed):
    gain, loads, _, balances = traffic([-1], seed)
    found = clock_through(
        UnitLedger(40), {"gain": gain, "loads": loads}, ["enough", "enough_after"]
    )
    stays = np.array(balances) + gain
    assert found["enough"].tolist() == [int(balance >= 0) for balance in stays]
    may_load = np.array(balances) >= 0  # its second answer is for these clocks
    assert np.array_equal(found["enough_after"][may_load], stays[may_load] >= 1)
