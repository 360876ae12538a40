# SPDX-License-Identifier: Apache-2.0
"""LiteX's own server and clients, unmodified, drive a simulated board by the names of its CSV."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.host_registers import host_registers
from ropeway.hdl.register_csv import register_csv
from ropeway.sim.board import SimulatedBoard
from tests.sim.test_hosted_core import SMALL, TABLE, random_tokens, small_model, turned

PATIENCE = 30.0  # seconds
LITEX = (sys.executable, "-W", "ignore", "-m")
PROGRAM = """
import json, sys
from litex.tools.litex_client import RemoteClient
port, csv, image, position, words = json.loads(sys.stdin.read())
bus = RemoteClient(port=port, csr_csv=csv)
bus.open()
bus.regs.reset.write(1)
bus.regs.load.write(len(image) << 8)
bus.write(bus.mems.load_window.base, image)
for word in (position & 0xffffffff, 0):
    bus.regs.position_in.write(word)
bus.regs.packet_beats.write(len(words))
for word in words:
    bus.regs.vector_in.write(word)
ready = bus.regs.vector_ready.read()
found = bus.read(bus.regs.vector_out.addr, ready, burst="fixed")
print(json.dumps([found, bus.regs.host_flags.read(), bus.regs.fingerprint_0_low.read()]))
bus.close()
"""


@pytest.fixture
def csv(tmp_path) -> Path:
    path = tmp_path / "ropeway.csv"
    path.write_text(register_csv([core_registers(SMALL.core), host_registers(SMALL)]))
    return path


@pytest.fixture
def served() -> Iterator[int]:
    """The port of LiteX's server of a simulated board."""
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    with SimulatedBoard(SMALL, model=small_model()) as board:
        to = ("--uart", f"--uart-port={board.url}", f"--bind-port={port}")
        server = subprocess.Popen([*LITEX, "litex.tools.litex_server", *to])
        try:
            wait_for(port)
            yield port
        finally:
            server.terminate()
            server.wait(PATIENCE)


def wait_for(port: int):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("localhost", port)).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def run(*words: str, given: str = "") -> str:
    done = subprocess.run(
        [*LITEX[:-1], *words],
        input=given,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_litex_s_clients_read_the_identification_and_turn_a_token(served, csv):
    told = run("-m", "litex.tools.litex_client", "--port", str(served), "--csr-csv", str(csv),
               "--read", "board_ident")  # fmt: skip
    assert "0x524f5042" in told
    tokens, position = random_tokens(1), -5
    words = tokens.astype("<i2").reshape(-1).view("<u4").tolist()
    given = [served, str(csv), TABLE.image().tolist(), position, words]
    found, flags, low = json.loads(run("-c", PROGRAM, given=json.dumps(given)))
    results = np.array(found, "<u4").view("<i2").reshape(tokens.shape)
    assert (results == turned(tokens, [position])).all()
    assert flags == 0
    assert low == int(TABLE.fingerprint, 16) & 0xFFFF_FFFF
