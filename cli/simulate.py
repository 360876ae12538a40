# SPDX-License-Identifier: Apache-2.0
"""``ropeway simulate``: a board without the board, behind a port that hosts open."""

import argparse
import sys
from dataclasses import replace

from ropeway.golden import InputError

from .build import add_configuration_arguments, configuration_from
from .options import integer

__all__ = ["add_arguments", "run"]

CLOCKS_PER_BIT = 4  # the fewest, since each is simulated
BAUD = 100_000  # which a simulation keeps up with, so that its time is that of hosts
MOST_PORT = 65535


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    add_configuration_arguments(parser)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--tcp", metavar="PORT", help="listen there; default any that is free")
    where.add_argument("--pty", action="store_true", help="make a pseudo-terminal instead")


def run(args: argparse.Namespace) -> int:
    """Simulate the board until interrupted; its port is the first line of output."""
    from ropeway.sim.board import SimulatedBoard
    from ropeway.sim.board_port import PtyPort, TcpPort

    configuration = configuration_from(args)
    number = integer("tcp", args.tcp) or 0
    if not 0 <= number <= MOST_PORT:
        raise InputError("tcp", number, f"must be from 0 to {MOST_PORT}")
    baud = configuration.hosted.baud if args.baud else BAUD
    hosted = replace(configuration.hosted, baud=baud, clock_hz=CLOCKS_PER_BIT * baud)
    port = PtyPort() if args.pty else TcpPort(number)
    try:
        board = SimulatedBoard(hosted, port)
    except RuntimeError as error:  # a compiler is not there, or fails
        port.close()
        print(f"ropeway: failed: simulation: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    with board:
        print(board.url, flush=True)
        board.wait()
    return 0
