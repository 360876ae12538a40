# SPDX-License-Identifier: Apache-2.0
"""The ALiBi unit gives golden's scores, whatever the order of rows and the state of the streams."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

import numpy as np
import pytest

from ropeway.golden.additive import AlibiGeometry, alibi_slopes
from ropeway.golden.alibi import Form, alibi, scale_code
from ropeway.golden.alibi_parameters import SCALE_FRACTION_BITS, SLOPE_BITS, AlibiParameters
from ropeway.golden.fixed import limits
from ropeway.sim.alibi_bench import AlibiBench, AlibiResult, Segment
from ropeway.sim.bench import Traffic
from ropeway.sim.unit_bench import Image
from tests.geometries import elements

P = AlibiParameters()
ONE = 1 << SCALE_FRACTION_BITS
FORMS = list(Form)
FAR = (0, 1, 2, 7, 100, 4095, 131_071, (1 << 24) + 5, (1 << 25) - 200, -3, -(1 << 25))


@lru_cache(maxsize=4)
def bench_of(p: AlibiParameters) -> AlibiBench:
    return AlibiBench(p)


def geometry(heads: int, form: str = "distance", bias_max: int = 8) -> AlibiGeometry:
    return AlibiGeometry(
        model_slopes=alibi_slopes(heads, Decimal(bias_max)), heads=heads, form=form
    )


def fractions(table: AlibiGeometry) -> list[int]:
    return [round(slope * (1 << SLOPE_BITS)) for slope in table.effective_slopes]


def framed(p: AlibiParameters, segment: Segment) -> tuple[np.ndarray, bool]:
    """A segment's scores as the unit frames them, and whether its packet is malformed."""
    beats = -(-len(segment.scores) // p.lanes)
    if segment.last_at is None or segment.last_at == beats - 1:
        return segment.scores, False
    scores = segment.scores.copy()
    scores[(segment.last_at + 1) * p.lanes :] = 0
    return scores, True


def form_of(table: AlibiGeometry, segment: Segment) -> Form:
    symmetric = table.form == "symmetric" and segment.form is not Form.KEY
    return Form.SYMMETRIC if symmetric else segment.form


def check(
    p: AlibiParameters,
    runs: Sequence[tuple[AlibiGeometry, Sequence[Segment]]],
    traffic: Traffic | None = None,
    scale: int = ONE,
) -> AlibiResult:
    """Load each geometry and run its segments; every score must be golden's."""
    images, segments, saturated, expected = [], [], 0, []
    for table, some in runs:
        images.append(Image(table.image(), len(segments)))
        segments += some
        for segment in some:
            scores, _ = framed(p, segment)
            keys = segment.key + np.arange(len(scores))
            out, count = alibi(
                p,
                fractions(table)[segment.head : segment.head + 1],
                scores[None, None],
                np.array([segment.query]),
                keys,
                form=form_of(table, segment),
                causal=segment.causal,
                window=segment.window,
                scale=scale,
            )
            expected.append(out[0, 0])
            saturated += count
    result = bench_of(p).run(segments, images, traffic, scale=scale)
    for number, (found, out) in enumerate(zip(result.segments, expected, strict=True)):
        assert np.array_equal(found, out), (number, replace(segments[number], scores=None))
    bad = [framed(p, segment)[1] for segment in segments]
    assert result.errors == bad
    first_bad = bad.index(True) if any(bad) else 0
    assert result.run.status == {
        "saturated": int(saturated > 0),
        "malformed": 0,
        "misframed": int(any(bad)),
        "first_bad": first_bad,
    }
    assert result.run.fingerprint == runs[-1][0].fingerprint
    return result


def random_segments(p: AlibiParameters, table: AlibiGeometry, count: int, seed: int):
    """Rows near and far, jumps and steps, every form and mask, segments that continue."""
    random, segments = np.random.default_rng(seed), []
    low, high = limits(p.position_bits)
    room = 60 * p.lanes  # keys in the longest row here
    while len(segments) < count:
        head = int(random.integers(table.heads))
        query = int(np.clip(random.choice(FAR), low + room, high - room))
        key = int(np.clip(query + random.integers(-40, 10), low, high - room))
        if random.random() < 0.2:
            key = int(random.choice([0, low, -query, 3]))
            key = int(np.clip(key, low, high - room))
        fields = {
            "form": Form.KEY if random.random() < 0.25 else Form.DISTANCE,
            "causal": bool(random.random() < 0.6),
            "window": int(random.choice([0, 0, 1, 5, 17])),
        }
        for step in range(int(random.integers(1, 4))):
            start, again = key, int(random.integers(1, 4))
            for _ in range(again):
                length = int(random.integers(1, 5 * p.lanes))
                if random.random() < 0.6:
                    length = -(-length // p.lanes) * p.lanes
                scores = elements(random, (length,), p.data_bits)
                at = min(query + step, high)
                segments.append(Segment(scores, head, at, start, **fields))
                start += length
    return segments[:count]


@pytest.mark.parametrize("traffic", [None, 1], ids=["steady", "stalled-1"])
@pytest.mark.parametrize(
    "parameters",
    [
        AlibiParameters(lanes=1),
        AlibiParameters(lanes=2, data_bits=8, max_heads=16),
        AlibiParameters(lanes=4, data_bits=12, fraction_bits=0),
        AlibiParameters(lanes=8, data_bits=32, max_heads=200),
        AlibiParameters(lanes=16, data_bits=24, fraction_bits=24, position_bits=20),
        AlibiParameters(lanes=1, scaled=True),
        AlibiParameters(lanes=4, data_bits=18, scaled=True),
        AlibiParameters(lanes=8, data_bits=16, fraction_bits=18, scaled=True),
    ],
    ids=lambda p: f"{p.lanes} lanes, {p.data_bits} bits" + ", scaled" * p.scaled,
)
def test_every_score_is_golden_s(parameters, traffic):
    gates = Traffic() if traffic is None else Traffic.random(traffic)
    scale = scale_code(128**-0.5) if parameters.scaled else ONE
    tables = [geometry(12), geometry(16, "symmetric", 16), geometry(3)]
    runs = [
        (table, random_segments(parameters, table, 40, seed=number))
        for number, table in enumerate(tables)
    ]
    check(parameters, runs, gates, scale)


def prefill(p, table, queries, keys, *, pages=None, key_major=False, seed=0):
    """All rows of a prefill, query by query or head by head, each in pages of keys."""
    random = np.random.default_rng(seed)
    scores = elements(random, (len(queries), table.heads, len(keys)), p.data_bits)
    order = [(q, h) for q in range(len(queries)) for h in range(table.heads)]
    if key_major:
        order.sort(key=lambda pair: (pair[1], pair[0]))
    page, segments, cells = pages or len(keys), [], []
    for q, h in order:
        for start in range(0, len(keys), page):
            where = (q, h, slice(start, start + page))
            segments.append(Segment(scores[where], h, int(queries[q]), int(keys[start])))
            cells.append(where)
    return scores, segments, cells


def gathered(result, cells, shape):
    out = np.zeros(shape, np.int64)
    for found, where in zip(result.segments, cells, strict=True):
        out[where] = found
    return out


@pytest.mark.parametrize("key_major", [False, True], ids=["query by query", "head by head"])
def test_a_prefill_equals_its_chunks_its_pages_and_its_decode(key_major):
    table, queries, keys = geometry(3), np.arange(100, 107), np.arange(96, 116)
    scores, segments, cells = prefill(P, table, queries, keys, key_major=key_major)
    whole = gathered(check(P, [(table, segments)]), cells, scores.shape)
    reference, _ = alibi(P, fractions(table), scores, queries, keys)
    assert np.array_equal(whole, reference)
    for pages in (1, 3, 4, 16):
        _, segments, cells = prefill(P, table, queries, keys, pages=pages, key_major=key_major)
        paged = check(P, [(table, segments)], Traffic.random(pages))
        assert np.array_equal(gathered(paged, cells, scores.shape), whole), pages
    decoded = [np.array(check(P, [(table, segments[:n])]).segments[-1]) for n in (1, 7, 20)]
    for n, row in zip((1, 7, 20), decoded, strict=True):
        assert np.array_equal(row, whole[cells[n - 1]])


def test_a_start_is_not_remembered_over_a_load():
    scores = np.zeros(8, np.int64)
    same, steps = Segment(scores, 1, 5000, 4000), Segment(scores, 1, 5001, 4000)
    check(P, [(geometry(4), [same]), (geometry(12), [same]), (geometry(4), [steps, same])])


def test_a_worker_s_heads_take_the_slopes_of_the_whole_model():
    table = geometry(12)
    worker = table.rank(2, 4)
    assert worker.fingerprint == table.fingerprint
    scores = np.zeros((1, worker.heads, 8), np.int64)
    segments = [
        Segment(scores[0, head], worker.first_head + head, 50, 40) for head in range(worker.heads)
    ]
    out = np.array(check(P, [(table, segments)]).segments)
    ours, _ = alibi(P, fractions(worker), scores, np.array([50]), 40 + np.arange(8))
    assert np.array_equal(out, ours[0])


def test_packets_that_end_early_or_late_are_well_framed_and_harm_no_other():
    random, table = np.random.default_rng(3), geometry(4)
    segments = [
        Segment(
            elements(random, (30,), P.data_bits),
            number % 4,
            1000 + number,
            980,
            last_at=(None, 0, 9, 6, 7, None)[number % 6],
        )
        for number in range(24)
    ]
    for traffic in (None, Traffic.random(4)):
        check(P, [(table, segments)], traffic)


def clocks_a_segment(segments, table):
    result = check(P, [(table, segments)])
    last = np.cumsum([-(-len(s.scores) // P.lanes) for s in segments]) - 1
    return np.diff(result.run.result_clocks[last])[3:]


@pytest.mark.parametrize(
    ("kind", "shortest"), [("continues", 4), ("steps", 6), ("repeats", 6), ("jumps", 14)]
)
def test_the_shortest_segment_that_runs_without_a_bubble(kind, shortest):
    table, segments = geometry(4), []
    for beats in (shortest, shortest - 1):
        segments = []
        for number in range(16):
            at = {
                "continues": (5000, 1000 + number * beats * P.lanes),
                "steps": (5000 + number, 1000),
                "repeats": (5000 + number, 1000 + number),
                "jumps": (5000 + 100 * number, 1000),
            }[kind]
            segments.append(Segment(np.zeros(beats * P.lanes, np.int64), 0, *at))
        clocks = clocks_a_segment(segments, table)
        assert np.all(clocks == (beats if beats == shortest else shortest)), beats


def test_the_latency_is_that_stated_and_a_beat_goes_every_clock():
    for p in (P, AlibiParameters(lanes=1), AlibiParameters(lanes=8, data_bits=18, scaled=True)):
        table = geometry(2)
        segment = Segment(np.zeros(64 * p.lanes, np.int64), 0, 64 * p.lanes, 0)
        waited = bench_of(p).run(
            [segment], [Image(table.image())], Traffic(data=lambda s, _r: s.clock > 400)
        )
        assert np.all(np.diff(waited.run.result_clocks) == 1)
        assert waited.run.result_clocks[0] - waited.run.beat_clocks[0] == bench_of(p).unit.latency
