# SPDX-License-Identifier: Apache-2.0
"""A buffer of heads in two banks, for words in natural or in pair order at full rate."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.parameters import RopeParameters

from .primitives import Ram
from .walker import buffer_depth

__all__ = ["HeadBuffer"]


class HeadBuffer(wiring.Component):
    """Two words of ``lanes`` elements written and two read every clock, one in each bank.

    Latency 2 clocks from read address to words. A word is readable ``write_latency`` clocks after
    it was offered: 2 where the write is ``registered``, else 1.

    Parameters
    ----------
    bits : of an element; those of data unless given
    registered : between the write ports and the memory

    Ports
    -----
    write_enable, write_addresses, write_words : In, one a bank
    read_enable : In
        Else nothing of a read moves on; 1 unless connected.
    read_addresses : In, read_words : Out, one a bank
    """

    latency = Ram.latency

    def __init__(self, p: RopeParameters, *, bits: int = 0, registered: bool = False):
        self._p, self._domain = p, "sync" if registered else "comb"
        address = range(buffer_depth(p))
        self._width = p.lanes * (bits or p.data_bits)
        super().__init__(
            {
                "write_enable": In(1),
                "write_addresses": In(address).array(2),
                "write_words": In(self._width).array(2),
                "read_enable": In(1, init=1),
                "read_addresses": In(address).array(2),
                "read_words": Out(self._width).array(2),
            }
        )

    @property
    def write_latency(self) -> int:
        """Clocks from a word's offer until it can be read."""
        return 2 if self._domain == "sync" else 1

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        # What reset overtakes is written in vain. (So synthesis does not share this register, which
        # is far from all others that say the same.)
        enable = Signal(reset_less=True)
        m.d[self._domain] += enable.eq(self.write_enable)
        for bank in range(2):
            m.submodules[f"bank_{bank}"] = memory = Ram(self._width, buffer_depth(self._p))
            word = Signal(self._width, reset_less=True, name=f"word_{bank}")
            address = Signal.like(self.write_addresses[bank], name=f"address_{bank}")
            m.d[self._domain] += [
                word.eq(self.write_words[bank]),
                address.eq(self.write_addresses[bank]),
            ]
            m.d.comb += [
                memory.write_enable.eq(enable),
                memory.write_address.eq(address),
                memory.write_data.eq(word),
                memory.read_enable.eq(self.read_enable),
                memory.read_address.eq(self.read_addresses[bank]),
                self.read_words[bank].eq(memory.read_data),
            ]
        return m
