# SPDX-License-Identifier: Apache-2.0
"""The registers beside a core that a host drives over a serial port."""

from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.self_test import MOST_BEATS, MOST_TOKENS

from .register_fields import packed_fields, value_field
from .registers import Access, Register, RegisterMap

__all__ = ["ADDRESS_BITS", "FLAGS", "HOST_BASE", "HOST_IDENTIFICATION", "host_registers"]

HOST_BASE = 0x2000  # the core's own registers are below
ADDRESS_BITS = 17  # those of registers and one, which stands in every address beyond them
HOST_IDENTIFICATION = 0x524F5042  # "ROPB", the first letter highest
FLAGS = {
    "overrun": "A word was written to a full FIFO, and is lost.",
    "underrun": "A result was read where none was ready.",
    "error": "A result came with its mark of an error.",
    "framing": "A byte came without a stop bit, and is lost.",
    "dropped": "A byte came that the bridge had no place for, and is lost.",
    "given_up": "A request ended before it was whole, or bytes followed one that was lost.",
    "refused": "An access did nothing: there is no such register, or it did not take it.",
}


def host_registers(p: HostedParameters) -> RegisterMap:
    """The map of what is beside the core; a register stands at the same address on every board."""
    what = "The registers of a board beside its Ropeway core's."
    registers = (*_identity(p), *_link(), *_vectors(p), *_self_test(p))
    return RegisterMap("ROPEWAY_HOST", what, registers, ADDRESS_BITS)


def _identity(p: HostedParameters) -> list[Register]:
    """What was built, in words that never change."""
    ident = value_field(Access.CONST, 32, "ROPB, the first letter highest.", HOST_IDENTIFICATION)
    clock = value_field(Access.CONST, 32, "Clocks a second.", p.clock_hz)
    beats = packed_fields(
        Access.CONST,
        ("VECTOR", 8, "Words of a beat of vectors.", p.beat_words),
        ("RESULT", 8, "Words of a beat of results.", p.result_beat_words),
        ("POSITION", 8, "Words of a position.", p.place_words),
    )
    fifos = packed_fields(
        Access.CONST,
        ("VECTOR", 5, "The FIFO of vectors has 2 to this words.", p.vector_words.bit_length() - 1),
        ("RESULT", 5, "That of results.", p.result_words.bit_length() - 1),
        ("POSITION", 5, "That of positions.", p.position_words.bit_length() - 1),
    )
    return [
        Register("BOARD_IDENT", 0x2000, ident, "Says that a host drives the core."),
        Register("CLOCK_HZ", 0x2004, clock, "The clock of core and board."),
        Register("WORDS", 0x2008, beats, "How many words make up a whole, the lowest first."),
        Register("DEPTHS", 0x200C, fifos, "How deep the FIFOs are."),
    ]


def _link() -> list[Register]:
    """What says whether the link did what it was to do, next to each other for one burst."""
    flags = packed_fields(Access.W1C, *((n.upper(), 1, what) for n, what in FLAGS.items()))
    asked = "Of every byte of requests since it was cleared, those of the read itself among them."
    told = "Of every byte sent since it was cleared, up to the word that is read."
    clear = value_field(Access.WO, 1, "Writing 1 makes both begin after this very word.")
    reset = value_field(Access.WO, 1, "Writing 1 resets them.")
    return [
        Register("HOST_FLAGS", 0x2010, flags, "What went wrong."),
        Register("REQUEST_CRC", 0x2014, value_field(Access.RO, 32, asked), "A CRC-32 as zlib's."),
        Register("ANSWER_CRC", 0x2018, value_field(Access.RO, 32, told), "A CRC-32 as zlib's."),
        Register("CRC_CLEAR", 0x201C, clear, "Makes both CRCs begin anew."),
        Register(
            "RESET", 0x2020, reset, "Core, FIFOs and self-test; tables are to be loaded again."
        ),
    ]


def _vectors(p: HostedParameters) -> list[Register]:
    """The FIFOs of vectors, positions and results, and how full they are."""
    beats = value_field(Access.RW, 16, "Beats of a token.", 1)
    space = value_field(Access.RO, p.vector_words.bit_length(), "Words it takes.")
    ready = value_field(Access.RO, p.result_words.bit_length(), "Words it gives.")
    places = value_field(Access.RO, p.position_words.bit_length(), "Words it takes.")
    pushed = value_field(Access.WO, 32, "The next word, the lowest of a whole first.")
    popped = value_field(Access.POP, 32, "The next word, the lowest of a whole first.")
    return [
        Register("PACKET_BEATS", 0x2030, beats, "How many beats of vectors make up a packet."),
        Register("VECTOR_SPACE", 0x2034, space, "Free words of the FIFO of vectors."),
        Register("VECTOR_READY", 0x2038, ready, "Waiting words of the FIFO of results."),
        Register("POSITION_SPACE", 0x203C, places, "Free words of the FIFO of positions."),
        Register("VECTOR_IN", 0x2040, pushed, "Into the FIFO of vectors."),
        Register("VECTOR_OUT", 0x2044, popped, "Out of the FIFO of results; 0 of an empty one."),
        Register("POSITION_IN", 0x2048, pushed, "Into the FIFO of positions."),
    ]


def _self_test(p: HostedParameters) -> list[Register]:
    """The test that a board makes by itself."""
    tokens = value_field(Access.RW, MOST_TOKENS.bit_length(), "How many, at least one.", 1)
    beats = value_field(Access.RW, MOST_BEATS.bit_length(), "Of each, at least one.", 1)
    seed = value_field(Access.RW, 32, "Of the generator.")
    start = packed_fields(Access.WO, ("START", 1, "Writing 1 begins a test."))
    status = packed_fields(
        Access.RO,
        ("BUSY", 1, "A test lasts."),
        ("DONE", 1, "One has ended since it was begun."),
        ("MATCHED", 1, "Its signature is as expected, and no result came with an error."),
    )
    clocks = value_field(Access.RO, 32, "Clocks from the first beat taken to the last result.")
    word = value_field(Access.RO, 32, "Lane i's word of the signature.")
    wanted = value_field(Access.WO, 32, "Lane i's word of what the signature is to be.")
    count = p.core.beat_elements // 2
    return [
        Register("SELF_TEST_TOKENS", 0x2080, tokens, "Tokens of a self-test."),
        Register("SELF_TEST_BEATS", 0x2084, beats, "Beats of a self-test's tokens."),
        Register("SELF_TEST_SEED", 0x2088, seed, "What a self-test's vectors are made from."),
        Register("SELF_TEST_CONTROL", 0x208C, start, "Begins a self-test."),
        Register("SELF_TEST_STATUS", 0x2090, status, "How far a self-test is."),
        Register("SELF_TEST_CLOCKS", 0x2094, clocks, "How long a self-test lasted."),
        Register("SELF_TEST_SIGNATURE", 0x2100, word, "What came out of it.", count=count),
        Register("SELF_TEST_EXPECTED", 0x2200, wanted, "What is to come out of it.", count=count),
    ]
