# SPDX-License-Identifier: Apache-2.0
"""The bus between a front end and registers: one access at a time, answered when it is."""

from enum import IntEnum

from amaranth.lib import data

__all__ = ["Answer", "answer_layout", "request_layout"]


class Answer(IntEnum):
    """What came of an access, as AXI encodes it."""

    OKAY = 0
    SLVERR = 2
    DECERR = 3


def request_layout(address_bits: int) -> data.StructLayout:
    """An access: a byte address, whether it writes, the word and which of its bytes."""
    return data.StructLayout({"address": address_bits, "write": 1, "word": 32, "strobe": 4})


def answer_layout() -> data.StructLayout:
    """What was read, 0 where nothing was; and what came of it, an Answer."""
    return data.StructLayout({"word": 32, "code": 2})
