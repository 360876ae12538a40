# SPDX-License-Identifier: Apache-2.0
"""The sinusoidal adder gives golden's sums at any position, whatever the state of the streams."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

import numpy as np
import pytest

from ropeway.golden import model_of
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import SinusoidalGeometry
from ropeway.golden.sinusoidal import add_sinusoidal
from ropeway.hdl.sinusoidal_adder import SinusoidalAdder
from ropeway.sim.adder_bench import AdderBench, AdderResult, Embedding
from ropeway.sim.bench import Traffic
from ropeway.sim.unit_bench import Image
from tests.geometries import POSITIONS, data_words

P = AdderParameters(max_width=128)
LAYOUTS = ("interleaved", "sin-cos", "cos-sin")


@lru_cache(maxsize=4)
def bench_of(p: AdderParameters) -> AdderBench:
    return AdderBench(p, SinusoidalAdder(p))


def geometry(width: int, layout: str, offset: int = 0, scale: float = 1.0) -> SinusoidalGeometry:
    frequencies = [Decimal(10000) ** (Decimal(-2 * i) / width) for i in range(width // 2)]
    return SinusoidalGeometry(
        width=width, inv_freq=tuple(frequencies), layout=layout, offset=offset, scale=scale
    )


def tokens_of(p, table, positions, seed=0, **fields) -> list[Embedding]:
    random = np.random.default_rng(seed)
    return [
        Embedding(data_words(random, (table.width,), p), position, **fields)
        for position in positions
    ]


def framed(p: AdderParameters, token: Embedding) -> tuple[np.ndarray, bool]:
    """A token's elements as the adder frames them, and whether its packet is malformed."""
    beats = token.data.size // p.beat_elements
    if token.last_at is None or token.last_at == beats - 1:
        return token.data, False
    data = token.data.copy()
    data[(token.last_at + 1) * p.beat_elements :] = 0
    return data, True


def check(
    p: AdderParameters,
    runs: Sequence[tuple[SinusoidalGeometry, Sequence[Embedding]]],
    traffic: Traffic | None = None,
) -> AdderResult:
    """Load each geometry and run its tokens; every sum must be golden's."""
    images, tokens, expected, saturated, bad = [], [], [], 0, []
    for table, some in runs:
        images.append(Image(table.image(), len(tokens)))
        tokens += some
        for token in some:
            data, wrong = framed(p, token)
            out, count = add_sinusoidal(p, table, data[None], np.array([token.position]))
            expected.append(out[0])
            saturated += count
            bad.append(wrong)
    result = bench_of(p).run(tokens, images, traffic)
    for number, (found, out) in enumerate(zip(result.tokens, expected, strict=True)):
        assert np.array_equal(found, out), (number, replace(tokens[number], data=None))
    assert [marks[-1] for marks in result.errors] == bad
    assert not any(any(marks[:-1]) for marks in result.errors)
    assert result.run.status == {
        "saturated": int(saturated > 0),
        "malformed": 0,
        "misframed": int(any(bad)),
        "first_bad": bad.index(True) if any(bad) else 0,
    }
    assert result.run.fingerprint == runs[-1][0].fingerprint
    return result


@pytest.mark.parametrize("traffic", [None, 1], ids=["steady", "stalled-1"])
@pytest.mark.parametrize(
    "parameters",
    [
        AdderParameters(lanes=1, max_width=64),
        AdderParameters(lanes=2, data_bits=8, max_width=64),
        AdderParameters(lanes=4, data_bits=12, max_width=128, generator="shared"),
        AdderParameters(lanes=4, max_width=128, scaled=True),
        AdderParameters(lanes=8, data_bits=18, max_width=256),
        AdderParameters(lanes=2, fraction_bits=16, max_width=64, scaled=True),
        AdderParameters(lanes=1, fraction_bits=-14, max_width=32, scaled=True),
        AdderParameters(lanes=1, format="fp16", max_width=64),
        AdderParameters(lanes=2, format="bf16", max_width=64, scaled=True),
        AdderParameters(lanes=4, format="bf16", max_width=64, generator="serial"),
        AdderParameters(lanes=4, format="fp16", max_width=64, scaled=True),
    ],
    ids=lambda p: " ".join(
        [f"{p.lanes} lanes,", p.format if p.floating else f"{p.data_bits}.{p.fraction_bits}"]
        + ["scaled"] * p.scaled
    ),
)
def test_every_sum_is_golden_s(parameters, traffic):
    gates = Traffic() if traffic is None else Traffic.random(traffic)
    runs = []
    for number, layout in enumerate(LAYOUTS):
        width = parameters.max_width >> number % 2
        scale = width**0.5 if parameters.scaled else 1.0
        table = geometry(width, layout, offset=(0, 2, 77)[number], scale=scale)
        positions = [min(at, (1 << 25) - 100) for at in POSITIONS]
        runs.append((table, tokens_of(parameters, table, positions, seed=number)))
    check(parameters, runs, gates)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_prefill_runs_at_a_beat_a_clock_and_equals_its_chunks_and_its_decode(layout):
    table = geometry(64, layout)
    tokens = tokens_of(P, table, range(1000, 1008))
    whole = check(P, [(table, tokens)])
    assert np.all(np.diff(whole.run.result_clocks) == 1)
    beats = table.width // P.beat_elements
    latency = whole.run.result_clocks[0] - whole.run.position_clocks[0]
    assert latency == bench_of(P).unit.latency + beats - 1
    for sizes in ([1] * 8, [5, 3]):
        start = 0
        for size in sizes:
            part = check(P, [(table, tokens[start : start + size])], Traffic.random(size))
            for ours, theirs in zip(part.tokens, whole.tokens[start:], strict=False):
                assert np.array_equal(ours, theirs)
            start += size


@pytest.mark.parametrize("scaled", [False, True])
def test_a_prefill_of_floats_runs_at_a_beat_a_clock_with_the_latency_stated(scaled):
    p = AdderParameters(format="bf16", max_width=128, scaled=scaled)
    table = geometry(128, "sin-cos", scale=128**0.5 if scaled else 1.0)
    run = check(p, [(table, tokens_of(p, table, range(8)))]).run
    assert np.all(np.diff(run.result_clocks) == 1)
    latency = run.result_clocks[0] - run.position_clocks[0]
    assert latency == bench_of(p).unit.latency + 128 // p.beat_elements - 1


def test_floats_that_end_early_or_late_are_well_framed_and_harm_no_other():
    p = AdderParameters(format="fp16", lanes=2, max_width=64, scaled=True)
    table = geometry(64, "interleaved", scale=8.0)
    tokens = [
        replace(token, last_at=(None, 0, 17, 14, 15, None)[number % 6])
        for number, token in enumerate(tokens_of(p, table, range(12)))
    ]
    check(p, [(table, tokens)], Traffic.random(6))


@pytest.mark.parametrize(("generator", "interval"), [("shared", 3), ("serial", 15)])
def test_a_small_generator_s_interval_is_the_adder_s(generator, interval):
    p = AdderParameters(lanes=2, max_width=64, generator=generator)
    table = geometry(64, "sin-cos")
    result = check(p, [(table, tokens_of(p, table, range(8)))])
    beats = 64 // p.beat_elements
    ends = result.run.result_clocks[beats - 1 :: beats]
    assert np.all(np.diff(ends)[2:] == interval * beats)
    latency = result.run.result_clocks[0] - result.run.position_clocks[0]
    assert latency == bench_of(p).unit.latency + interval * (beats - 1)


def test_packets_that_end_early_or_late_are_well_framed_and_harm_no_other():
    table = geometry(64, "interleaved")
    tokens = [
        replace(token, last_at=(None, 0, 9, 6, 7, None)[number % 6])
        for number, token in enumerate(tokens_of(P, table, range(24)))
    ]
    for traffic in (None, Traffic.random(4)):
        check(P, [(table, tokens)], traffic)


@pytest.mark.parametrize(
    ("config", "name"), [("whisper-tiny", "encoder"), ("transformer-base", "default")]
)
def test_the_hardware_s_fingerprint_is_the_command_s(config, name):
    geometry = model_of(config).geometry(name)
    p = AdderParameters(lanes=1, max_width=512, scaled=True)
    assert isinstance(geometry, SinusoidalGeometry)
    check(p, [(geometry, tokens_of(p, geometry, [0, 5]))])


def wrong_images() -> dict[str, np.ndarray]:
    good = geometry(64, "sin-cos").image()

    def changed(at: int, word: int) -> np.ndarray:
        words = good.copy()
        words[at] = word
        return words

    return {
        "scheme": changed(0, int(geometry(64, "sin-cos").image()[0]) ^ 0x100),
        "too wide": geometry(256, "interleaved").image(),
        "no width": changed(1, 0),
        "halves that no beat divides": geometry(72, "sin-cos").image(),
        "layout": changed(2, 3),
        "offset": changed(3, 1 << 25),
        "scale": changed(4, 1 << 17 | 1 << 18),
        "short": good[:-2],
        "long": np.append(good, good[-2:]),
    }


@pytest.mark.parametrize("kind", wrong_images())
def test_an_image_that_cannot_be_served_is_malformed_and_the_next_one_works(kind):
    table = geometry(64, "sin-cos")
    tokens = tokens_of(P, table, [3])
    images = [Image(wrong_images()[kind]), Image(table.image())]
    result = bench_of(P).run(tokens, images)
    assert result.run.status["malformed"] == 1
    assert result.run.fingerprint == table.fingerprint
