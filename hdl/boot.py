# SPDX-License-Identifier: Apache-2.0
"""Writes registers from a read-only memory after power-on, so that a device needs no host."""

from collections.abc import Iterable, Sequence

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .primitives import DualRom
from .register_bus import Answer, answer_layout, request_layout
from .registers import BUS_BYTES
from .streams import pulse_stream

__all__ = ["Boot", "boot_content"]

HALF = 16  # bits of a word of the memory


def boot_content(writes: Iterable[tuple[int, int]]) -> list[int]:
    """A memory of writes (byte address, word), in 16-bit words, a power of two of them.

    Runs of words one behind the other: how many, the first's address in words, and then each with
    its low half first. A run of none is the end.
    """
    content = []
    for address, words in _runs(writes):
        content += [len(words), address // BUS_BYTES]
        content += (half for word in words for half in (word & 0xFFFF, word >> HALF))
    return content + [0] * ((1 << len(content).bit_length()) - len(content))


def _runs(writes: Iterable[tuple[int, int]]) -> list[tuple[int, list[int]]]:
    """Writes in their order: addresses, and the words from each on."""
    runs: list[tuple[int, list[int]]] = []
    for address, word in writes:
        if not runs or address != runs[-1][0] + BUS_BYTES * len(runs[-1][1]):
            runs.append((address, []))
        runs[-1][1].append(word)
    return runs


class Boot(wiring.Component):
    """Makes writes one after the other, each when the one before is answered.

    A write that is refused is made again: so a word of an image waits until the one before is
    taken. A write takes 10 clocks beside its answer.

    Parameters
    ----------
    writes : byte addresses and words
    wait : clocks before the first one
        iCE40's block RAMs read 0 for some microseconds after configuration: 15 µs or more there.
    address_bits : of the bus

    Ports
    -----
    request, answer : streams, to a register bus
    done : Out
        From the last answer on.
    """

    request: stream.Interface
    answer: stream.Interface
    done: Signal

    def __init__(self, writes: Sequence[tuple[int, int]], *, wait: int, address_bits: int):
        self._wait, self._rom = wait, DualRom(HALF, boot_content(writes))
        self._longest = max((len(words) for _, words in _runs(writes)), default=0)
        super().__init__(
            {
                "request": Out(pulse_stream(request_layout(address_bits))),
                "answer": In(pulse_stream(answer_layout())),
                "done": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.rom = rom = self._rom
        at, fresh, advances = Signal.like(rom.a_address), Signal(rom.latency + 1), Signal()
        m.d.comb += [rom.a_address.eq(at), rom.b_address.eq(at)]
        m.d.sync += fresh.eq(Cat(C(1), fresh))
        with m.If(advances):
            m.d.sync += [at.eq(at + 1), fresh.eq(0)]

        half, there = rom.a_data, fresh[rom.latency - 1]
        # Told a clock later, or much later: all of a word takes long to look at.
        empty, final = Signal(), Signal()
        request = self.request.payload
        m.d.comb += [request.write.eq(1), request.strobe.eq(-1)]
        left, waited = Signal(range(self._longest + 1)), Signal(range(self._wait + 1))
        number = request.address[2:]
        m.d.sync += [empty.eq(~half.any()), final.eq(left == 1)]
        with m.FSM():
            with m.State("POWER"):
                m.d.sync += [waited.eq(waited + 1), fresh.eq(0)]
                with m.If(waited == self._wait):
                    m.next = "COUNT"
            with m.State("COUNT"), m.If(fresh[-1]):
                m.d.comb += advances.eq(~empty)
                m.d.sync += left.eq(half)
                m.next = "ADDRESS"
                with m.If(empty):
                    m.next = "DONE"
            with m.State("ADDRESS"), m.If(there):
                m.d.comb += advances.eq(1)
                m.d.sync += number.eq(half)
                m.next = "LOW"
            with m.State("LOW"), m.If(there):
                m.d.comb += advances.eq(1)
                m.d.sync += request.word[:HALF].eq(half)
                m.next = "HIGH"
            with m.State("HIGH"), m.If(there):
                m.d.comb += advances.eq(1)
                m.d.sync += request.word[HALF:].eq(half)
                m.next = "ASK"
            with m.State("ASK"):
                m.d.comb += self.request.valid.eq(1)
                m.next = "ASKED"
            with m.State("ASKED"), m.If(self.answer.valid):
                with m.If(self.answer.payload.code != Answer.OKAY):
                    m.next = "ASK"
                with m.Else():
                    m.d.sync += [number.eq(number + 1), left.eq(left - 1)]
                    m.next = "LOW"
                    with m.If(final):
                        m.next = "COUNT"
            with m.State("DONE"):
                m.d.comb += self.done.eq(1)
        return m
