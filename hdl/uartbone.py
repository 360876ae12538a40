# SPDX-License-Identifier: Apache-2.0
"""Requests that come over a serial port, as LiteX's UARTBone has them, in front of registers."""

from enum import IntEnum

from amaranth import *
from amaranth.lib import crc, data, stream, wiring
from amaranth.lib.enum import Enum
from amaranth.lib.wiring import In, Out

from .register_bus import Answer, answer_layout, request_layout
from .streams import pulse_stream
from .uart_receiver import received_layout

__all__ = ["CHECK", "Command", "Uartbone"]

BYTE, WORD_BYTES = 8, 4
CHECK = crc.catalog.CRC32_ISO_HDLC  # as Ethernet's, gzip's and zlib's


class Command(IntEnum):
    """The first byte of a request."""

    WRITE = 1
    READ = 2
    WRITE_FIXED = 3
    READ_FIXED = 4


class Field(Enum, shape=2):
    """What the next byte of a request is of."""

    COMMAND = 0
    LENGTH = 1
    ADDRESS = 2
    DATA = 3


class Uartbone(wiring.Component):
    """A manager that makes the accesses that are asked for, one after the other.

    A request is a Command, a number of words, and the address of a word, 4 bytes with the highest
    first; words to write follow, or are answered, likewise. Addresses go on by one word, or stay
    where the command says so. Other commands, and those of no words, come to nothing. A word is
    written when all of it is there, as words before it have been; nothing is answered to writes.

    A request of which nothing comes for ``timeout`` clocks is given up. A broken byte gives up the
    request it is in, if any, and all that follows until nothing has come for so long: what it was
    is not known, nor so where the next request begins.

    ``request_crc`` is the CRC-32 of every byte since it was cleared that was taken for a request's,
    given up or not; in an access it ends with what led to that. ``answer_crc`` is that of every
    byte answered; in an access it ends with the words before.

    Latency: about 10 clocks from a request's last byte to its access, and from an answer to its
    first byte; a byte in 10 clocks.

    Parameters
    ----------
    address_bits : of byte addresses
        An address beyond has the highest of them set; so has what follows the last.
    timeout : clocks

    Ports
    -----
    i : stream of bytes
    o : stream of bytes
    request, answer : streams, always ready
        As RegisterFile has them.
    hold : In
        No request is begun; bytes wait.
    request_crc, answer_crc : Out
    clear : In
        Begin both anew; within an access.
    given_up : Out, refused : Out
        For one clock: a request, or what followed a broken byte; an access that came to nothing.
    """

    i: stream.Interface
    o: stream.Interface
    request: stream.Interface
    answer: stream.Interface
    hold: Signal
    request_crc: Signal
    answer_crc: Signal
    clear: Signal
    given_up: Signal
    refused: Signal

    def __init__(self, address_bits: int, timeout: int):
        self._address_bits, self._timeout = address_bits, timeout
        super().__init__(
            {
                "i": In(stream.Signature(received_layout())),
                "o": Out(stream.Signature(BYTE)),
                "request": Out(pulse_stream(request_layout(address_bits))),
                "answer": In(pulse_stream(answer_layout())),
                "hold": In(1),
                "request_crc": Out(32),
                "answer_crc": Out(32),
                "clear": In(1),
                "given_up": Out(1),
                "refused": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        now, request = Signal(_state_layout(self._address_bits)), self.request.payload
        m.d.comb += [
            self.o.payload.eq(now.word[:BYTE]),
            request.address.eq(Cat(C(0, 2), now.place)),
            request.write.eq(~now.reads),
            request.word.eq(now.word),
            request.strobe.eq(-1),
        ]
        checking, silent = self._checks(m, now), Signal()
        with m.FSM(name="step") as steps:
            with m.State("TAKE"):
                self._take(m, now, silent)
            with m.State("CHECK"):
                m.d.comb += checking.eq(1)
                m.d.sync += now.checked.eq(now.checked + 1)
                with m.If(now.checked == BYTE - 1):
                    m.next = "JUDGE"
                    with m.If(now.answers):
                        m.next = "GIVE"
            with m.State("JUDGE"):
                self._judge(m, now)
            with m.State("ASK"):
                m.d.comb += self.request.valid.eq(1)
                m.d.sync += now.left.eq(now.left - 1)
                m.next = "WAIT"
            with m.State("WAIT"):
                self._wait(m, now)
            with m.State("GIVE"):
                self._give(m, now)
            with m.State("ASTRAY"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(silent):
                    self._give_up(m, now)
        self._watch(m, silent, steps.ongoing("TAKE") | steps.ongoing("ASTRAY"))
        return m

    def _checks(self, m, now) -> Signal:
        """Both CRCs, bit by bit; the clocks in which they take those of the lowest byte."""
        checking = Signal()
        for name, takes in (("request", ~now.answers), ("answer", now.answers)):
            m.submodules[name] = unit = CHECK(data_width=1).create()
            m.d.comb += [
                unit.start.eq(self.clear),
                unit.valid.eq(checking & takes),
                unit.data.eq(now.word[:BYTE].bit_select(now.checked, 1)),
                getattr(self, f"{name}_crc").eq(unit.crc),
            ]
        return checking

    def _watch(self, m, silent: Signal, waits: Value):
        """Whether nothing has come for too long while something was awaited."""
        clocks = Signal(range(self._timeout + 1))
        m.d.comb += silent.eq(clocks == self._timeout)
        m.d.sync += clocks.eq(Mux(~waits | self.i.valid | silent, 0, clocks + 1))

    def _take(self, m, now, silent: Value):
        """Await a byte."""
        idle = now.field == Field.COMMAND
        m.d.comb += self.i.ready.eq(~(self.hold & idle))
        with m.If(self.i.valid & self.i.ready):
            with m.If(~self.i.payload.broken):
                m.d.sync += now.word.eq(Cat(self.i.payload.byte, now.word))
                m.next = "CHECK"
            with m.Else():
                m.next = "ASTRAY"
        with m.Elif(silent & ~idle):
            self._give_up(m, now)

    def _give_up(self, m, now):
        m.d.comb += self.given_up.eq(1)
        m.d.sync += now.field.eq(Field.COMMAND)
        m.next = "TAKE"

    def _judge(self, m, now):
        """See what a byte was, and whether an access comes next or another byte."""
        byte, last = now.word[:BYTE], now.part == WORD_BYTES - 1
        m.next = "TAKE"
        with m.Switch(now.field):
            with m.Case(Field.COMMAND):
                m.d.sync += [
                    now.known.eq((byte >= min(Command)) & (byte <= max(Command))),
                    now.reads.eq(~byte[0]),
                    now.fixed.eq(byte >= Command.WRITE_FIXED),
                    now.part.eq(0),
                    now.field.eq(Field.LENGTH),
                ]
            with m.Case(Field.LENGTH):
                m.d.sync += [now.left.eq(byte), now.field.eq(Field.ADDRESS)]
            with m.Case(Field.ADDRESS):
                top = len(now.place) - 1
                m.d.sync += [
                    now.part.eq(now.part + 1),
                    now.place.eq(Cat(now.word[:top], now.word[top:].any())),
                ]
                with m.If(last):
                    m.d.sync += now.field.eq(Field.DATA)
                    with m.If(~now.known | (now.left == 0)):
                        m.d.sync += now.field.eq(Field.COMMAND)
                    with m.Elif(now.reads):
                        m.next = "ASK"
            with m.Case(Field.DATA):
                m.d.sync += now.part.eq(now.part + 1)
                with m.If(last):
                    m.next = "ASK"

    def _wait(self, m, now):
        """Await an answer."""
        answer = self.answer.payload
        with m.If(self.answer.valid):
            m.d.comb += self.refused.eq(answer.code != Answer.OKAY)
            with m.If(~now.fixed):
                top = len(now.place) - 1
                m.d.sync += now.place.eq((now.place + 1) | (now.place[top] << top))
            with m.If(now.reads):
                m.d.sync += [now.word.eq(answer.word.rotate_left(BYTE)), now.answers.eq(1)]
                m.next = "CHECK"
            with m.Else():
                self._end(m, now, "TAKE")

    def _give(self, m, now):
        """Hand over a byte of an answer."""
        m.d.comb += self.o.valid.eq(1)
        with m.If(self.o.ready):
            m.d.sync += [now.part.eq(now.part + 1), now.word.eq(now.word.rotate_left(BYTE))]
            m.next = "CHECK"
            with m.If(now.part == WORD_BYTES - 1):
                m.d.sync += now.answers.eq(0)
                self._end(m, now, "ASK")

    def _end(self, m, now, following: str):
        """A word is done with; so is the request, or a ``following`` step is next."""
        m.next = following
        with m.If(now.left == 0):
            m.d.sync += now.field.eq(Field.COMMAND)
            m.next = "TAKE"


def _state_layout(address_bits: int) -> data.StructLayout:
    """What is kept of a request.

    Bytes come in at the bottom of ``word``; from there they go out, and into the CRCs.
    """
    return data.StructLayout(
        {
            "word": 32,
            "part": range(WORD_BYTES),  # bytes of an address or of a word that are done with
            "checked": range(BYTE),  # bits
            "field": Field,
            "known": 1,
            "reads": 1,
            "fixed": 1,
            "answers": 1,  # the byte is one of an answer
            "left": BYTE,  # words
            "place": address_bits - 2,  # of a word
        }
    )
