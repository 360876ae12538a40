# SPDX-License-Identifier: Apache-2.0
"""A host makes a core turn tokens over a serial port, and is told what went wrong."""

from collections.abc import Sequence
from functools import cache
from struct import unpack
from zlib import crc32

import numpy as np
import pytest

from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.rotation import rope
from ropeway.golden.table import HeadPattern
from ropeway.hdl.host_registers import HOST_IDENTIFICATION
from ropeway.hdl.hosted_core import HostedCore
from ropeway.sim.native import NativeModel
from tests.geometries import geometry
from tests.hdl.uartbone_model import read_request, write_request
from tests.sim.serial_host import SerialHost

TABLE = geometry(8, HeadPattern(1, 1))
ENGINE = RopeParameters(
    lanes=1, max_head_dim=8, slots=2, rows=2, generator="shared", position_bits=12
)
SMALL = HostedParameters(
    core=CoreParameters(rope=ENGINE, bus="registers", counters=False, carried=False, keep=False),
    clock_hz=1_000_000,
    baud=250_000,
    vector_words=32,
    result_words=16,
    position_words=16,
    timeout_us=50_000,
    image=tuple(TABLE.image().tolist()),
    self_test_tokens=3,
)


@cache
def small_model() -> NativeModel:
    """Compiled once for all tests that begin it anew."""
    return NativeModel(HostedCore(SMALL), streams=())


@pytest.fixture
def host() -> SerialHost:
    return SerialHost(SMALL, small_model())


def random_tokens(count: int, seed: int = 0) -> np.ndarray:
    shape = (count, TABLE.pattern.heads, TABLE.head_dim)
    return np.random.default_rng(seed).integers(-(2**15), 2**15, shape, dtype=np.int16)


def turned(tokens: np.ndarray, positions: Sequence[int], table=TABLE) -> np.ndarray:
    return rope(ENGINE, table, tokens, np.array(positions))[0]


def leds(host: SerialHost) -> tuple[int, ...]:
    return tuple(host.model.peek(name) for name in ("busy", "passed", "failed"))


def test_at_power_on_a_table_is_loaded_and_tested_and_requests_wait(host):
    assert leds(host) == (1, 0, 0)
    assert host.fields("TARGET_STATUS")["loaded"] == 1
    host.wait(2000)
    assert leds(host) == (0, 1, 0)
    assert host.fields("SELF_TEST_STATUS") == {"busy": 0, "done": 1, "matched": 1}
    assert host.flags() == set()


def test_a_token_comes_back_turned_by_the_table_of_its_slot(host):
    tokens, positions, other = random_tokens(2), (5, -7), geometry(8, HeadPattern(1, 1), theta=9.0)
    assert host.read("BOARD_IDENT") == [HOST_IDENTIFICATION]
    assert host.read("CLOCK_HZ") == [SMALL.clock_hz]
    assert host.fields("WORDS") == {"vector": 1, "result": 1, "position": 2}
    assert host.fields("DEPTHS") == {"vector": 5, "result": 4, "position": 4}
    host.load(other.image(), slot=1)
    for slot, table in enumerate((TABLE, other)):
        host.put(tokens, positions, slot)
        assert (host.get(tokens) == turned(tokens, positions, table)).all()
    assert host.flags() == set()


def test_a_self_test_is_judged_by_what_is_expected_and_forgotten_by_a_reset(host):
    host.wait(2000)
    host.write("SELF_TEST_EXPECTED", 0)
    host.write("AUTO_CONTROL", 1)
    host.write("SELF_TEST_CONTROL", 1)
    host.wait(2000)
    assert leds(host) == (0, 0, 1)
    host.write("RESET", 1)
    assert leds(host) == (0, 0, 0)


def test_what_is_asked_and_told_is_checked_by_crcs(host):
    host.write("CRC_CLEAR", 1)
    sent = write_request(0x2030, [3]) + read_request(0x2030, 2) + read_request(0x2014, 2)
    host.send(sent)
    told = host.take(16)
    *_, asked, answered = unpack(">4I", told)
    assert asked == crc32(sent)
    assert answered == crc32(told[:12])


def test_full_and_empty_fifos_lose_nothing_unsaid(host):
    depth = SMALL.vector_words
    assert host.read("VECTOR_SPACE", 3) == [depth, 0, SMALL.position_words]
    # No position: a few beats wait in the core, and then the FIFO fills.
    host.write("PACKET_BEATS", 100)
    held, words = depth, 0
    while host.read("VECTOR_SPACE") != [0]:
        host.write("VECTOR_IN", 0)
        words += 1
        assert host.flags() == set()
    held = words - depth
    assert 0 <= held < 8
    host.write("VECTOR_IN", 1)
    assert host.flags() == {"overrun"}
    assert host.read("VECTOR_OUT") == [0]
    assert host.flags() == {"underrun"}
    host.write("POSITION_IN", *range(17), fixed=True)
    host.write("POSITION_IN", *range(80), fixed=True)
    assert host.flags() == {"overrun"}
    # A reset makes room again, and leaves what is the host's.
    host.write("RESET", 1)
    assert host.read("PACKET_BEATS", 4) == [100, depth, 0, SMALL.position_words]


def test_results_wait_while_their_fifo_is_full_and_none_is_lost(host):
    tokens = random_tokens(4)
    assert tokens.size // 2 > SMALL.result_words
    host.put(tokens, range(4))
    assert host.read("VECTOR_READY") == [SMALL.result_words]
    assert (host.get(tokens) == turned(tokens, range(4))).all()
    assert host.flags() == set()


def test_a_reset_forgets_tables_and_what_was_on_its_way(host):
    tokens = random_tokens(1)
    host.write("POSITION_IN", 3, 0, 4, fixed=True)  # one and a half
    host.write("PACKET_BEATS", 8)
    host.write("VECTOR_IN", 1, 2, 3, fixed=True)
    host.write("RESET", 1)
    assert host.fields("TARGET_STATUS")["loaded"] == 0
    host.load(TABLE.image())
    host.put(tokens, [9])
    assert (host.get(tokens) == turned(tokens, [9])).all()


def test_a_result_s_error_is_flagged(host):
    tokens = random_tokens(1)
    host.put(tokens[:, :1], [3])  # a packet of one head, where the table has two
    assert host.read("VECTOR_READY")[0]
    assert host.flags() == {"error"}


def test_what_is_no_request_is_passed_over_and_what_is_cut_short_is_given_up(host):
    host.bits([0] * 25)  # a break
    host.send(write_request(0x2030, [2]))
    host.silence()
    assert host.flags() == {"framing", "given_up"}
    host.send(write_request(0x2030, [5, 6])[:9])
    host.silence()
    assert host.flags() == {"given_up"}
    assert host.read("PACKET_BEATS") == [1]
    host.send(write_request(0x2030, [7])[:6])
    host.bits([0] * 10)
    host.send(bytes([0, 0, 0, 7]))
    host.silence()
    assert host.flags() == {"framing", "given_up"}
    assert host.read("PACKET_BEATS") == [1]


def test_accesses_that_come_to_nothing_are_flagged(host):
    for address in (0x2000, 0x0000, 0x4000, 0x1_2030, 0x1000):  # the last: a word of no image
        host.send(write_request(address, [1]))
        assert host.flags() == {"refused"}, hex(address)
    for address in (0x2020, 0x3FFC, 0x4000, 0x1_0000, 0x1000):
        host.send(read_request(address, 1))
        assert host.take(4) == bytes(4)
        assert host.flags() == {"refused"}, hex(address)
    assert host.read("PACKET_BEATS") == [1]


def test_bytes_that_find_no_place_are_flagged_and_nothing_is_made_of_the_rest(host):
    ask = read_request(0x2000, 255)  # 1,020 bytes to answer
    host.send(ask + write_request(0x2030, list(range(2, 80))) * 3)
    assert host.take(1020)[:4] == b"ROPB"
    host.wait(5000)  # until what was kept is done with
    host.silence()
    assert host.flags() >= {"dropped", "given_up"}
    assert host.read("BOARD_IDENT") == [HOST_IDENTIFICATION]
