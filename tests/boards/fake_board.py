# SPDX-License-Identifier: Apache-2.0
"""A board in Python alone, byte by byte behind a port, which turns tokens as golden does."""

import threading
from collections import deque
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ropeway.golden.errors import InputError
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.rotation import rope
from ropeway.golden.self_test import expected_signature
from ropeway.golden.table import PhaseTable
from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.host_registers import FLAGS, host_registers
from ropeway.hdl.registers import Access, Register
from ropeway.sim.board_port import BoardPort, TcpPort
from ropeway.sim.core_words import CONJUGATE, PURE, element_words, words_of_elements
from tests.hdl.uartbone_model import UartboneModel

__all__ = ["FakeBoard", "FakeDevice"]

FILL = 60  # clocks of a self-test beside its tokens'


class FakeDevice:
    """What registers of a board come to. ``wrong`` names what it does wrongly, for tests."""

    def __init__(self, p: HostedParameters):
        self.p, self.maps = p, (core_registers(p.core), host_registers(p))
        self.bone = UartboneModel(self._access)
        self.wrong: set[str] = set()
        self.flags, self._seen, self._kept = 0, 0, dict[str, int]()
        self.reset()

    def reset(self):
        """What the host's reset does, and power-on."""
        core = {register.name for register in self.maps[0]}
        self._kept = {n: word for n, word in self._kept.items() if n not in core}
        self.held: dict[int, PhaseTable] = {}
        self.epochs = [0] * len(self.p.core.targets)
        self._loading, self._image = (0, 0), list[int]()
        self._vectors, self._places = deque[int](), deque[int]()
        self._token, self._results = list[int](), deque[int]()
        self._tested: tuple[int, ...] = ()
        self._expected: dict[int, int] = {}
        self._clocks = self._tokens = 0

    def take(self, data: bytes) -> bytes:
        """Bytes that come; those that are answered."""
        for byte in data:
            self.bone.byte(byte)
        answers = bytes(self.bone.answers)
        self.bone.answers.clear()
        return answers

    def _access(self, address: int, write: bool, word: int) -> tuple[bool, int]:
        for registers in self.maps:
            found = registers.at(address)
            if found is not None:
                register, number = found
                if write and register.writable:
                    return self._write(register, number, word), 0
                if not write and register.readable:
                    return True, self._read(register, number)
        return False, 0

    def _read(self, register: Register, number: int) -> int:
        name = register.name
        match name:
            case "HOST_FLAGS":
                gone = self.bone.given_up + self.bone.refused != self._seen
                return self.flags | gone << list(FLAGS).index("given_up")
            case "REQUEST_CRC":
                return self.bone.request_crc
            case "ANSWER_CRC":
                return self.bone.answer_crc
            case "VECTOR_SPACE":
                return self.p.vector_words - len(self._vectors)
            case "POSITION_SPACE":
                return self.p.position_words - len(self._places)
            case "VECTOR_READY":
                return min(len(self._results), self.p.result_words)
            case "VECTOR_OUT":
                return self._pop()
            case "TARGET_STATUS":
                return register.encode(loaded=number in self.held, epoch=self.epochs[number] & 0xFF)
            case "FINGERPRINT":
                return self._fingerprint(number // 2) >> 32 * (number % 2) & 0xFFFF_FFFF
            case "VECTOR_TOKENS":
                return self._tokens if number == 0 else 0
        if name.startswith("SELF_TEST"):
            return self._read_test(register, number)
        return self._kept.get(name, register.reset if register.width == 32 else 0)

    def _read_test(self, register: Register, number: int) -> int:
        match register.name:
            case "SELF_TEST_STATUS":
                wanted = tuple(self._expected.get(n, 0) for n in range(len(self._tested)))
                done = bool(self._tested)
                return register.encode(done=done, matched=done and wanted == self._tested)
            case "SELF_TEST_CLOCKS":
                return self._clocks
            case "SELF_TEST_SIGNATURE":
                return self._tested[number] if self._tested else 0
        return self._kept.get(register.name, register.reset)

    def _write(self, register: Register, number: int, word: int) -> bool:
        match register.name:
            case "HOST_FLAGS":
                self.flags, self._seen = 0, self.bone.given_up + self.bone.refused
            case "CRC_CLEAR":
                self.bone.clear()
            case "RESET":
                self.reset()
            case "LOAD":
                self._loading, self._image = (word & 0xFF, word >> 8), []
            case "LOAD_WINDOW":
                return self._load(number, word)
            case "VECTOR_IN":
                self._push(self._vectors, self.p.vector_words, word)
            case "POSITION_IN":
                self._push(self._places, self.p.position_words, word)
            case "SELF_TEST_EXPECTED":
                self._expected[number] = word
            case "SELF_TEST_CONTROL":
                self._test()
            case _ if register.fields[0].access is Access.RW:
                self._kept[register.name] = word
        return True

    def _load(self, number: int, word: int) -> bool:
        target, count = self._loading
        if len(self._image) >= count or number != len(self._image) % 1024:
            return False
        self._image.append(word)
        if len(self._image) == count and target < self.p.core.rope.slots:
            with suppress(InputError):  # as malformed ones come to nothing
                table = PhaseTable.from_image(np.array(self._image, np.uint32))
                self.p.core.rope.check_serves(table)
                self.held[target] = table
                self.epochs[target] += 1
        return True

    def _fingerprint(self, target: int) -> int:
        held = self.held.get(target)
        return (int(held.fingerprint, 16) if held else 0) ^ ("digest" in self.wrong)

    def _push(self, fifo: deque[int], depth: int, word: int):
        if len(fifo) == depth:
            self._raise("overrun")
            return
        fifo.append(word)
        self._go_on()

    def _pop(self) -> int:
        if not self._results:
            self._raise("underrun")
            return 0
        word = self._results.popleft()
        self._go_on()
        return word

    def _go_on(self):
        """Take data of the token whose position waits, as long as results have space."""
        beats = self._kept.get("PACKET_BEATS", 1)
        needed = beats * self.p.beat_words
        while (
            len(self._places) >= self.p.place_words
            and self._vectors
            and len(self._results) < self.p.result_words
        ):
            while self._vectors and len(self._token) < needed:
                self._token.append(self._vectors.popleft())
            if len(self._token) == needed:
                place = [self._places.popleft() for _ in range(self.p.place_words)]
                self._turn(np.array(self._token, np.uint32), np.array(place, np.uint32))
                self._token = []

    def _turn(self, words: np.ndarray, place: np.ndarray):
        core = self.p.core
        table = self.held.get(int(place[core.axes]) & 0xFF)
        elements = words_of_elements(
            words.reshape(-1, self.p.beat_words), core.element_bytes, core.beat_elements
        )
        turned = elements
        if table is None or table.pattern.heads * table.head_dim != elements.size:
            self._raise("error")
        else:
            use = int(place[core.axes])
            turned, _ = rope(
                core.rope,
                replace(table, amplitude=0, scale=0) if use & PURE else table,
                elements.reshape(1, table.pattern.heads, table.head_dim),
                place[: core.axes].view(np.int32)[None],
                conjugate=bool(use & CONJUGATE),
                temperature=place[core.axes + 1 :].astype(int) if core.rope.temperature else None,
            )
        beats = element_words(turned.reshape(elements.shape), core.output_bytes)
        self._results.extend(beats.reshape(-1).tolist())
        self._tokens += 1

    def _raise(self, flag: str):
        self.flags |= 1 << list(FLAGS).index(flag)

    def _test(self):
        table = self.held.get(self._kept.get("AUTO_USE", 0) & 0xFF)
        tokens = self._kept.get("SELF_TEST_TOKENS", 1)
        base = self._kept.get("AUTO_BASE", 0)
        base -= (base & 0x8000_0000) << 1
        seed = self._kept.get("SELF_TEST_SEED", 0) ^ ("stimulus" in self.wrong)
        if table is None or not tokens:
            return  # the test never ends
        self._tested = expected_signature(self.p.core, table, tokens, seed=seed, base=base)
        slow = 2 if "rate" in self.wrong else 1
        self._clocks = slow * tokens * self.p.core.rope.clocks_per_token(table) + FILL


class FakeBoard:
    """A device behind a port, which gives requests up after ``silence`` seconds."""

    def __init__(self, p: HostedParameters, port: BoardPort | None = None, silence: float = 0.02):
        self.device, self._port, self._silence = FakeDevice(p), port or TcpPort(), silence
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        """What pyserial opens."""
        return self._port.url

    def __enter__(self) -> "FakeBoard":
        self._thread.start()
        return self

    def __exit__(self, *_exception: object):
        self._stop.set()
        self._port.wake()
        self._thread.join()
        self._port.close()

    def _serve(self):
        while not self._stop.is_set():
            if data := self._port.read(self._silence):
                self._port.write(self.device.take(data))
            else:
                self.device.bone.silence()
