# SPDX-License-Identifier: Apache-2.0
"""A link gives what the golden model gives, or says what went wrong."""

from dataclasses import replace

import numpy as np
import pytest

from ropeway.boards.link import Link
from ropeway.boards.uartbone_client import LinkError
from ropeway.golden import InputError, geometry_of, model_of
from ropeway.golden.batch import RopeBatch, rope_slots
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.engines import golden as golden_engine
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope
from ropeway.golden.table import HeadPattern
from ropeway.sim.board_port import PtyPort
from tests.boards.fake_board import FakeBoard
from tests.golden.configs import SMALL_LLAMA_4

CORE = CoreParameters(rope=RopeParameters(lanes=2, max_head_dim=64, slots=2), bus="registers")
BOARD = HostedParameters(core=CORE, clock_hz=48_000_000)
YARN = {
    "model_type": "qwen2",
    "hidden_size": 96,
    "num_attention_heads": 3,
    "num_key_value_heads": 1,
    "max_position_embeddings": 32768,
    "rope_theta": 1e6,
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
}
POSITIONS = np.array([0, 1, -5, 100_000, 131_071])


@pytest.fixture
def board():
    with FakeBoard(BOARD) as fake:
        yield fake


def linked(fake: FakeBoard) -> Link:
    return Link(fake.url, silence=0.02, patience=0.3)


def heads(count: int, seed: int = 1, tokens: int = 5, head_dim: int = 32) -> np.ndarray:
    shape = (tokens, count, head_dim)
    return np.random.default_rng(seed).integers(-20_000, 20_000, shape, dtype=np.int16)


def golden(kinds: list[np.ndarray], positions=POSITIONS, **options) -> list[np.ndarray]:
    geometry = geometry_of(YARN, **options)
    pattern = HeadPattern(*(array.shape[1] for array in kinds), rotated=geometry.turns)
    out, _ = rope(CORE.rope, geometry.table(pattern), np.concatenate(kinds, axis=1), positions)
    return np.split(out, np.cumsum([array.shape[1] for array in kinds])[:-1], axis=1)


def test_heads_come_back_as_the_golden_model_turns_them(board):
    q, k, v = heads(3), heads(1, 2), heads(1, 3)
    with linked(board) as link:
        assert link.load(YARN, context=131072) == geometry_of(YARN, context=131072).fingerprint
        assert link.fingerprint(0) == geometry_of(YARN, context=131072).fingerprint
        assert link.fingerprint(1) is None
        for given in ([q, k], [q, k, v], [q, k]):
            found = link.rotate(*given[:2], POSITIONS, *given[2:])
            for array, wanted in zip(found, golden(given), strict=True):
                assert array.dtype == np.int16
                assert np.array_equal(array, wanted)
        assert link.counters()["tokens"] == 15


def test_a_pseudo_terminal_is_a_port_too():
    q, k = heads(3), heads(1, 2)
    with FakeBoard(BOARD, PtyPort()) as fake, linked(fake) as link:
        assert fake.url.startswith("/dev/")
        link.load(YARN)
        found = link.rotate(q, k, POSITIONS)
    assert np.array_equal(found[0], golden([q, k])[0])


def test_floats_come_back_as_floats_within_the_turn_s_error(board):
    given = [heads(n, n).astype(np.float32) / 7 for n in (3, 1)]
    with linked(board) as link:
        link.load(YARN, context=131072)
        turned = link.rotate(*given, POSITIONS)
    exact_words = golden([heads(3, 3), heads(1, 1)], context=131072)
    for array, words in zip(turned, exact_words, strict=True):
        assert array.dtype == np.float32
        assert np.abs(array - words / 7).max() < 0.5


KINDS = {
    "8 bits": ({"data_bits": 8}, np.int8),
    "18 bits": ({"data_bits": 18}, np.int32),
    "16 to 9 bits": ({"output_bits": 9}, np.int16),
    "16-bit coefficients": ({"lanes": 1, "coefficient_bits": 16}, np.int16),
    "bf16": ({"format": "bf16"}, np.int16),
    "12-bit positions": ({"position_bits": 12}, np.int16),
    "3 axes": ({"axes": 3}, np.int16),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_word_goes_through(name):
    fields, dtype = KINDS[name]
    engine = RopeParameters(**({"lanes": 2, "max_head_dim": 64, "slots": 2} | fields))
    p = replace(BOARD, core=CoreParameters(rope=engine, bus="registers"))
    most = 1 << engine.data_bits - 2
    random, positions = np.random.default_rng(1), np.array([0, 5, -7])
    q, k = (random.integers(-most, most, (3, count, 32)).astype(dtype) for count in (3, 1))
    with FakeBoard(p) as fake, linked(fake) as link:
        assert link.parameters.core.rope == replace(engine, rows=4, tokens=16)
        link.load(YARN)
        found = link.rotate(q, k, positions)
        if name == "12-bit positions":
            with pytest.raises(InputError, match="positions = 2048: must be from -2048 to 2047"):
                link.rotate(q, k, positions + 2043)
    table = geometry_of(YARN).table(HeadPattern(3, 1))
    data = np.concatenate([q, k], axis=1).astype(int)
    wanted, _ = rope(engine, table, data, np.tile(positions[:, None], engine.axes))
    assert np.array_equal(np.concatenate(found, axis=1).astype(int), wanted)


def test_a_temperature_and_several_layers_pass_token_by_token():
    engine = RopeParameters(lanes=2, max_head_dim=64, slots=2, temperature=True)
    p = replace(BOARD, core=CoreParameters(rope=engine, bus="registers"))
    geometries, slots = rope_slots(model_of(SMALL_LLAMA_4), np.array([0, 3, 1, 3]), 4)
    batch = RopeBatch(
        heads={"q": heads(4, tokens=4, head_dim=16) // 4, "k": heads(2, 2, tokens=4, head_dim=16)},
        positions=np.array([0, 9000, 3, 20_000]),
        geometries=tuple(geometries.values()),
        slots=slots,
    )
    assert batch.temperature_words.any()
    with FakeBoard(p) as fake, linked(fake) as link:
        found = link.rotate_words(batch)
    for kind, array in golden_engine(engine, batch)[0].items():
        assert np.array_equal(found[kind], array)
    cold = replace(engine, temperature=False)
    p = replace(p, core=CoreParameters(rope=cold, bus="registers"))
    with (
        FakeBoard(p) as fake,
        linked(fake) as link,
        pytest.raises(InputError, match="query_temperature"),
    ):
        link.rotate_words(batch)


def test_slots_are_loaded_as_they_are_needed_and_reused(board):
    q, k, v = heads(3), heads(1, 2), heads(1, 3)
    with linked(board) as link:
        for options in ({}, {"scaling": {}}, {}, {"context": 65536}):
            link.load(YARN, **options)
            for given in ([q, k], [q, k, v]):
                found = link.rotate(*given[:2], POSITIONS, *given[2:])
                for array, wanted in zip(found, golden(given, **options), strict=True):
                    assert np.array_equal(array, wanted)
        assert sum(board.device.epochs) <= 8


def test_more_tokens_than_the_board_holds_pass_in_parts_and_progress_is_told(board):
    tokens, told = 100, []
    q, k = heads(3, tokens=tokens), heads(1, 2, tokens=tokens)
    positions = np.arange(tokens) - 50
    with linked(board) as link:
        link.load(YARN)
        found = link.rotate(q, k, positions, progress=lambda *state: told.append(state[1:]))
    for array, wanted in zip(found, golden([q, k], positions), strict=True):
        assert np.array_equal(array, wanted)
    words = tokens * 4 * 32 // 2
    assert told[-1] == (words, words)
    assert words > 10 * BOARD.vector_words


def test_the_self_test_s_report_is_what_golden_expects(board):
    with linked(board) as link:
        link.load(YARN)
        report = link.self_test(100, seed=3, base=-7)
    assert report.fault is None
    assert report.matched
    assert report.signature == report.expected_signature
    assert report.fingerprint == geometry_of(YARN).fingerprint
    assert report.as_dict()["fault"] is None


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [("stimulus", "the signature is"), ("rate", "at full rate it takes at most")],
)
def test_a_board_that_computes_wrongly_or_slowly_fails_its_test(board, wrong, fault):
    board.device.wrong.add(wrong)
    with linked(board) as link:
        link.load(YARN)
        assert fault in link.self_test(1000).fault


def test_a_board_that_makes_something_else_of_a_table_is_not_used(board):
    board.device.wrong.add("digest")
    with linked(board) as link:
        with pytest.raises(LinkError, match="digest of its table is"):
            link.load(YARN)
        board.device.wrong.clear()
        assert link.load(YARN) == geometry_of(YARN).fingerprint


def test_registers_are_read_and_written_by_their_names(board):
    with linked(board) as link:
        assert link.read("IDENT") == {"value": int.from_bytes(b"ROPE", "big")}
        link.write("AUTO_USE", slot=1, conjugate=1)
        assert link.read("AUTO_USE") == {"slot": 1, "conjugate": 1, "pure": 0, "bypass": 0}
        assert link.read("FINGERPRINT", 1) == {"value": 0}
        assert link.parameters.core == CORE
        assert link.identify() == link.parameters
        for call, key in (
            (lambda: link.read("NOTHING"), "register"),
            (lambda: link.read("LOAD"), "register"),
            (lambda: link.write("IDENT", value=1), "register"),
            (lambda: link.write("AUTO_USE", slot=256), "AUTO_USE_SLOT"),
            (lambda: link.write("AUTO_USE", turn=1), "AUTO_USE.turn"),
            (lambda: link.read("FINGERPRINT", 9), "FINGERPRINT"),
        ):
            with pytest.raises(InputError) as error:
                call()
            assert error.value.key == key


WRONG_INPUTS = {
    "nothing is loaded": (lambda link: link.rotate(heads(3), heads(1), POSITIONS), "geometry"),
    "heads": (lambda link: (link.load(YARN), link.rotate(heads(2), heads(1), POSITIONS)), "q"),
    "positions": (
        lambda link: (link.load(YARN), link.rotate(heads(3), heads(1), POSITIONS + 2**26)),
        "positions",
    ),
    "head_dim": (lambda link: link.load("llama-3.1-8b"), "head_dim"),
    "scheme": (lambda link: link.load("mpt-7b"), "scheme"),
    "tokens": (lambda link: (link.load(YARN), link.self_test(0)), "tokens"),
    "base": (lambda link: (link.load(YARN), link.self_test(1, base=1 << 40)), "AUTO_BASE"),
}


@pytest.mark.parametrize("name", WRONG_INPUTS)
def test_what_the_board_cannot_serve_is_refused_and_the_link_is_as_it_was(board, name):
    call, key = WRONG_INPUTS[name]
    with linked(board) as link:
        with pytest.raises(InputError) as error:
            call(link)
        assert error.value.key == key
        link.load(YARN)
        assert np.array_equal(
            link.rotate(heads(3), heads(1), POSITIONS)[0], golden([heads(3), heads(1)])[0]
        )


def test_a_port_that_is_not_there_is_bad_input():
    with pytest.raises(InputError, match=r"port = socket://127.0.0.1:1: .*refused"):
        Link("socket://127.0.0.1:1")
    with pytest.raises(InputError, match="port = /dev/not-there: cannot be opened: No such file"):
        Link("/dev/not-there")
