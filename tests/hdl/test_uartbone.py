# SPDX-License-Identifier: Apache-2.0
"""A UARTBone makes exactly the accesses that are asked for, and is back when that goes wrong."""

from collections.abc import Callable
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
import pytest

from ropeway.hdl.register_bus import Answer
from ropeway.hdl.uartbone import Uartbone
from tests.hdl.benches import simulate
from tests.hdl.uartbone_model import UartboneModel, read_request, write_request

ADDRESS_BITS, TIMEOUT = 17, 60
CRCS, CLEAR = 0x40, 0x48  # of the registers that the bench plays
SILENCE, BROKEN = "silence", "broken"


@dataclass
class Registers:
    """Registers that remember what was done to them; those from 0x8000 on are not there."""

    log: list[tuple[int, bool, int]] = field(default_factory=list)
    words: dict[int, int] = field(default_factory=dict)

    def access(self, address: int, write: bool, word: int) -> tuple[bool, int]:
        self.log.append((address, write, word if write else 0))
        if address >= 0x8000:
            return False, 0
        if write:
            self.words[address] = word
        return True, 0 if write else self.words.get(address, 0x1234_0000 | address)


def wanted(script: list[bytes | str]) -> tuple[UartboneModel, Registers]:
    """What the model makes of a script."""
    registers = Registers()

    def access(address: int, write: bool, word: int) -> tuple[bool, int]:
        done, read = registers.access(address, write, word)
        if address == CLEAR and write:
            model.clear()
        if address in (CRCS, CRCS + 4) and not write:
            read = (model.request_crc, model.answer_crc)[(address - CRCS) // 4]
        return done, read

    model = UartboneModel(access)
    for step in script:
        if step == SILENCE:
            model.silence()
        elif step == BROKEN:
            model.broken()
        else:
            for byte in step:
                model.byte(byte)
    model.silence()
    return model, registers


class Bench:
    """A UARTBone, registers behind it, and what came of it all."""

    def __init__(self, seed: int = 0):
        self.bone, self.random = Uartbone(ADDRESS_BITS, TIMEOUT), np.random.default_rng(seed)
        self.answers, self.registers = bytearray(), Registers()
        self.given_up = self.refused = 0
        self.crcs = (0, 0)

    def run(self, script: list[bytes | str], *, answers: int = 0, before: Callable | None = None):
        """Play a script, with pauses at random that are no silence.

        It goes on until so many bytes are answered, and then a silence.
        """

        async def testbench(ctx):
            if before is not None:
                await before(ctx, self.bone)
            for step in script:
                await self._play(ctx, step)
            for _ in range(60 * answers):
                if len(self.answers) < answers:
                    await ctx.tick()
            await self._play(ctx, SILENCE)
            self.crcs = ctx.get(self.bone.request_crc), ctx.get(self.bone.answer_crc)

        simulate(self.bone, testbench, background=[self._access, self._sink, self._count])
        return self

    async def _play(self, ctx, step: bytes | str):
        if step == SILENCE:
            await ctx.tick().repeat(TIMEOUT + 240)
        elif step == BROKEN:
            await self._offer(ctx, int(self.random.integers(256)), 1)
        else:
            for byte in step:
                await self._offer(ctx, byte, 0)

    async def _offer(self, ctx, byte: int, broken: int):
        await ctx.tick().repeat(int(self.random.choice([1, 1, 1, TIMEOUT // 3])))
        given = self.bone.i
        ctx.set(given.payload.byte, byte)
        ctx.set(given.payload.broken, broken)
        ctx.set(given.valid, 1)
        await ctx.tick().until(given.ready)
        ctx.set(given.valid, 0)

    async def _access(self, ctx):
        """Answer accesses, a random while later."""
        request = self.bone.request
        asked = (request.payload.address, request.payload.write, request.payload.word)
        left, access = 0, (0, 0, 0)
        async for _, _, valid, *given in ctx.tick().sample(request.valid, *asked):
            assert not (valid and left), "an access came before the one before was answered"
            if valid:
                left, access = int(self.random.integers(1, 12)), tuple(given)
            ends = left == 1
            left = max(0, left - 1)
            ctx.set(self.bone.answer.valid, ends)
            ctx.set(self.bone.clear, ends and access[:2] == (CLEAR, 1))
            if ends:
                self._answer(ctx, *access)

    def _answer(self, ctx, address: int, write: int, word: int):
        done, read = self.registers.access(address, bool(write), word)
        if address in (CRCS, CRCS + 4) and not write:
            read = ctx.get((self.bone.request_crc, self.bone.answer_crc)[(address - CRCS) // 4])
        answer = self.bone.answer.payload
        ctx.set(answer.word, read)
        ctx.set(answer.code, Answer.OKAY if done else Answer.DECERR)

    async def _sink(self, ctx):
        ready, given = False, self.bone.o
        async for _, _, valid, byte in ctx.tick().sample(given.valid, given.payload):
            if valid and ready:
                self.answers.append(byte)
            ready = self.random.random() < 0.3
            ctx.set(given.ready, ready)

    async def _count(self, ctx):
        flags = self.bone.given_up, self.bone.refused
        async for _, _, given_up, refused in ctx.tick().sample(*flags):
            self.given_up += given_up
            self.refused += refused


def check(script: list[bytes | str], seed: int = 0) -> Bench:
    """Hardware and model agree in all that a script comes to."""
    model, registers = wanted(script)
    found = Bench(seed).run(script, answers=len(model.answers))
    assert found.registers.log == registers.log
    assert found.answers == model.answers
    assert found.crcs == (model.request_crc, model.answer_crc)
    assert (found.given_up, found.refused) == (model.given_up, model.refused)
    return found


@pytest.mark.parametrize("fixed", [False, True], ids=["incrementing", "fixed"])
def test_words_are_written_and_read_back(fixed):
    words = [0x0102_0304, 0xFFFF_FFFF, 0, 0xDEAD_BEEF]
    script = [write_request(0x100, words, fixed=fixed), read_request(0x100, 4, fixed=fixed)]
    found = check(script)
    read = [int.from_bytes(found.answers[n : n + 4], "big") for n in range(0, 16, 4)]
    assert read == ([words[-1]] * 4 if fixed else words)


def test_a_request_of_255_words_is_all_there():
    found = check([write_request(0x400, list(range(255))), read_request(0x400, 255)])
    assert len(found.registers.log) == 510


def test_no_words_are_none_and_an_unknown_command_ends_with_its_address():
    after = write_request(8, [5])
    for command in (0, 5, 0x80, 0xFF):
        check([bytes([command, 3, 0, 0, 0, 2]), after])
    for command in (1, 2, 3, 4):
        found = check([bytes([command, 0, 0, 0, 0, 2]), after])
        assert found.registers.log == [(8, True, 5)]


def test_addresses_beyond_are_marked_and_none_comes_back_to_the_first():
    low = [read_request(address, 1) for address in (0xFFFC, 0x10000, 0x20000, 0x1_0000_0000 - 4)]
    check(low)
    found = check([read_request(0xFFF8, 6), read_request(0x1_FFF8, 6), read_request(0x8000, 2)])
    assert [a for a, _, _ in found.registers.log if a < 0x8000] == []


def test_crcs_are_zlib_s_and_can_be_read_and_cleared_in_a_burst():
    work = [write_request(0x100, [1, 2, 3]), read_request(0x100, 2)]
    reads = read_request(CRCS, 2)
    found = check([*work, reads, write_request(CLEAR, [1, 7]), *work, reads, reads])
    answers = bytes(found.answers)
    tail = answers[8 + 8 :]
    asked = b"".join([(7).to_bytes(4, "big"), *work, reads])
    assert int.from_bytes(tail[8:12], "big") == crc32(asked)
    assert int.from_bytes(tail[12:16], "big") == crc32(tail[:12])
    assert int.from_bytes(tail[16:20], "big") == crc32(asked + reads)
    assert int.from_bytes(tail[20:24], "big") == crc32(tail[:20])


WHOLE = write_request(0x200, [0x1111_1111, 0x2222_2222])


@pytest.mark.parametrize("size", range(1, len(WHOLE)))
def test_a_request_cut_short_is_given_up_and_only_whole_words_are_written(size):
    found = check([WHOLE[:size], SILENCE, write_request(0x300, [9]), read_request(0x300, 1)])
    assert [word for address, _, word in found.registers.log if 0x200 <= address < 0x300] == [
        0x1111_1111
    ][: size >= 10]
    assert found.given_up == 1


@pytest.mark.parametrize("size", range(1, len(WHOLE)))
def test_a_broken_byte_within_a_request_ends_it_and_what_follows_until_a_silence(size):
    after = [SILENCE, write_request(0x300, [9])]
    found = check([WHOLE[:size], BROKEN, WHOLE, BROKEN, WHOLE, *after])
    assert found.registers.log[-1] == (0x300, True, 9)
    assert found.given_up == 1


def test_after_a_broken_byte_nothing_is_taken_for_a_request_before_a_silence():
    found = check([WHOLE, BROKEN, WHOLE, BROKEN, SILENCE, read_request(0x200, 1)])
    assert len(found.registers.log) == 3
    assert found.given_up == 1


@pytest.mark.parametrize("seed", range(6))
def test_any_sequence_of_bytes_comes_to_what_the_model_says(seed):
    random = np.random.default_rng(seed)
    script: list[bytes | str] = []
    for _ in range(25):
        kind = random.random()
        address, count = 4 * int(random.integers(0x60)), int(random.integers(1, 5))
        address = int(random.choice([address, address, 0x7FF8, 0xFFF4, 0x7_0000]))
        fixed = bool(random.integers(2))
        request = read_request(address, count, fixed=fixed)
        if random.random() < 0.5:
            request = write_request(address, random.integers(0, 2**32, count).tolist(), fixed=fixed)
        if kind < 0.1:
            request = random.bytes(int(random.integers(1, 12)))
        script.append(request)
        if kind < 0.3:
            script[-1] = request[: int(random.integers(1, len(request) + 1))]
            script.append(str(random.choice([SILENCE, BROKEN])))
        if kind < 0.25:
            script.append(SILENCE)
    check(script, seed)


def test_while_it_is_held_bytes_wait_and_nothing_is_lost():
    async def before(ctx, bone):
        ctx.set(bone.hold, 1)
        ctx.set(bone.i.valid, 1)
        ctx.set(bone.i.payload.byte, 2)
        for _ in range(3 * TIMEOUT):
            *_, ready = await ctx.tick().sample(bone.i.ready)
            assert not ready
        ctx.set(bone.i.valid, 0)
        ctx.set(bone.hold, 0)

    found = Bench().run([read_request(0x10, 1)], answers=4, before=before)
    assert found.registers.log == [(0x10, False, 0)]
