# SPDX-License-Identifier: Apache-2.0
"""A memory of any depth, in banks that each fit their device's block."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from .primitives import Ram
from .streams import delayed

__all__ = ["BANK", "BankedRam"]

BANK = 1024  # words, the deepest that keeps a block's output register


class BankedRam(wiring.Component):
    """A ``Ram`` of up to 1024 words, or several and a register that chooses between them.

    Latency: see ``latency``; one access of each kind every clock. A read in the clock of a write to
    its address gives either word: never do it. Content is undefined until written.

    Parameters
    ----------
    width, depth : bits of a word, words

    Ports
    -----
    write_enable, write_address, write_data : In
    read_address : In
    read_data : Out
        The word at the ``read_address`` of ``latency`` clocks ago.
    """

    write_enable: Signal
    write_address: Signal
    write_data: Signal
    read_address: Signal
    read_data: Signal

    def __init__(self, width: int, depth: int):
        self._width, self._depth = width, depth
        self._banks = -(-depth // BANK)
        super().__init__(
            {
                "write_enable": In(1),
                "write_address": In(range(depth)),
                "write_data": In(width),
                "read_address": In(range(depth)),
                "read_data": Out(width),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from address to data."""
        return Ram.latency + (1 if self._banks > 1 else 0)

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        if self._banks == 1:
            m.submodules.bank_0 = bank = Ram(self._width, self._depth)
            for name in ("write_enable", "write_address", "write_data", "read_address"):
                m.d.comb += getattr(bank, name).eq(getattr(self, name))
            m.d.comb += self.read_data.eq(bank.read_data)
            return m
        below = exact_log2(BANK)
        words = Array(Signal(self._width, name=f"word_{n}") for n in range(self._banks))
        for number, word in enumerate(words):
            depth = min(BANK, self._depth - number * BANK)
            m.submodules[f"bank_{number}"] = bank = Ram(self._width, depth)
            m.d.comb += [
                bank.write_enable.eq(self.write_enable & (self.write_address[below:] == number)),
                bank.write_address.eq(self.write_address[:below]),
                bank.write_data.eq(self.write_data),
                bank.read_address.eq(self.read_address[:below]),
                word.eq(bank.read_data),
            ]
        chosen = delayed(m, self.read_address[below:], Ram.latency, name="chosen")
        read = Signal(self._width, reset_less=True)
        m.d.sync += read.eq(words[chosen])
        m.d.comb += self.read_data.eq(read)
        return m
