# SPDX-License-Identifier: Apache-2.0
"""A simulated board is to a host what a board is, over TCP or a terminal."""

import socket
import time
from struct import unpack

import pytest
import serial

from ropeway.hdl.host_registers import HOST_IDENTIFICATION
from ropeway.sim.board import SimulatedBoard
from ropeway.sim.board_port import BoardPort, PtyPort, TcpPort
from tests.hdl.uartbone_model import read_request, write_request
from tests.sim.test_hosted_core import SMALL, small_model

IDENT, PACKET_BEATS, TARGET_STATUS = 0x2000, 0x2030, 0x180
PATIENCE = 10.0  # seconds


@pytest.fixture(params=[TcpPort, PtyPort])
def port(request) -> BoardPort:
    return request.param()


def opened(board: SimulatedBoard) -> serial.SerialBase:
    return serial.serial_for_url(board.url, baudrate=SMALL.baud, timeout=PATIENCE)


def read(host, address: int, count: int = 1) -> list[int]:
    host.write(read_request(address, count))
    return list(unpack(f">{count}I", host.read(4 * count)))


def found_again(host) -> bool:
    """Whether a host that is silent for long enough is in step again, however slow the board is."""
    host.timeout = 10 * SMALL.timeout_us / 1e6
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        while host.read(4096):
            pass
        host.write(read_request(IDENT, 1))
        if host.read(4) == HOST_IDENTIFICATION.to_bytes(4, "big"):
            return True
    return False


def test_a_host_reads_and_writes_and_finds_it_as_it_left_it(port):
    with SimulatedBoard(SMALL, port, model=small_model()) as board:
        with opened(board) as host:
            assert read(host, IDENT) == [HOST_IDENTIFICATION]
            host.write(write_request(PACKET_BEATS, [77]))
            assert read(host, PACKET_BEATS) == [77]
        with opened(board) as host:
            assert read(host, PACKET_BEATS) == [77]
            board.power_cycle()
            assert read(host, PACKET_BEATS) == [1]


def test_what_is_loaded_and_tested_at_power_on_is_seen_by_its_leds_and_its_host():
    with SimulatedBoard(SMALL, model=small_model()) as board:
        end = time.monotonic() + PATIENCE
        while board.led("busy") and time.monotonic() < end:
            time.sleep(0.01)
        assert (board.led("passed"), board.led("failed")) == (True, False)
        with opened(board) as host:
            assert read(host, TARGET_STATUS)[0] & 1


def test_a_request_is_given_up_after_its_time_by_the_clock_and_no_sooner():
    with SimulatedBoard(SMALL, model=small_model()) as board, opened(board) as host:
        request = read_request(IDENT, 1)
        host.write(request[:3])
        time.sleep(0.2 * SMALL.timeout_us / 1e6)
        host.write(request[3:])
        assert host.read(4) == b"ROPB"
        host.write(request[:3])
        assert found_again(host)


def test_a_host_that_does_not_listen_or_goes_away_hinders_nobody():
    with SimulatedBoard(SMALL, model=small_model()) as board:
        name, number = board.url.removeprefix("socket://").split(":")
        for _ in range(2):
            with socket.create_connection((name, int(number))) as rude:
                rude.sendall(read_request(IDENT, 255) * 3 + b"\x01")
        with opened(board) as host:
            assert found_again(host)


def test_bytes_move_at_a_useful_rate():
    with SimulatedBoard(SMALL, model=small_model()) as board, opened(board) as host:
        read(host, IDENT)
        begun = time.process_time()
        for _ in range(10):
            host.write(write_request(PACKET_BEATS, [5] * 255, fixed=True))
            assert read(host, PACKET_BEATS) == [5]
        rate = 10 * 1026 / (time.process_time() - begun)
        assert rate > 8_000  # bytes a second of this process's own time; 30,000 are usual


def test_a_port_that_is_taken_is_said_to_be():
    port = TcpPort()
    try:
        with pytest.raises(OSError, match="ddress"):
            TcpPort(int(port.url.rpartition(":")[2]))
    finally:
        port.close()


def test_a_failure_within_comes_out_where_the_board_is_left(monkeypatch):
    board = SimulatedBoard(SMALL, model=small_model())
    monkeypatch.setattr(board, "_run", lambda _waiting: 1 / 0)
    with pytest.raises(ZeroDivisionError), board:
        board.wait()
