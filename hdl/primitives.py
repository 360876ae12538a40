# SPDX-License-Identifier: Apache-2.0
"""Memories with their device's registers; hdl/multipliers.py has what multiplies.

Each primitive has a generic form, which simulates and which any synthesizer infers, and forms that
instantiate a family's own block with its registers in use (Yosys puts none there). All have the
same ports and the same latency. The family follows from the ``device`` of the platform elaborated
for.
"""

from collections.abc import Sequence
from typing import ClassVar

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .families import is_ecp5, is_ice40
from .streams import delayed

__all__ = ["AheadRam", "DelayLine", "DualRom", "Ram", "Rom"]


class AheadRam(wiring.Component):
    """A small memory that is read at once, told a clock ahead where.

    Latency none from ``address`` to ``data``: distributed RAM where the device has it. iCE40 has
    none and takes block RAM, which is asked a clock ahead, and a register for the word that is
    written meanwhile.

    Parameters
    ----------
    width, depth : bits of a word, words

    Ports
    -----
    write_enable, write_address, write_data : In
        The word is there from the next clock on.
    address : In
    ahead : In
        What ``address`` is going to be in the next clock.
    data : Out
    """

    write_enable: Signal
    write_address: Signal
    write_data: Signal
    address: Signal
    ahead: Signal
    data: Signal

    def __init__(self, width: int, depth: int):
        self._width, self._depth = width, depth
        super().__init__(
            {
                "write_enable": In(1),
                "write_address": In(range(depth)),
                "write_data": In(width),
                "address": In(range(depth)),
                "ahead": In(range(depth)),
                "data": Out(width),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        # A read in the clock of a write to its address takes `fresh`.
        attributes = {"no_rw_check": 1, "ram_style": "block"} if is_ice40(platform) else {}
        m.submodules.memory = memory = Memory(
            shape=self._width, depth=self._depth, init=[], attrs=attributes
        )
        write = memory.write_port()
        m.d.comb += [
            write.en.eq(self.write_enable),
            write.addr.eq(self.write_address),
            write.data.eq(self.write_data),
        ]
        read = memory.read_port(domain="comb")
        if not is_ice40(platform):
            m.d.comb += [read.addr.eq(self.address), self.data.eq(read.data)]
            return m
        word, fresh = Signal(self._width, reset_less=True), Signal(self._width, reset_less=True)
        collides = Signal()
        m.d.comb += [
            read.addr.eq(self.ahead),
            self.data.eq(Mux(collides, fresh, word)),
        ]
        m.d.sync += [
            word.eq(read.data),
            fresh.eq(self.write_data),
            collides.eq(self.write_enable & (self.write_address == self.ahead)),
        ]
        return m


class Ram(wiring.Component):
    """A memory with one write and one read port, which holds what it gives while not enabled.

    Latency 2 clocks from address to data; one access of each kind every clock. A word that is read
    and written in one clock, or written before the next enabled one, is either: never do it.
    Content is undefined until written.

    Parameters
    ----------
    width, depth : bits of a word, words

    Ports
    -----
    write_enable, write_address, write_data : In
    read_enable : In
        Else nothing of a read moves on; 1 unless connected.
    read_address : In
    read_data : Out
        The word at the ``read_address`` of two enabled clocks ago.
    """

    write_enable: Signal
    write_address: Signal
    write_data: Signal
    read_enable: Signal
    read_address: Signal
    read_data: Signal

    latency = 2
    _attributes: ClassVar[dict[str, int | str]] = {"no_rw_check": 1}

    def __init__(self, width: int, depth: int):
        self._width, self._depth = width, depth
        super().__init__(
            {
                "write_enable": In(1),
                "write_address": In(range(depth)),
                "write_data": In(width),
                "read_enable": In(1, init=1),
                "read_address": In(range(depth)),
                "read_data": Out(width),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        if is_ecp5(platform) and self._depth <= 1024:
            self._ecp5(m)
            return m
        if is_ice40(platform) and self._depth <= 256:
            self._ice40(m)
            return m
        self._generic(m)
        return m

    def _generic(self, m):
        """What any synthesizer infers."""
        m.submodules.memory = memory = Memory(
            shape=self._width, depth=self._depth, init=[], attrs=self._attributes
        )
        write, read = memory.write_port(), memory.read_port(domain="comb")
        word = Signal(self._width, reset_less=True)
        m.d.comb += [
            write.en.eq(self.write_enable),
            write.addr.eq(self.write_address),
            write.data.eq(self.write_data),
            read.addr.eq(self.read_address),
        ]
        with m.If(self.read_enable):
            m.d.sync += [word.eq(read.data), self.read_data.eq(word)]

    def _ice40(self, m):
        """Columns of SB_RAM40_4K, 16 bits by 256 words, behind a register for the address.

        It is smaller than one for a word. Instantiated, since what is inferred must begin at 0, and
        takes a LUT a bit for that.
        """
        address = Signal.like(self.read_address, reset_less=True)
        with m.If(self.read_enable):
            m.d.sync += address.eq(self.read_address)
        for start in range(0, self._width, 16):
            width = min(16, self._width - start)
            data = Signal(16, name=f"data_{start}")
            m.d.comb += self.read_data[start : start + width].eq(data)
            m.submodules[f"sb_ram40_{start}"] = Instance(
                "SB_RAM40_4K",
                p_READ_MODE=0,
                p_WRITE_MODE=0,
                i_RCLK=ClockSignal(),
                i_RCLKE=Const(1),
                i_RE=self.read_enable,
                i_RADDR=Cat(address, C(0, 11))[:11],
                o_RDATA=data,
                i_WCLK=ClockSignal(),
                i_WCLKE=Const(1),
                i_WE=self.write_enable,
                i_WADDR=Cat(self.write_address, C(0, 11))[:11],
                i_MASK=Const(0, 16),
                i_WDATA=Cat(self.write_data[start : start + width], C(0, 16))[:16],
            )

    def _ecp5(self, m):
        """Columns of DP16KD, 36 bits by 512 words or 18 by 1024: port A writes, port B reads."""
        column = 36 if self._depth <= 512 and self._width > 18 else 18
        shift = 5 if column == 36 else 4  # address bits that select bytes of a word
        for start in range(0, self._width, column):
            width = min(column, self._width - start)
            data = Signal(column, name=f"data_{start}")
            m.d.comb += self.read_data[start : start + width].eq(data)
            write = Signal(column, name=f"write_{start}")
            m.d.comb += write.eq(self.write_data[start : start + width])
            enables = Const(-1, column // 9)
            ports = _dp16kd_port("A", Cat(enables, C(0, shift - len(enables)), self.write_address))
            ports |= _dp16kd_port("B", Cat(C(0, shift), self.read_address))
            ports |= {"i_CEB": self.read_enable, "i_OCEB": self.read_enable}
            ports |= {f"i_DIA{i}": write[i] for i in range(18)}
            if column == 36:
                ports |= {f"i_DIB{i}": write[18 + i] for i in range(18)}
                ports |= {f"o_DOA{i}": data[i] for i in range(18)}
            ports |= {f"o_DOB{i}": data[column - 18 + i] for i in range(18)}
            ports |= {
                "i_WEA": self.write_enable,
                "i_OCEA": self.read_enable if column == 36 else Const(0),
            }
            m.submodules[f"dp16kd_{start}"] = _dp16kd(column, [], **ports)


class DelayLine(wiring.Component):
    """A word as it was ``clocks`` ago: registers, or on iCE40, where they are dear, block RAM.

    Parameters
    ----------
    width : bits of a word
    clocks : at least 3

    Ports
    -----
    i : In
    o : Out
        Undefined for the first ``clocks`` clocks.
    """

    i: Signal
    o: Signal

    interval = 1

    def __init__(self, width: int, clocks: int):
        self._width, self.latency = width, clocks
        super().__init__({"i": In(width), "o": Out(width)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        if not is_ice40(platform):
            m.d.comb += self.o.eq(delayed(m, self.i, self.latency, name="waited"))
            return m
        address_bits = bits_for(self.latency)
        m.submodules.words = words = Ram(self._width, 1 << address_bits)
        address = Signal(address_bits)
        m.d.sync += address.eq(address + 1)
        m.d.comb += [
            words.write_enable.eq(1),
            words.write_address.eq(address),
            words.write_data.eq(self.i),
            words.read_address.eq(address - (self.latency - words.latency)),
            self.o.eq(words.read_data),
        ]
        return m


class DualRom(wiring.Component):
    """A read-only memory with two read ports, outputs registered.

    Latency 2 clocks; a word from each port every clock.

    Parameters
    ----------
    width : bits of a word
    content : the words; a power of two of them, at most 1024 for ECP5

    Ports
    -----
    a_address, b_address : In
    a_data, b_data : Out
    """

    a_address: Signal
    b_address: Signal
    a_data: Signal
    b_data: Signal

    latency = 2

    def __init__(self, width: int, content: Sequence[int]):
        self._width, self._content = width, [int(word) for word in content]
        address = In(range(len(self._content)))
        super().__init__(
            {"a_address": address, "a_data": Out(width), "b_address": address, "b_data": Out(width)}
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        if is_ecp5(platform) and len(self._content) <= 1024:
            self._ecp5(m)
            return m
        m.submodules.memory = memory = Memory(
            shape=self._width,
            depth=len(self._content),
            init=self._content,
            attrs={"rom_style": "block"},
        )
        for letter in "ab":
            port = memory.read_port(domain="comb")
            word = Signal(self._width, name=f"{letter}_word", reset_less=True)
            m.d.comb += port.addr.eq(getattr(self, f"{letter}_address"))
            m.d.sync += [word.eq(port.data), getattr(self, f"{letter}_data").eq(word)]
        return m

    def _ecp5(self, m):
        """Columns of DP16KD, 18 bits by 1024 words, both ports reading."""
        for start in range(0, self._width, 18):
            width = min(18, self._width - start)
            ports: dict = {}
            for letter, address, out in (
                ("A", self.a_address, self.a_data),
                ("B", self.b_address, self.b_data),
            ):
                data = Signal(18, name=f"{letter.lower()}_data_{start}")
                m.d.comb += out[start : start + width].eq(data)
                ports |= _dp16kd_port(letter, Cat(C(0, 4), address))
                ports |= {f"i_WE{letter}": Const(0), f"i_OCE{letter}": Const(1)}
                ports |= {f"o_DO{letter}{i}": data[i] for i in range(18)}
            words = [word >> start & (1 << width) - 1 for word in self._content]
            m.submodules[f"dp16kd_{start}"] = _dp16kd(18, words, **ports)


class Rom(wiring.Component):
    """A read-only memory with one read port, its output registered.

    Latency 2 clocks; a word every clock.

    Parameters
    ----------
    width : bits of a word
    content : the words; a power of two of them, at most 1024 for ECP5

    Ports
    -----
    address : In
    data : Out
    """

    address: Signal
    data: Signal

    latency = 2

    def __init__(self, width: int, content: Sequence[int]):
        # What nothing is connected to costs nothing.
        self._memory = DualRom(width, content)
        super().__init__({"address": In(range(len(content))), "data": Out(width)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.memory = memory = self._memory
        m.d.comb += [
            memory.a_address.eq(self.address),
            memory.b_address.eq(self.address),
            self.data.eq(memory.a_data),
        ]
        return m


def _dp16kd_port(letter: str, address: Value) -> dict:
    """The clock and the 14 address bits of a DP16KD's port."""
    address = Cat(address, C(0, 14))
    return {f"i_CLK{letter}": ClockSignal(), f"i_CE{letter}": Const(1)} | {
        f"i_AD{letter}{i}": address[i] for i in range(14)
    }


def _dp16kd(width: int, words: Sequence[int], **ports) -> Instance:
    """A DP16KD with both output registers, holding 18-bit ``words``."""
    init = {}
    for row in range(64):
        packed = sum(word << 20 * i for i, word in enumerate(words[16 * row : 16 * row + 16]))
        init[f"p_INITVAL_{row:02X}"] = Const(packed, 320)
    ties = {f"i_RST{letter}": Const(0) for letter in "AB"}
    ties |= {f"i_CS{letter}{i}": Const(0) for letter in "AB" for i in range(3)}
    ties |= {"i_WEB": Const(0), "i_OCEB": Const(1)}
    return Instance(
        "DP16KD",
        p_DATA_WIDTH_A=width,
        p_DATA_WIDTH_B=width,
        p_REGMODE_A="OUTREG",
        p_REGMODE_B="OUTREG",
        p_RESETMODE="SYNC",
        p_ASYNC_RESET_RELEASE="SYNC",
        p_CSDECODE_A="0b000",
        p_CSDECODE_B="0b000",
        p_WRITEMODE_A="NORMAL",
        p_WRITEMODE_B="NORMAL",
        p_GSR="DISABLED",
        **init,
        **{**ties, **ports},
    )
