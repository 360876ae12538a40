# SPDX-License-Identifier: Apache-2.0
"""The learned adder gives golden's sums from block RAM and over AXI4, errors and all."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden import model_of
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import LearnedGeometry
from ropeway.golden.errors import InputError
from ropeway.golden.learned import add_learned, out_of_table
from ropeway.hdl.learned_adder import LearnedAdder
from ropeway.hdl.learned_ram import LearnedRam
from ropeway.sim.adder_bench import AdderBench, AdderResult, Embedding
from ropeway.sim.bench import Traffic
from ropeway.sim.memory_bench import BASE, MemoryBench
from ropeway.sim.unit_bench import Image
from tests.geometries import data_words

P = AdderParameters(max_width=128)


def ram_bench(p: AdderParameters, depth: int) -> AdderBench:
    return AdderBench(p, LearnedAdder(p, LearnedRam(p, depth)))


def geometry(rows: int, width: int, offset: int = 0) -> LearnedGeometry:
    return LearnedGeometry(rows=rows, width=width, offset=offset)


def tokens_of(p, width, positions, seed=0) -> list[Embedding]:
    random = np.random.default_rng(seed)
    return [Embedding(data_words(random, (width,), p), at) for at in positions]


def framed(p: AdderParameters, token: Embedding) -> tuple[np.ndarray, bool]:
    beats = token.data.size // p.beat_elements
    if token.last_at is None or token.last_at == beats - 1:
        return token.data, False
    data = token.data.copy()
    data[(token.last_at + 1) * p.beat_elements :] = 0
    return data, True


def check(
    bench: AdderBench,
    table: LearnedGeometry,
    rows: np.ndarray,
    tokens: Sequence[Embedding],
    traffic: Traffic | None = None,
    broken: Sequence[bool] | None = None,
) -> AdderResult:
    """Every sum must be golden's, and every token without a row as it was, and marked."""
    p = bench.parameters
    positions = np.array([token.position for token in tokens])
    data = np.stack([framed(p, token)[0] for token in tokens])
    failed = np.zeros(len(tokens), bool) if broken is None else np.array(broken)
    out, saturated = add_learned(p, table, rows, data, positions, broken=failed)
    if isinstance(bench, MemoryBench):
        settings = bench.place(rows)
        result = bench.run(tokens, [Image(table.image())], traffic, settings=settings)
    else:
        result = bench.run(tokens, [Image(table.image())], traffic, table=rows)
    missing = out_of_table(table, positions)
    bad = [framed(p, token)[1] for token in tokens]
    for number, found in enumerate(result.tokens):
        assert np.array_equal(found, out[number]), (number, int(positions[number]))
        passes, marks = missing[number] or failed[number], result.errors[number]
        assert marks == [bool(passes)] * (len(marks) - 1) + [bool(passes or bad[number])]
    failed &= ~missing
    assert result.run.status == {
        "saturated": int(saturated > 0),
        "malformed": 0,
        "misframed": int(any(bad)),
        "first_bad": bad.index(True) if any(bad) else 0,
        "out_of_table": int(missing.any()),
        "first_out_of_table": int(positions[missing][0]) if missing.any() else 0,
        "bus_error": int(failed.any()),
        "first_bus_error": int(positions[failed][0]) if failed.any() else 0,
    }
    assert result.run.fingerprint == table.fingerprint
    return result


def jumps(rows: int, offset: int) -> list[int]:
    """In the table, at both its edges, and far outside."""
    edges = [-1, 0, 1, rows - 2, rows - 1, rows, rows + 1, 2 * rows, (1 << 25) - 1, -(1 << 25)]
    inside = [(7 * n * n) % rows for n in range(14)]
    return [at - offset for at in (*edges[:-1], *inside)] + edges[-1:]


@pytest.mark.parametrize("traffic", [None, 1], ids=["steady", "stalled-1"])
@pytest.mark.parametrize(
    ("parameters", "width", "offset"),
    [
        (AdderParameters(lanes=1, max_width=32), 24, 0),
        (AdderParameters(lanes=2, data_bits=8, max_width=64), 64, 2),
        (AdderParameters(lanes=4, data_bits=12, max_width=128), 72, 1),
        (AdderParameters(lanes=8, data_bits=18, max_width=128), 128, 0),
        (AdderParameters(lanes=1, format="bf16", max_width=32), 24, 2),
        (AdderParameters(lanes=2, format="fp16", max_width=32), 32, 0),
        (AdderParameters(lanes=4, format="bf16", max_width=64), 64, 1),
    ],
    ids=lambda value: (
        f"{value.lanes} lanes" + f", {value.format}" * bool(value.floating)
        if isinstance(value, AdderParameters)
        else str(value)
    ),
)
def test_every_sum_from_block_ram_is_golden_s(parameters, width, offset, traffic):
    p, table = parameters, geometry(21, width, offset)
    rows = data_words(np.random.default_rng(1), (21, width), p)
    bench = ram_bench(p, 21 * width // p.beat_elements)
    gates = Traffic() if traffic is None else Traffic.random(traffic)
    check(bench, table, rows, tokens_of(p, width, jumps(21, offset)), gates)


@pytest.mark.parametrize("stress", [None, 1, 2], ids=["steady", "stalled-1", "stalled-2"])
@pytest.mark.parametrize(
    ("parameters", "bus", "width"),
    [
        (AdderParameters(lanes=1, max_width=32), 32, 24),
        (AdderParameters(lanes=2, data_bits=8, max_width=64), 128, 52),
        (AdderParameters(lanes=4, max_width=256), 256, 232),
        (AdderParameters(lanes=4, max_width=1024), 512, 1024),
        (AdderParameters(lanes=1, format="fp16", max_width=32), 32, 24),
        (AdderParameters(lanes=2, format="bf16", max_width=64), 128, 52),
    ],
    ids=["a beat", "four beats", "two beats", "long rows", "fp16", "bf16"],
)
def test_every_sum_over_axi_is_golden_s(parameters, bus, width, stress):
    p, table = parameters, geometry(21, width)
    rows = data_words(np.random.default_rng(1), (21, width), p)
    memory: dict = {"latency": 8}
    gates = Traffic()
    if stress is not None:
        memory = {"latency": 30 * stress, "stall": 0.4, "pause": 0.3, "seed": stress}
        gates = Traffic.random(stress)
    bench = MemoryBench(p, bus, **memory)
    check(bench, table, rows, tokens_of(p, width, jumps(21, 0)), gates)
    missing = out_of_table(table, np.array(jumps(21, 0))).sum()
    assert len(bench.memory.bursts) >= len(jumps(21, 0)) - missing
    assert bench.memory.most_outstanding > 1


@pytest.mark.parametrize(("seed", "form"), [(0, "fixed"), (1, "fixed"), (2, "bf16"), (3, "fp16")])
def test_a_row_with_a_bus_error_passes_its_token_and_harms_no_other(seed, form):
    p, table = AdderParameters(max_width=128, format=form), geometry(16, 128)
    rows = data_words(np.random.default_rng(2), (16, 128), p)
    bench = MemoryBench(p, 128, latency=10, pause=0.2, seed=seed)
    bad_rows = {3: 0, 7: 15, 8: 6, 15: 3}  # of each, the word that fails
    bench.memory.broken = lambda address: (
        bad_rows.get((address - BASE) // 256, -1) == (address - BASE) % 256 // 16
    )
    positions = [0, 3, 4, 7, 8, 9, -1, 3, 15, 0, 5, 16, 7]
    tokens = tokens_of(p, 128, positions)
    check(bench, table, rows, tokens, Traffic.random(seed), [at in bad_rows for at in positions])


@pytest.mark.parametrize("source", ["block RAM", "memory"])
def test_packets_that_end_early_or_late_are_well_framed_and_harm_no_other(source):
    rows = data_words(np.random.default_rng(3), (24, 64), P)
    bench = ram_bench(P, 24 * 8) if source == "block RAM" else MemoryBench(P, 256)
    tokens = [
        replace(token, last_at=(None, 0, 9, 6, 7, None)[number % 6])
        for number, token in enumerate(tokens_of(P, 64, [*range(20), -2, 24, 3, 30]))
    ]
    for traffic in (None, Traffic.random(4)):
        check(bench, geometry(24, 64), rows, tokens, traffic)


@pytest.mark.parametrize("source", ["block RAM", "memory"])
def test_a_prefill_loses_no_beat_and_equals_its_chunks_and_its_decode(source):
    table = geometry(40, 128, offset=2)
    rows = data_words(np.random.default_rng(5), (40, 128), P)
    bench = ram_bench(P, 40 * 16) if source == "block RAM" else MemoryBench(P, 128, latency=25)
    tokens = tokens_of(P, 128, range(30))
    whole = check(bench, table, rows, tokens)
    assert np.all(np.diff(whole.run.result_clocks) == 1)
    start = 0
    for size in (1, 1, 5, 8, 15):
        part = check(bench, table, rows, tokens[start : start + size], Traffic.random(size))
        for ours, theirs in zip(part.tokens, whole.tokens[start:], strict=False):
            assert np.array_equal(ours, theirs)
        start += size


@pytest.mark.parametrize(
    "p", [P, AdderParameters(format="bf16", max_width=128)], ids=lambda p: p.format
)
def test_block_ram_s_latency_is_that_stated_and_rows_of_four_beats_follow_without_a_bubble(p):
    table = geometry(40, 32)
    rows = data_words(np.random.default_rng(5), (40, 32), p)
    bench = ram_bench(p, 40 * 4)
    run = check(bench, table, rows, tokens_of(p, 32, range(40))).run
    assert run.result_clocks[0] - run.position_clocks[0] == bench.unit.latency
    assert np.all(np.diff(run.result_clocks) == 1)


def test_a_table_that_does_not_fit_is_malformed():
    table = geometry(8, 64)
    rows = data_words(np.random.default_rng(0), (8, 64), P)
    for wrong in (
        geometry(8, 136),
        geometry(8, 60),
        geometry(1000, 64),
        geometry(9, 64),
        geometry(64, 16),
        geometry(8, 64, 1 << 25),
    ):
        bench = ram_bench(P, 64)
        images = [Image(wrong.image()), Image(table.image())]
        result = bench.run(tokens_of(P, 64, [3]), images, table=rows)
        assert result.run.status["malformed"] == 1
        assert result.run.fingerprint == table.fingerprint


def test_a_table_fills_its_block_ram_to_the_last_beat():
    for table in (geometry(8, 64), geometry(64, 8), geometry(4, 128)):
        rows = data_words(np.random.default_rng(0), (table.rows, table.width), P)
        positions = [table.rows - 1, 0, table.rows, table.rows // 2]
        check(ram_bench(P, 64), table, rows, tokens_of(P, table.width, positions))


def test_a_table_in_several_banks_is_read_whole_and_at_a_beat_a_clock():
    p, table = AdderParameters(lanes=1, data_bits=8, max_width=32), geometry(160, 32)
    rows = data_words(np.random.default_rng(8), (160, 32), p)
    bench = ram_bench(p, 160 * 16)
    positions = [0, 63, 64, 159, 127, 128, 1, *range(60, 68), 160]
    run = check(bench, table, rows, tokens_of(p, 32, positions)).run
    assert np.all(np.diff(run.result_clocks) == 1)
    assert run.result_clocks[0] - run.position_clocks[0] == bench.unit.latency


def test_beats_of_a_table_beyond_the_block_ram_are_dropped_and_set_malformed():
    table = geometry(8, 64)
    rows = data_words(np.random.default_rng(0), (10, 64), P)
    tokens = tokens_of(P, 64, [0, 1, 7])
    result = ram_bench(P, 64).run(tokens, [Image(table.image())], table=rows)
    out, _ = add_learned(
        P, table, rows[:8], np.stack([token.data for token in tokens]), np.array([0, 1, 7])
    )
    assert all(map(np.array_equal, result.tokens, out))
    assert result.run.status["malformed"] == 1


def test_a_bus_that_no_beat_divides_is_refused():
    for bits in (64, 96, 2048):
        with pytest.raises(InputError, match="bus_bits"):
            P.check_bus(bits)


@pytest.mark.slow
def test_gpt_2_s_prefill_from_external_memory_loses_no_beat_and_its_edges_behave():
    p = AdderParameters(max_width=1024)
    table = model_of("gpt2").geometry()
    assert isinstance(table, LearnedGeometry)
    assert (table.rows, table.width) == (1024, 768)
    rows = data_words(np.random.default_rng(6), (1024, 768), p)
    bench = MemoryBench(p, 256, latency=40)
    tokens = tokens_of(p, 768, [*range(1024), 1024, 1025, -1, 1023])
    run = check(bench, table, rows, tokens).run
    assert np.all(np.diff(run.result_clocks) == 1)
    assert len(run.result_clocks) == 1028 * 96
    assert len(bench.memory.bursts) >= 1025  # nothing is read for the three that are not there
