# SPDX-License-Identifier: Apache-2.0
"""The generic forms of memories."""

import numpy as np
import pytest
from amaranth.hdl import Fragment, Instance

from ropeway.hdl import primitives
from ropeway.hdl.primitives import AheadRam, DelayLine, DualRom, Ram, Rom
from tests.hdl.benches import clock_through


@pytest.mark.parametrize(("width", "depth"), [(36, 64), (49, 512), (1, 4), (18, 2048)])
def test_a_ram_gives_the_word_of_two_clocks_ago(width, depth):
    random = np.random.default_rng(width)
    clocks = 600
    enable = random.integers(0, 2, clocks)
    write = random.integers(0, depth, clocks)
    data = [int(x) % (1 << width) for x in random.integers(0, 1 << 62, clocks)]
    read = random.integers(0, depth, clocks)
    read = np.where(read == write, (read + 1) % depth, read)
    found = clock_through(
        Ram(width, depth),
        {
            "write_enable": enable,
            "write_address": write,
            "write_data": data,
            "read_address": read,
        },
        ["read_data"],
        extra=Ram.latency,
    )["read_data"]
    memory: dict[int, int] = {}
    compared = 0
    for clock in range(clocks):
        if read[clock] in memory:
            assert found[clock + Ram.latency] == memory[read[clock]]
            compared += 1
        if enable[clock]:
            memory[write[clock]] = data[clock]
    assert compared > 0


@pytest.mark.parametrize("block", [False, True], ids=["distributed", "block"])
@pytest.mark.parametrize(("width", "depth"), [(34, 16), (1, 64), (3, 2)])
def test_an_ahead_ram_gives_a_word_from_the_clock_after_its_write(width, depth, block, monkeypatch):
    monkeypatch.setattr(primitives, "is_ice40", lambda _platform: block)
    random = np.random.default_rng(width)
    clocks = 600
    enable = random.integers(0, 2, clocks)
    write, read = random.integers(0, depth, (2, clocks))
    words = [int(x) % (1 << width) for x in random.integers(0, 1 << 62, clocks)]
    found = clock_through(
        AheadRam(width, depth),
        {
            "write_enable": enable,
            "write_address": write,
            "write_data": words,
            "address": read,
            "ahead": [*read[1:], 0],
        },
        ["data"],
    )["data"]
    memory: dict[int, int] = {}
    collided = 0
    for clock in range(clocks):
        if clock and read[clock] in memory:
            assert found[clock] == memory[read[clock]]
            collided += bool(enable[clock - 1] and write[clock - 1] == read[clock])
        if enable[clock]:
            memory[write[clock]] = words[clock]
    assert collided > 0


def test_a_ram_that_is_not_enabled_holds_what_it_gives():
    random = np.random.default_rng(3)
    words = random.integers(0, 1 << 8, 16).tolist()
    enable = [1] * 16 + random.integers(0, 2, 400).tolist()
    read = random.integers(0, 16, len(enable)).tolist()
    found = clock_through(
        Ram(8, 16),
        {
            "write_enable": [1] * 16 + [0] * (len(enable) - 16),
            "write_address": list(range(16)) + [0] * (len(enable) - 16),
            "write_data": words + [0] * (len(enable) - 16),
            "read_enable": enable,
            "read_address": [0] * 17 + read[17:],
        },
        ["read_data"],
    )["read_data"]
    stages = [words[0]] * Ram.latency
    for clock in range(20, len(enable)):
        if clock > 20:
            assert found[clock] == stages[-1]
        if enable[clock]:
            stages = [words[read[clock]], *stages[:-1]]
        elif clock == 20:
            stages = [words[read[17]], found[clock]]


@pytest.mark.parametrize("block", [False, True], ids=["registers", "block"])
@pytest.mark.parametrize("clocks", [3, 11, 26])
def test_a_delay_line_gives_a_word_so_many_clocks_later(clocks, block, monkeypatch):
    words = np.random.default_rng(clocks).integers(0, 1 << 9, 200)
    line = DelayLine(9, clocks)
    # Its memory is simulated in the generic form.
    monkeypatch.setattr(primitives, "is_ice40", lambda _platform: block)
    monkeypatch.setattr(Ram, "_ice40", Ram._generic)
    found = clock_through(line, {"i": words}, ["o"])["o"]
    assert np.array_equal(found[clocks:], words[:-clocks])


def test_both_ports_of_a_rom_give_their_words_two_clocks_later():
    random = np.random.default_rng(0)
    content = random.integers(0, 1 << 20, 256).tolist()
    a, b = random.integers(0, 256, (2, 400))
    found = clock_through(
        DualRom(20, content),
        {"a_address": a, "b_address": b},
        ["a_data", "b_data"],
        extra=DualRom.latency,
    )
    for letter, addresses in (("a", a), ("b", b)):
        words = found[f"{letter}_data"][DualRom.latency :]
        assert words.tolist() == [content[address] for address in addresses]


class Platform:
    """As much of a platform as the primitives look at."""

    def __init__(self, device: str):
        self.device = device


def instances(component, device: str = "LFE5U-25F") -> list[Instance]:
    """The device's own blocks that a component is made of."""
    found, waiting = [], [Fragment.get(component, Platform(device))]
    while waiting:
        fragment = waiting.pop()
        if isinstance(fragment, Instance):
            found.append(fragment)
        waiting += [subfragment for subfragment, *_ in fragment.subfragments]
    return found


def test_a_rom_of_one_port_gives_its_words_two_clocks_later():
    random = np.random.default_rng(1)
    content, addresses = random.integers(0, 1 << 20, 256).tolist(), random.integers(0, 256, 400)
    found = clock_through(Rom(20, content), {"address": addresses}, ["data"], extra=Rom.latency)
    assert found["data"][Rom.latency :].tolist() == [content[address] for address in addresses]


@pytest.mark.parametrize(("width", "depth", "blocks"), [(36, 512, 1), (49, 512, 2), (18, 1024, 1)])
def test_an_ecp5_ram_is_blocks_with_their_output_registers_in_use(width, depth, blocks):
    found = instances(Ram(width, depth))
    assert [block.type for block in found] == ["DP16KD"] * blocks
    assert {block.parameters["REGMODE_B"] for block in found} == {"OUTREG"}


def test_an_ice40_ram_is_blocks_that_hold_while_not_enabled():
    found = instances(Ram(36, 256), "iCE40HX8K")
    assert [block.type for block in found] == ["SB_RAM40_4K"] * 3
    assert instances(Ram(36, 512), "iCE40HX8K") == []


def test_an_ecp5_rom_holds_the_content_of_the_generic_one():
    content = np.random.default_rng(0).integers(0, 1 << 20, 1024).tolist()
    found = instances(DualRom(20, content))
    assert [block.type for block in found] == ["DP16KD"] * 2
    words = [0] * 1024
    for start, block in zip((0, 18), sorted(found, key=lambda b: -used_bits(b)), strict=True):
        for row in range(64):
            packed = int(block.parameters[f"INITVAL_{row:02X}"].value)
            for place in range(16):
                # 16 words of 18 bits a row, each in 20 bits.
                words[16 * row + place] |= (packed >> 20 * place & (1 << 18) - 1) << start
    assert words == content


def used_bits(block: Instance) -> int:
    """The initial content's set bits: more in the wider column."""
    return sum(int(block.parameters[f"INITVAL_{row:02X}"].value).bit_count() for row in range(64))
