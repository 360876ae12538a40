# SPDX-License-Identifier: Apache-2.0
"""A board's self-test, whose signature, clocks and fingerprint are held against golden's."""

import time
from dataclasses import dataclass

from ropeway.golden.cost import Latency, rope_clocks
from ropeway.golden.engines import Progress, silent
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.self_test import Held, expected_signature, token_beats
from ropeway.golden.table import PhaseTable

from .board import Board
from .uartbone_client import LinkError

__all__ = ["SelfTestReport", "run_self_test"]

STANDSTILL = 2.0  # seconds in which no token goes in
FILL = 128  # clocks from a position to its first beat, at most


@dataclass(frozen=True, kw_only=True)
class SelfTestReport:
    """What a self-test of so many ``tokens`` came to, and what golden says that it should.

    ``clocks`` from the first beat in to the last result out, of at most ``most_clocks`` at the
    core's full rate; a ``signature`` has a word a lane; ``matched`` is the board's verdict.
    """

    tokens: int
    clocks: int
    most_clocks: int | None
    clock_hz: int
    signature: tuple[int, ...]
    expected_signature: tuple[int, ...]
    fingerprint: str | None
    expected_fingerprint: str
    matched: bool

    @property
    def fault(self) -> str | None:
        """What is wrong, if anything is."""
        if self.fingerprint != self.expected_fingerprint:
            return f"the fingerprint is {self.fingerprint}, not {self.expected_fingerprint}"
        if self.signature != self.expected_signature:
            return f"the signature is {_hex(self.signature)}, not {_hex(self.expected_signature)}"
        if not self.matched:
            return "the board itself says that it failed"
        if self.most_clocks is not None and self.clocks > self.most_clocks:
            most = self.most_clocks
            return f"it took {self.clocks} clocks; at full rate it takes at most {most}"
        return None

    def as_dict(self) -> dict:
        """The report as ``ropeway link`` prints it."""
        return {
            "tokens": self.tokens,
            "clocks": self.clocks,
            "most_clocks": self.most_clocks,
            "tokens_per_second": round(self.tokens * self.clock_hz / max(self.clocks, 1), 1),
            "signature": _hex(self.signature),
            "expected_signature": _hex(self.expected_signature),
            "fingerprint": self.fingerprint,
            "fault": self.fault,
        }


def _hex(words: tuple[int, ...]) -> str:
    return " ".join(f"{word:08x}" for word in words)


def run_self_test(
    board: Board,
    slot: int,
    table: Held,
    *,
    tokens: int,
    seed: int,
    base: int,
    progress: Progress = silent,
) -> SelfTestReport:
    """Test a board that is idle, with a table that its slot holds.

    Raises InputError for what a register cannot hold, LinkError where the test does not end.
    """
    p = board.parameters
    expected = expected_signature(p.core, table, tokens, seed=seed, base=base)
    for lane, word in enumerate(expected):
        board.write("SELF_TEST_EXPECTED", lane, value=word)
    board.write("SELF_TEST_TOKENS", value=tokens)
    board.write("SELF_TEST_BEATS", value=token_beats(p.core, table))
    board.write("SELF_TEST_SEED", value=seed)
    board.write("AUTO_BASE", value=base)
    board.write("AUTO_COUNT", value=tokens)
    board.write("AUTO_USE", slot=slot)
    board.write("AUTO_CONTROL", start=1)
    board.write("SELF_TEST_CONTROL", start=1)
    _await(board, tokens, progress)

    batch, registers = board.client.batch(), board.registers
    batch.read(registers["SELF_TEST_SIGNATURE"].address(), len(expected))
    return SelfTestReport(
        tokens=tokens,
        clocks=board.read("SELF_TEST_CLOCKS")["value"],
        most_clocks=_most_clocks(p, table, tokens),
        clock_hz=p.clock_hz,
        signature=tuple(board.client.exchange(batch).tolist()),
        expected_signature=expected,
        fingerprint=board.fingerprint(slot),
        expected_fingerprint=table.fingerprint,
        matched=bool(board.read("SELF_TEST_STATUS")["matched"]),
    )


def _most_clocks(p: HostedParameters, table: Held, tokens: int) -> int | None:
    """What tokens take at full rate; None of sums, whose generator a board does not tell of."""
    if p.core.rope is None or not isinstance(table, PhaseTable):
        return None
    return rope_clocks(p.core.rope, table, tokens, Latency(FILL, FILL))


def _await(board: Board, tokens: int, progress: Progress):
    """Wait until the test is done; LinkError where no token goes in for long."""
    left, end = tokens, time.monotonic() + STANDSTILL
    while not board.read("SELF_TEST_STATUS")["done"]:
        now = board.read("AUTO_LEFT")["value"]
        progress("self-test", tokens - now, tokens)
        if now != left:
            left, end = now, time.monotonic() + STANDSTILL
        elif time.monotonic() > end:
            raise LinkError(f"the self-test stands still, {now} of {tokens} tokens before its end")
