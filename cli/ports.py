# SPDX-License-Identifier: Apache-2.0
"""Addresses of boards, and links to them whose failures are told in a line."""

import argparse
import re
import sys
from collections.abc import Callable

from ropeway.golden import InputError

from .options import integer

__all__ = ["add_link_arguments", "is_port", "over_link"]

PORT = re.compile(r"/dev/.+|[a-z0-9+]+://.+|COM[0-9]+", re.IGNORECASE)
LINK_FAILED = 1


def is_port(name: str) -> bool:
    """Whether a name is a board's address, like /dev/ttyUSB0, COM3 or socket://…, and no config."""
    return PORT.fullmatch(name) is not None


def add_link_arguments(parser: argparse.ArgumentParser):
    """Add how boards are spoken to: ``--baud``."""
    parser.add_argument("--baud", metavar="N", help="bits a second on the line; default 1000000")


def over_link(args: argparse.Namespace, port: str, use: Callable) -> int:
    """The status of ``use(link)``; a link that fails is told on stderr, and its status 1."""
    from ropeway.boards.link import BAUD, Link, LinkError

    if not is_port(port):
        raise InputError("port", port, "must be like /dev/ttyUSB0, COM3 or socket://HOST:PORT")
    baud = integer("baud", args.baud)
    if baud is not None and not 300 <= baud <= 12_000_000:
        raise InputError("baud", baud, "must be from 300 to 12000000")
    try:
        with Link(port, baud=baud or BAUD) as link:
            return use(link)
    except LinkError as error:
        print(f"ropeway: failed: link: {error}", file=sys.stderr)
        return LINK_FAILED
