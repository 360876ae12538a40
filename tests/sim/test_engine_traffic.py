# SPDX-License-Identifier: Apache-2.0
"""Streams that come early, late or starved, and packets that end where they should not."""

from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, Pairing
from ropeway.sim.bench import Load, Traffic
from ropeway.sim.traffic import all_of, every, from_clock, positions_ahead, until_output
from tests.geometries import POSITIONS, geometry
from tests.sim.engines import Step, bench_of, check, steps_of, token_of

P = RopeParameters(max_head_dim=64)
TABLE = geometry(64, HeadPattern(2, 1, 1))
LOADS = [Load(0, TABLE)]

GATES = {
    "no position ahead": Traffic(position=positions_ahead(0)),
    "one position ahead": Traffic(position=positions_ahead(1)),
    "all positions ahead": Traffic(data=from_clock(900)),
    "positions late": Traffic(position=from_clock(900)),
    "positions starved": Traffic(position=every(97)),
    "data starved": Traffic(data=every(5)),
    "results hardly taken": Traffic(sink=every(7)),
    "results not taken for long": Traffic(sink=until_output(9, 1500)),
    "all starved": Traffic(every(3), every(61), every(2), every(3)),
    "positions early, random stalls": Traffic.random(11, idle=0.0),
    "positions late, random idle": Traffic(
        Traffic.random(0).data, all_of(positions_ahead(0), every(11)), seed=12
    ),
}


@pytest.mark.parametrize("traffic", GATES.values(), ids=GATES)
def test_traffic_changes_nothing_but_time(traffic):
    check(bench_of(P), steps_of(P, TABLE, POSITIONS), LOADS, traffic)


def test_positions_are_accepted_without_data_up_to_the_depth_of_their_queue():
    steps = steps_of(P, TABLE, range(40))
    result = check(bench_of(P), steps, LOADS, Traffic(data=from_clock(900)))
    early = np.count_nonzero(result.position_clocks < 900)
    assert P.tokens <= early < len(steps)


def test_no_beat_is_accepted_before_its_position():
    steps = steps_of(P, TABLE, range(5))
    result = check(bench_of(P), steps, LOADS, Traffic(position=every(200)))
    first_beats = result.beat_clocks[:: TABLE.pattern.heads * 8]
    assert np.all(first_beats > result.position_clocks)


@pytest.mark.parametrize("pairing", Pairing)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lanes", [4, 8])
def test_packets_that_end_early_or_late_are_well_framed_and_marked_and_harm_no_other(
    lanes, seed, pairing
):
    random, p = np.random.default_rng(seed), replace(P, lanes=lanes)
    table = geometry(64, HeadPattern(2, 0, 1), pairing=pairing, rotary_dim=48)
    beats = 3 * 64 // p.beat_elements
    steps = []
    for number in range(12):
        last_at = random.choice([beats - 1, random.integers(beats), beats + random.integers(30)])
        if number in (3, 4, 11):  # the corners: one beat only, one too few, one too many
            last_at = {3: 0, 4: beats - 2, 11: beats}[number]
        steps.append(Step(table, token_of(p, table, random, position=number, last_at=int(last_at))))
    check(bench_of(p), steps, [Load(0, table)], Traffic.random(seed))


def test_after_a_malformed_packet_alone_the_next_token_is_exact():
    for last_at in (0, 30, 32, 40):
        steps = steps_of(P, TABLE, [1, 2, 3])
        bad = steps_of(P, TABLE, [9], last_at=last_at, seed=last_at)
        check(bench_of(P), [*steps[:1], *bad, *steps[1:]], LOADS)
