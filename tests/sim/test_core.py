# SPDX-License-Identifier: Apache-2.0
"""The whole core does what docs/datasheet.md says: as a model of its very Verilog."""

from functools import lru_cache

import numpy as np
import pytest

from ropeway.golden.table import HeadPattern, Pairing
from ropeway.hdl.core import RopewayCore
from ropeway.hdl.engine import RopeEngine
from ropeway.sim.core_bench import CoreBench, MismatchError, Write, load_writes
from ropeway.sim.core_script import CoreLoad, CoreScript, CoreToken, written
from ropeway.sim.core_traffic import CoreTraffic, preset_tables
from ropeway.sim.core_words import words_of_elements
from ropeway.sim.random_words import data_words
from ropeway.sim.regression import CORES
from tests.geometries import geometry

P = CORES["all-2x16"]()
BYPASS = len(P.slots) - 1
TABLE = preset_tables(P.rope)[0]
SIZE = TABLE.pattern.heads * TABLE.head_dim

pytestmark = pytest.mark.slow  # the first of them compiles the core


@lru_cache(maxsize=1)
def bench() -> CoreBench:
    return CoreBench(P, CoreTraffic(P, 0).table)


def token(slot: int = 0, seed: int = 0, **fields) -> CoreToken:
    return CoreToken(data_words(np.random.default_rng(seed), (SIZE,), P.rope), slot, **fields)


def loaded_script(*tokens: CoreToken) -> CoreScript:
    return written(P, [CoreLoad(0, TABLE), *tokens])


def write(name: str, number: int = 0, **fields: int):
    """One write over the bus, which must be answered OKAY."""
    register = bench().registers[name]
    put(Write(register.address(number), register.encode(**fields)))


def put(write: Write) -> int:
    """What a write is answered."""
    run = bench().model.run(
        {
            "s_axi__aw": np.array([[write.address, 0]], "<u4"),
            "s_axi__w": np.array([[write.word, 15]], "<u4"),
        },
        {"s_axi__b": 1},
    )
    return int(run.items["s_axi__b"][0, 0])


def test_a_position_s_first_result_comes_as_long_after_its_unit_s_as_the_core_says():
    adjacent = geometry(64, HeadPattern(2, 1, 1), pairing=Pairing.ADJACENT)
    data = data_words(np.random.default_rng(0), (4 * 64,), P.rope)
    script = written(P, [CoreLoad(0, adjacent), CoreToken(data, 0, (9,))])
    bench().run(written(P, [CoreLoad(0, adjacent), CoreToken(data, 0)]))  # and its row is made
    streams = {"s_axis": script.beats, "s_axis_position": script.positions}
    run = bench().model.run(streams, {"m_axis": len(script.results)})
    clocks = run.at["m_axis"][0] - run.at["s_axis_position"][0]
    assert clocks == RopeEngine(P.rope).latency + RopewayCore(P).added_latency


def test_counted_positions_are_those_of_a_stream():
    tokens = [token(seed=n, position=(100 + n,), conjugate=True) for n in range(5)]
    script = loaded_script(*tokens)
    bench().run(loaded_script(token()))  # the table is in its slot
    write("AUTO_BASE", value=100)
    write("AUTO_COUNT", value=5)
    write("AUTO_USE", slot=0, conjugate=1)
    write("AUTO_CONTROL", start=1)
    run = bench().model.run({"s_axis": script.beats}, {"m_axis": len(script.results)})
    assert np.array_equal(run.items["m_axis"], script.results)
    assert bench().read("AUTO_LEFT") == {"value": 0}
    assert bench().read("CORE_FLAGS")["counted"] == 1


def test_data_wait_for_their_position_and_are_counted_as_waiting():
    script = loaded_script(token())
    bench().run(loaded_script(token()))
    before = bench().read("VECTOR_NO_POSITION")["value"]
    run = bench().model.run({"s_axis": script.beats}, {"m_axis": 1}, limit=200)
    assert len(run.items["m_axis"]) == 0
    assert bench().read("VECTOR_NO_POSITION")["value"] - before >= 190
    taken = len(run.at["s_axis"])
    rest = {"s_axis": script.beats[taken:], "s_axis_position": script.positions}
    run = bench().model.run(rest, {"m_axis": len(script.results)})
    assert np.array_equal(run.items["m_axis"], script.results)


def test_positions_wait_for_their_data_as_many_as_the_queues_hold():
    tokens = [token(seed=n, position=(n,)) for n in range(60)]
    script = loaded_script(*tokens)
    bench().run(loaded_script(token()))
    run = bench().model.run({"s_axis_position": script.positions}, {"m_axis": 1}, limit=400)
    taken = len(run.at["s_axis_position"])
    assert 16 <= taken < 60
    assert bench().read("TARGET_STATUS")["busy"] == 1
    rest = {"s_axis": script.beats, "s_axis_position": script.positions[taken:]}
    run = bench().model.run(rest, {"m_axis": len(script.results)})
    assert np.array_equal(run.items["m_axis"], script.results)
    assert bench().read("TARGET_STATUS")["busy"] == 0


def test_a_load_of_a_busy_slot_changes_nothing_and_is_flagged():
    script = loaded_script(token(position=(77,)))
    bench().run(loaded_script(token()))
    bench().model.step(8 * len(TABLE.image()))  # until it is digested
    assert bench().read("FINGERPRINT")["value"] == int(TABLE.fingerprint, 16)
    bench().model.run({"s_axis_position": script.positions}, {}, limit=50)
    for write in load_writes(bench().registers, 0, preset_tables(P.rope)[1].image()):
        assert put(write) == 0
    bench().model.step(8 * len(TABLE.image()))
    assert bench().read("ROPE_FLAGS")["refused"] == 1
    assert bench().read("FINGERPRINT")["value"] == int(TABLE.fingerprint, 16)
    run = bench().model.run({"s_axis": script.beats}, {"m_axis": len(script.results)})
    assert np.array_equal(run.items["m_axis"], script.results)


def test_a_flag_raises_the_interrupt_until_it_is_cleared():
    bench().run(loaded_script(token(partial_at=1), token(BYPASS)))
    assert bench().read("CORE_FLAGS")["partial"] == 1
    write("CORE_ENABLE", partial=1)
    bench().model.step(4)
    assert bench().model.peek("irq") == 1
    write("CORE_FLAGS", partial=1)
    bench().model.step(4)
    assert bench().model.peek("irq") == 0
    assert bench().read("CORE_FLAGS")["partial"] == 0


def test_a_slot_that_does_not_exist_is_flagged_as_that_alone():
    bench().run(loaded_script(token(), token(len(P.slots) + 9)))
    flags = bench().read("CORE_FLAGS")
    assert (flags["unknown"], flags["partial"]) == (1, 0)


def test_the_bypass_passes_packets_of_any_length_in_their_place():
    packets = [data_words(np.random.default_rng(n), (4 * n,), P.rope) for n in (1, 7, 300)]
    steps = [CoreLoad(0, TABLE), token(), *(CoreToken(d, BYPASS) for d in packets), token()]
    run = bench().run(written(P, steps))
    ends = np.cumsum([SIZE // 4, 1, 7, 300])
    for data, start, stop in zip(packets, ends, ends[1:], strict=False):
        words = run.items["m_axis"][start:stop]
        assert np.array_equal(words_of_elements(words, 2, 4).reshape(-1), data)


def test_what_differs_from_golden_by_a_bit_is_told():
    script = loaded_script(token())
    script.results[3, 1] ^= 1
    with pytest.raises(MismatchError, match="m_axis: item 3 is"):
        bench().run(script)
