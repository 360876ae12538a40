# SPDX-License-Identifier: Apache-2.0
"""Geometry travels with the token: slots alternate, load while others run, and have no memory."""

from dataclasses import replace

import numpy as np
import pytest

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, PhaseTable
from ropeway.sim.bench import Gate, Load, Token, Traffic
from ropeway.sim.traffic import every, from_clock, loaded, positions_ahead
from tests.geometries import geometry
from tests.sim.engines import Step, bench_of, check, expected, steps_of, token_of

P = RopeParameters(max_head_dim=128)
PATTERN = HeadPattern(4, 1, 1)
LOCAL = geometry(128, PATTERN, theta=10_000.0)
GLOBAL = geometry(128, PATTERN, theta=1_000_000.0)
NOPE = geometry(128, PATTERN, rotary_dim=0)
STRETCHED = geometry(128, PATTERN, theta=1_000_000.0 * 8, attention_factor=1.2079442)
SMALL = RopeParameters(max_head_dim=64)
ONE = geometry(64, HeadPattern(1, 1))
OTHER = geometry(64, HeadPattern(1, 1), theta=500_000.0, attention_factor=1.2)
WORDS = len(ONE.image())
SETTLED = 600  # clocks in which an image here is loaded, and another may follow
VERDICT = 60  # clocks after an image's last word by which its flags are up


def test_three_geometries_alternate_without_an_idle_beat_while_a_fourth_is_loaded_and_used():
    random = np.random.default_rng(0)
    slots = [LOCAL, GLOBAL, NOPE, STRETCHED]
    order = [0, 1, 2] * 4 + [3, 0, 3, 1, 3, 2]
    steps = [
        Step(slots[slot], token_of(P, slots[slot], random, position=at, slot=slot))
        for at, slot in enumerate(order)
    ]
    loads = [Load(slot, table) for slot, table in enumerate(slots[:3])]
    loads.append(Load(3, STRETCHED, after=2))
    traffic = Traffic(position=loaded([sum(len(t.image()) for t in slots[:3])] * (len(steps) + 1)))
    result = check(bench_of(P), steps, loads, traffic)
    head = 128 // P.beat_elements
    assert np.all(np.diff(result.result_clocks[head:]) == 1)  # all but the very first row's head
    fourth = result.load_clocks[-len(STRETCHED.image()) :]
    assert result.result_clocks[0] < fourth[0]
    assert fourth[-1] < result.result_clocks[-1]


def values(steps: list[Step], traffic: Traffic | None = None) -> dict[int, np.ndarray]:
    """The hardware's packets, by the identity of their tokens' data."""
    result = check(bench_of(SMALL), steps, [Load(0, ONE), Load(1, OTHER)], traffic)
    found: dict[int, np.ndarray] = {}
    for step, packet in zip(steps, result.packets, strict=True):
        again = found.setdefault(id(step.token.data), packet)
        assert np.array_equal(again, packet)
    return found


def test_a_token_has_the_same_values_in_any_company():
    first = steps_of(SMALL, ONE, range(8), seed=1)
    second = steps_of(SMALL, OTHER, range(100_000, 100_008), seed=2, slot=1)
    packed = steps_of(SMALL, ONE, [0, 1, 2, 0, 1, 0], seed=3)
    alone = values(first) | values(second) | values(packed)

    padding = steps_of(SMALL, ONE, [0, 0, 0], seed=4)
    companies = {
        "interleaved": [step for pair in zip(first, second, strict=True) for step in pair],
        "packed sequences that restart at 0": [*first, *packed, *second],
        "left padding": [*padding, *first],
        "a speculative rollback": [*first[:6], *first[3:6], *first[3:]],
        "backwards": [*first, *second][::-1],
    }
    for name, steps in companies.items():
        for data, packet in values(steps, Traffic.random(len(name))).items():
            assert np.array_equal(alone.get(data, packet), packet), name


@pytest.mark.parametrize("sizes", [[1] * 8, [3, 5], [4, 1, 3], [7, 1]])
def test_any_split_of_a_prefill_gives_the_values_of_the_whole(sizes):
    steps = steps_of(SMALL, ONE, range(500, 508))
    whole = values(steps)
    ends = np.cumsum(sizes)
    for start, end in zip(ends - sizes, ends, strict=True):
        for data, packet in values(steps[start:end]).items():
            assert np.array_equal(whole[data], packet)


def test_decoding_token_by_token_gives_the_values_of_prefill():
    steps = steps_of(SMALL, ONE, range(8))
    whole = values(steps)
    slow = values(steps, Traffic(position=positions_ahead(0), sink=every(3)))
    assert all(np.array_equal(whole[data], slow[data]) for data in whole)


def test_a_shared_row_is_that_of_the_same_position_slot_and_flags_alone():
    random = np.random.default_rng(0)
    variants = [
        *({}, {}, {"conjugate": True}, {}, {"pure": True}, {"pure": True}, {"bypass": True}),
        *({}, {"bypass": True, "position": 7}, {}, {"position": 8}, {"slot": 0}, {}, {}),
    ]
    steps = []
    for variant in variants * 2:
        fields = {"position": 7, "slot": 1, **variant}
        table = (ONE, OTHER)[fields["slot"]]
        steps.append(Step(table, token_of(SMALL, table, random, **fields)))
    check(bench_of(SMALL), steps, [Load(0, ONE), Load(1, OTHER)], Traffic.random(3))


@pytest.mark.parametrize("waits", [True, False], ids=["waiting", "later"])
@pytest.mark.parametrize("between", [0, 1])
def test_a_row_is_not_shared_across_a_load_of_its_slot(between, waits):
    # The same position again after its slot was loaded anew, offered during the load or after it;
    # with and without tokens between.
    others = steps_of(SMALL, OTHER, [7] * between, slot=1)
    before = [*steps_of(SMALL, ONE, [7, 7]), *others]
    steps = [*before, *steps_of(SMALL, OTHER, [7, 7], seed=1)]
    loads = [Load(0, ONE), Load(1, OTHER), Load(0, OTHER, after=len(before))]

    def position(progress, _random):
        if progress.positions < len(before):
            return progress.loads >= 2 * WORDS
        return progress.loads >= 2 * WORDS + 8 if waits else progress.clock >= 3 * SETTLED

    result = check(bench_of(SMALL), steps, loads, Traffic(position=position))
    last_load, position = result.load_clocks[-1], result.position_clocks[len(before)]
    assert (position - last_load > VERDICT) != waits


def test_a_position_that_names_a_slot_being_loaded_waits_and_uses_the_new_geometry():
    steps = [*steps_of(SMALL, ONE, [7]), *steps_of(SMALL, OTHER, [7])]
    loads = [Load(0, ONE), Load(0, OTHER, after=1)]
    for begun in (8, 20, WORDS):
        traffic = Traffic(position=loaded([0, WORDS + begun, 0]), load=every(2))
        result = check(bench_of(SMALL), steps, loads, traffic)
        assert result.position_clocks[0] > result.load_clocks[WORDS - 1]
        assert result.position_clocks[1] > result.load_clocks[-1]


def test_other_slots_run_while_a_position_does_not_wait_for_their_load():
    steps = steps_of(SMALL, ONE, range(30))
    loads = [Load(0, ONE), *(Load(1 + number % 3, OTHER, after=number) for number in range(12))]
    result = check(bench_of(SMALL), steps, loads)
    beats = np.diff(result.result_clocks)
    alone = check(bench_of(SMALL), steps, loads[:1])
    assert np.array_equal(beats, np.diff(alone.result_clocks))


def test_writing_a_busy_slot_is_refused_and_its_tokens_are_exact():
    steps = steps_of(SMALL, ONE, range(6))
    loads = [Load(0, ONE), Load(0, OTHER)]

    def while_busy(progress, _random):
        return progress.loads < WORDS or progress.tokens_in >= 2

    traffic = Traffic(load=while_busy, position=from_clock(SETTLED))
    check(bench_of(SMALL), steps, loads, traffic, status={"refused": 1}, extra_clocks=VERDICT)


TINY = RopeParameters(lanes=2, data_bits=8, max_head_dim=16, slots=2)
OLD = geometry(16, HeadPattern(1, 0), theta=100.0)
NEW = geometry(16, HeadPattern(1, 0), theta=7.0)
OLD_WORDS = len(OLD.image())
TINY_SETTLED = 400  # as SETTLED, for these


def second_load_from(clock: int) -> Gate:
    """For loads: the first image at once, the second from ``clock``."""
    return lambda progress, _random: progress.loads < OLD_WORDS or progress.clock >= clock


def outcome(tokens: list[Token], traffic: Traffic) -> tuple[int, list[PhaseTable]]:
    """Whether the load of NEW over OLD was refused, and the table each token was turned by."""
    loads = [Load(0, OLD), Load(0, NEW)]
    result = bench_of(TINY).run(tokens, loads, traffic, extra_clocks=VERDICT)
    assert result.status["malformed"] == 0
    used = [
        next(t for t in (OLD, NEW) if np.array_equal(packet, expected(TINY, Step(t, token))[0][0]))
        for packet, token in zip(result.packets, tokens, strict=True)
    ]
    return result.status["refused"], used


def test_a_load_that_races_with_a_position_is_refused_or_waited_for():
    # The load begins some clocks before, with or after the position: one of the two wins, whole.
    tokens = [step.token for step in steps_of(TINY, OLD, [3, 4])]
    outcomes = set()
    for lead in range(-8, 20):
        position = from_clock(TINY_SETTLED + lead)
        traffic = Traffic(load=second_load_from(TINY_SETTLED), position=position)
        refused, used = outcome(tokens, traffic)
        assert used == [OLD if refused else NEW] * 2
        outcomes.add(refused)
    assert outcomes == {0, 1}


def test_a_load_that_races_with_the_end_of_a_token_is_refused_or_follows_it():
    tokens = [step.token for step in steps_of(TINY, OLD, [3])]
    position = from_clock(TINY_SETTLED)
    alone = bench_of(TINY).run(tokens, [Load(0, OLD)], Traffic(position=position))
    outcomes = set()
    for clock in range(alone.clocks - 24, alone.clocks):
        traffic = Traffic(load=second_load_from(clock), position=position)
        refused, used = outcome(tokens, traffic)
        assert used == [OLD]
        outcomes.add(refused)
    assert outcomes == {0, 1}


def mutilated(words: np.ndarray, **changes: int) -> np.ndarray:
    words = words.copy()
    for name, value in changes.items():
        words[int(name[1:])] = value
    return words


IMAGE = OTHER.image()
MALFORMED = {
    "another magic": mutilated(IMAGE, w0=0x1234_0001),
    "another version": mutilated(IMAGE, w0=IMAGE[0] + 1),
    "another scheme": mutilated(IMAGE, w0=IMAGE[0] + 256),
    "one word": IMAGE[:1],
    "a header only": IMAGE[:8],
    "a word too short": IMAGE[:-1],
    "a word too long": np.append(IMAGE, 1),
    "far too long": np.append(IMAGE, np.arange(600, dtype=np.uint32)),
    "head_dim too large": mutilated(IMAGE, w4=128),
    "head_dim of zero": mutilated(IMAGE, w4=0),
    "head_dim smaller than the rotary part": mutilated(IMAGE, w4=56),
    "an offset that does not fit": mutilated(IMAGE, w1=32 | 8 << 16),
    "no heads": mutilated(IMAGE, w6=0),
    "no repeat": mutilated(IMAGE, w7=0),
}


@pytest.mark.parametrize("words", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_image_sets_its_flag_and_disturbs_no_slot_that_runs(words):
    steps = steps_of(SMALL, ONE, range(12))
    later = steps_of(SMALL, OTHER, [3], slot=1, seed=9)
    loads = [Load(0, ONE), Load(1, words=words, after=1), Load(1, OTHER, after=2)]
    check(bench_of(SMALL), [*steps, *later], loads, status={"malformed": 1})


def test_a_position_for_a_slot_that_a_malformed_image_left_unloaded_waits():
    words = mutilated(IMAGE, w0=0)
    steps = steps_of(SMALL, ONE, [1])
    loads = [Load(0, words=words)]
    with pytest.raises(TimeoutError):
        bench_of(SMALL).run([steps[0].token], loads, timeout=300)


def test_conjugate_is_the_negated_position_and_pure_leaves_the_amplitude_out():
    random = np.random.default_rng(0)
    turned = token_of(SMALL, OTHER, random, position=4095, conjugate=True)
    mirrored = replace(turned, position=-4095, conjugate=False)
    pure = replace(turned, pure=True)
    table = replace(OTHER, amplitude=0, scale=0)
    steps = [Step(OTHER, token) for token in (turned, mirrored, pure)]
    result = check(bench_of(SMALL), steps, [Load(0, OTHER)])
    assert np.array_equal(result.packets[0], result.packets[1])
    plain = Token(turned.data, 4095, conjugate=True)
    without = check(bench_of(SMALL), [Step(table, plain)], [Load(0, table)])
    assert np.array_equal(result.packets[2], without.packets[0])


@pytest.mark.parametrize("context", [1, 4096, 131_072, (1 << 25) - 1])
def test_positions_beyond_a_slots_trained_context_are_flagged_and_turned_all_the_same(context):
    trained = replace(ONE, context=context)
    loads = [Load(0, trained), Load(1, OTHER)]
    within = steps_of(SMALL, trained, [0, context - 1])
    unstated = steps_of(SMALL, OTHER, [context, -1], slot=1)
    bypassing = steps_of(SMALL, trained, [context], bypass=True)
    check(bench_of(SMALL), [*within, *unstated, *bypassing], loads)
    check(bench_of(SMALL), [*within, *steps_of(SMALL, trained, [context, 0, (1 << 25) - 1])], loads)
